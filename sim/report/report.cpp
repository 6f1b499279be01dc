// SPDX-License-Identifier: Apache-2.0
#include "sim/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "sim/base/schema.h"
#include "sim/base/text.h"
#include "sim/report/timeline_data.h"

namespace systole::report {
namespace {

using Json = nlohmann::ordered_json;

std::string listed(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i)
        text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
    return text;
}

/// Each once, in their order.
std::vector<std::string> distinct(const std::vector<std::string>& words) {
    std::vector<std::string> once;
    for (const std::string& word : words)
        if (std::find(once.begin(), once.end(), word) == once.end()) once.push_back(word);
    return once;
}

/// A row without what the page does not show.
Json lean(Json row) {
    for (const char* key : {"class_slots", "compute_cycles", "macs"}) row.erase(key);
    return row;
}

/// Formats of operands that matrix units multiplied, "bf16", where the device's energy counts them.
Json formats_of(const Json& energy) {
    constexpr std::string_view kBehind = " mac";
    std::vector<std::string> formats;
    for (const Json& entry : energy.value("entries", Json::array())) {
        if (!entry.is_object() || entry.value("part", Json()) != "matrix") continue;
        const Json named = entry.value("event", Json());
        const std::string event = named.is_string() ? named.get<std::string>() : "";
        if (event.ends_with(kBehind)) formats.push_back(event.substr(0, event.size() - kBehind.size()));
    }
    return distinct(formats);
}

Json run_json(const RunData& run) {
    Json json = run.device;
    json.erase("tensors");
    // The page shows the total's operations, and of layers what matrix units did.
    Json total = lean(json["total"]);
    total["macs"] = json["total"]["macs"];
    json["total"] = std::move(total);
    json["formats"] = formats_of(json["energy"]);
    if (json["energy"].contains("entries")) json["energy"].erase("entries");
    Json layers = Json::array();
    for (const Json& layer : run.layers) layers.push_back(lean(layer));
    json["layers"] = std::move(layers);
    if (run.timeline) json["timeline"] = timeline_data(*run.timeline, run.row_of_layer);
    return json;
}

Json comparison_json(const ComparisonData& comparison) {
    return {{"trace", comparison.trace},     {"first_run", comparison.first_run},
            {"devices", comparison.devices}, {"total", comparison.total},
            {"layers", comparison.layers},   {"left_out", comparison.left_out}};
}

/// A number where the cell is one; null where it is empty.
Json cell(const std::string& text, bool is_number) {
    if (text.empty()) return nullptr;
    if (!is_number) return text;
    std::int64_t whole = 0;
    const char* end = text.data() + text.size();
    if (const auto read = std::from_chars(text.data(), end, whole); read.ec == std::errc() && read.ptr == end)
        return whole;
    double value = 0;
    if (const auto read = std::from_chars(text.data(), end, value); read.ec == std::errc() && read.ptr == end)
        return value;
    return text;
}

/// Which rows are shown: all, or those of the front and every so manieth.
std::vector<std::size_t> shown_rows(const SweepData& sweep) {
    std::vector<std::size_t> shown;
    const auto pareto = std::find_if(sweep.columns.begin(), sweep.columns.end(),
                                     [](const SweepData::Column& column) { return column.name == "pareto"; });
    const auto column = static_cast<std::size_t>(pareto - sweep.columns.begin());
    const auto on_front = [&](std::size_t i) {
        return column < sweep.columns.size() && sweep.rows[i][column] == "1";
    };
    const std::size_t step = (sweep.rows.size() + kMostPoints - 1) / kMostPoints;
    for (std::size_t i = 0; i < sweep.rows.size(); ++i)
        if (step <= 1 || i % step == 0 || on_front(i)) shown.push_back(i);
    return shown;
}

Json sweep_json(const SweepData& sweep, const std::vector<std::size_t>& shown) {
    Json columns = Json::array(), rows = Json::array();
    for (const SweepData::Column& column : sweep.columns)
        columns.push_back({{"name", column.name}, {"is_number", column.is_number}});
    for (const std::size_t i : shown) {
        Json row = Json::array();
        for (std::size_t k = 0; k < sweep.columns.size(); ++k)
            row.push_back(cell(sweep.rows[i][k], sweep.columns[k].is_number));
        rows.push_back(std::move(row));
    }
    Json objectives = Json::array();
    for (const SweepData::Objective& objective : sweep.objectives)
        objectives.push_back({{"name", objective.name}, {"more_is_better", objective.more_is_better}});
    const SweepData::Tally& tally = sweep.tally;
    return {{"title", sweep.title},
            {"experiment", sweep.experiment},
            {"build", sweep.build},
            {"tally",
             {{"points", tally.points},
              {"done", tally.done},
              {"refused", tally.refused},
              {"failed", tally.failed},
              {"missing", tally.missing}}},
            {"objectives", std::move(objectives)},
            {"columns", std::move(columns)},
            {"rows", std::move(rows)}};
}

std::string count(std::size_t number) {
    return with_thousands(static_cast<std::int64_t>(number));
}

void note_layers(const RunData& run, Json& notes) {
    if (run.row_of_layer.empty()) return;
    notes.push_back(fmt::format(
        "{} on {} has {} layers: the {} that take the most time have rows of their own, all others "
        "one together. layers.csv has them all.",
        run.trace(), run.name(), count(run.row_of_layer.size()), count(run.layers.size() - 1)));
}

}  // namespace

std::string title_of(const Report& report) {
    if (report.runs.empty()) return report.sweeps.empty() ? "Systole" : report.sweeps.front().title;
    std::vector<std::string> devices, traces;
    for (const RunData& run : report.runs) {
        devices.push_back(run.name());
        traces.push_back(run.trace());
    }
    return fmt::format("{} on {}", listed(distinct(traces)), listed(distinct(devices)));
}

std::string report_json(const Report& report) {
    Json notes = report.notes, runs = Json::array();
    for (const RunData& run : report.runs) {
        note_layers(run, notes);
        runs.push_back(run_json(run));
    }
    Json json{{"schema", kResultSchema.current}, {"program", report.program}, {"title", title_of(report)}};
    json["command"] = report.command.empty() ? Json() : Json(report.command);
    if (!report.sweeps.empty()) {
        const SweepData& sweep = report.sweeps.front();
        const std::vector<std::size_t> shown = shown_rows(sweep);
        if (shown.size() < sweep.rows.size())
            notes.push_back(
                fmt::format("{} of {} points are shown: all of the front, and an even choice of the others. "
                            "points.csv has them all.",
                            count(shown.size()), count(sweep.rows.size())));
        json["sweep"] = sweep_json(sweep, shown);
    }
    Json comparisons = Json::array();
    for (const ComparisonData& comparison : report.comparisons)
        comparisons.push_back(comparison_json(comparison));
    json["comparisons"] = std::move(comparisons);
    json["notes"] = std::move(notes);
    json["runs"] = std::move(runs);
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace systole::report
