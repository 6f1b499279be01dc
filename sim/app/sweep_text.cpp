// SPDX-License-Identifier: Apache-2.0
#include "sim/app/sweep_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "sim/base/schema.h"
#include "sim/base/text.h"
#include "sim/base/text_table.h"
#include "sim/base/units.h"
#include "sim/config/quantity.h"

namespace systole::app {

std::string thousands(std::size_t value) {
    return with_thousands(static_cast<std::int64_t>(value));
}

namespace {

constexpr std::size_t kMostReasons = 10, kMostFront = 20;
constexpr auto kPeriod = std::chrono::milliseconds(500);

/// "1 point", "400 points".
std::string counted(std::size_t count, std::string_view thing) {
    return fmt::format("{} {}{}", thousands(count), thing, count == 1 ? "" : "s");
}

std::string first_line(const std::string& text) {
    const std::size_t end = text.find('\n');
    return end == std::string::npos ? text : text.substr(0, end) + " …";
}

/// "1 h 05 min", "3 min 20 s", "12 s".
std::string duration(double seconds) {
    const auto whole = std::lround(seconds);
    if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
    if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} s", whole);
}

/// How many points ended how, and why.
std::string tally_text(const sweep::Tally& tally) {
    std::string text = fmt::format("{}: {} done", counted(tally.points, "point"), thousands(tally.done));
    if (tally.refused > 0) text += fmt::format(", {} refused by their device", thousands(tally.refused));
    if (tally.failed > 0) text += fmt::format(", {} failed", thousands(tally.failed));
    if (tally.missing > 0) text += fmt::format(", {} not yet run", thousands(tally.missing));
    text += ".\n";
    if (!tally.reasons.empty()) text += failures_text(tally.reasons) + '\n';
    return text;
}

/// A figure as people read it: "262,144", "222,979", "0.728216". Words and keys' values stay as they are.
std::string readable(const std::string& cell) {
    constexpr std::int64_t kMost = std::int64_t{1} << 62;
    if (const auto whole = config::parse_integer(cell, -kMost, kMost); whole.value)
        return with_thousands(*whole.value);
    const auto number = config::parse_number(cell, -1e18, 1e18);
    if (!number.value) return cell;
    return std::abs(*number.value) >= 1e5 ? with_thousands(std::llround(*number.value))
                                          : fmt::format("{:.6g}", *number.value);
}

/// Columns that say what a point is, and its objectives.
std::string front_table(const sweep::Experiment& experiment, const sweep::MergedTable& table,
                        const TextStyle& style) {
    const std::size_t status = table.column("status");
    std::vector<std::size_t> shown;
    for (std::size_t i = 1; i < status; ++i) {
        // What never changes tells nothing.
        const bool varies = std::any_of(table.rows.begin(), table.rows.end(),
                                        [&](const auto& row) { return row[i] != table.rows.front()[i]; });
        if (varies) shown.push_back(i);
    }
    for (const sweep::Objective& objective : experiment.objectives) {
        const std::size_t column = table.column(objective.name);
        if (std::find(shown.begin(), shown.end(), column) == shown.end()) shown.push_back(column);
    }
    TextTable text;
    text.column("id", TextTable::Align::Left);
    for (const std::size_t i : shown)
        text.column(table.columns[i].name,
                    table.columns[i].is_number ? TextTable::Align::Right : TextTable::Align::Left);
    for (std::size_t i = 0; i < std::min(table.front.size(), kMostFront); ++i) {
        const std::vector<std::string>& row = table.rows[table.front[i]];
        std::vector<std::string> cells{row.front()};
        for (const std::size_t column : shown)
            cells.push_back(table.columns[column].is_number ? readable(row[column]) : row[column]);
        text.row(std::move(cells));
    }
    return text.str(style);
}

/// How many points lie where between the least and the most of each objective: a line for each.
std::string spread_text(const sweep::Experiment& experiment, const sweep::MergedTable& table) {
    constexpr std::size_t kBars = 30, kFewPoints = 10;
    std::string text;
    for (const sweep::Objective& objective : experiment.objectives) {
        const std::size_t column = table.column(objective.name);
        std::vector<double> values;
        for (const auto& row : table.rows)
            if (const auto number = config::parse_number(row[column], -1e300, 1e300); number.value)
                values.push_back(*number.value);
        if (values.size() < kFewPoints) continue;
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        if (*least == *most) continue;
        std::vector<double> counts(kBars, 0);
        for (const double value : values)
            ++counts[std::min(kBars - 1,
                              static_cast<std::size_t>((value - *least) / (*most - *least) * kBars))];
        text += fmt::format("points by {}: {} from {} to {}\n", objective.name,
                            sparkline(counts, *std::max_element(counts.begin(), counts.end())),
                            readable(fmt::to_string(*least)), readable(fmt::to_string(*most)));
    }
    return text.empty() ? "" : '\n' + text;
}

/// Why there is no front: "No point has a value of 'energy_pj'; ...".
std::string no_front(const sweep::Experiment& experiment, const sweep::MergedTable& table) {
    for (const sweep::Objective& objective : experiment.objectives) {
        const std::size_t column = table.column(objective.name);
        if (std::all_of(table.rows.begin(), table.rows.end(),
                        [&](const auto& row) { return row[column].empty(); }))
            return fmt::format("No point has a value of '{}'; there is no Pareto front.\n", objective.name);
    }
    return "No point has a value of every objective; there is no Pareto front.\n";
}

}  // namespace

std::string plan_text(const sweep::Plan& plan) {
    std::string text = fmt::format("planned {} points", thousands(plan.manifest.size()));
    if (plan.excluded > 0)
        text += fmt::format("; 'where' excludes {} combinations", thousands(plan.excluded));
    if (plan.equal > 0)
        text += fmt::format("; {} combinations are the same point as another", thousands(plan.equal));
    return text;
}

std::string plan_text(std::size_t points, std::size_t chunks, std::size_t chunk_points) {
    return fmt::format("{}, {} of {}\n", counted(points, "point"), counted(chunks, "chunk"),
                       thousands(chunk_points));
}

std::string failures_text(const std::map<std::string, std::size_t>& failures) {
    std::vector<std::pair<std::size_t, std::string>> sorted;
    for (const auto& [reason, count] : failures) sorted.emplace_back(count, reason);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text;
    for (std::size_t i = 0; i < std::min(sorted.size(), kMostReasons); ++i)
        text += fmt::format("  {:>7} {}\n", thousands(sorted[i].first), first_line(sorted[i].second));
    if (sorted.size() > kMostReasons)
        text += fmt::format("          and {} other reasons\n", sorted.size() - kMostReasons);
    if (!text.empty()) text.pop_back();
    return text;
}

std::string summary_text(const sweep::Experiment& experiment, const sweep::MergedTable& table,
                         const TextStyle& style) {
    std::string text = experiment.title.empty() ? "" : painted(experiment.title, kStrong, style) + "\n";
    text += tally_text(table.tally);
    if (experiment.objectives.empty()) return text;
    if (table.front.empty()) return text + no_front(experiment, table);
    std::string names;
    for (const sweep::Objective& objective : experiment.objectives)
        names += (names.empty() ? "" : ", ") + objective.name;
    text += fmt::format("\nPareto front of {}: {} of {} points{}\n", names, thousands(table.front.size()),
                        thousands(table.tally.done),
                        table.front.size() > kMostFront ? fmt::format("; the first {}", kMostFront) : "");
    return text + front_table(experiment, table, style) +
           (style.pictures ? spread_text(experiment, table) : "");
}

SweepStatus status_of(const sweep::Folder& folder) {
    SweepStatus status{{}, folder.identity().chunk_points};
    const std::map<std::string, std::string> failures = folder.failures();
    for (std::size_t i = 0; i < folder.manifest().size(); ++i)
        status.tally.add(sweep::outcome_of(folder, failures, folder.manifest().id(i)));
    return status;
}

std::string to_text(const SweepStatus& status) {
    return tally_text(status.tally);
}

std::string to_json(const SweepStatus& status) {
    using Json = nlohmann::ordered_json;
    Json json{{"schema", kSweepSchema.current},      {"points", status.tally.points},
              {"done", status.tally.done},           {"refused", status.tally.refused},
              {"failed", status.tally.failed},       {"missing", status.tally.missing},
              {"chunk_points", status.chunk_points}, {"reasons", Json::array()}};
    for (const auto& [reason, count] : status.tally.reasons)
        json["reasons"].push_back({{"reason", reason}, {"points", count}});
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

SweepProgress::SweepProgress(std::size_t points)
    : points_(points), terminal_(::isatty(STDERR_FILENO) != 0), begin_(Clock::now()), last_(begin_) {}

SweepProgress::~SweepProgress() {
    if (shown_) std::fputs("\r\033[K", stderr);
}

void SweepProgress::update(std::size_t ended, std::size_t failed) {
    const auto now = Clock::now();
    if (!terminal_ || now - begin_ < std::chrono::seconds(1) || now - last_ < kPeriod) return;
    last_ = now;
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    const double rate = static_cast<double>(ended) / seconds;
    const std::string pace = ended == 0 ? duration(seconds)
                                        : fmt::format("{:.3g} a second, {} left", rate,
                                                      duration(static_cast<double>(points_ - ended) / rate));
    std::fprintf(stderr, "\r\033[K%s of %s%s, %s", thousands(ended).c_str(),
                 counted(points_, "point").c_str(),
                 failed > 0 ? (", " + thousands(failed) + " failed").c_str() : "", pace.c_str());
    std::fflush(stderr);
    shown_ = true;
}

}  // namespace systole::app
