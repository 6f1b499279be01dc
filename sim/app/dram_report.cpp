// SPDX-License-Identifier: Apache-2.0
#include "sim/app/dram_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "models/memory/dram_energy.h"
#include "sim/app/version.h"
#include "sim/base/clock.h"
#include "sim/base/csv.h"
#include "sim/base/schema.h"
#include "sim/base/text.h"

namespace systole::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kBar = 50;  // characters of a whole

double ratio(std::int64_t part, std::int64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

Ticks time_of(const DramReport& report, Cycles cycles) {
    return ClockDomain(report.spec.clock).edge(cycles);
}

/// To the digits given, so that the text of a result does not depend on the last bit of a quotient.
double rounded(double value, int digits) {
    const double scale = std::pow(10, digits);
    return std::round(value * scale) / scale;
}

std::string line(const std::string& name, const std::string& text) {
    return fmt::format("{:<14} {}\n", name, text);
}

std::string order_text(const DramReport& report) {
    std::string text = fmt::format("{}, at most {} a clock",
                                   report.options.order == DriveOptions::Order::Fifo ? "fifo" : "perch",
                                   report.options.sends_per_clock);
    if (report.options.window > 0) text += fmt::format(", window {}", with_thousands(report.options.window));
    return text;
}

std::string latency_text(const DramReport& report, const LatencyLog& log) {
    if (log.count() == 0) return "none";
    return fmt::format("average {:.1f}, half within {}, 99 % within {}, longest {} clocks ({})",
                       log.average(), with_thousands(log.percentile(50).value()),
                       with_thousands(log.percentile(99).value()), with_thousands(log.max().value()),
                       format_time(time_of(report, log.max())));
}

std::string commands_text(const DramReport& report) {
    const DramChannel::Stats stats = report.stats();
    return fmt::format("{} activates, {} precharges, {} refreshes; {} row hits ({} %)",
                       with_thousands(stats.activates), with_thousands(stats.precharges),
                       with_thousands(stats.refreshes + stats.bank_refreshes),
                       with_thousands(report.row_hits()),
                       format_percent(ratio(report.row_hits(), report.result.requests())));
}

constexpr std::array<std::string_view, kBusTimes> kMeanings{"data on the bus",
                                                            "banks being refreshed",
                                                            "columns of one bank group, CCD_L apart",
                                                            "too many activations, FAW and RRD",
                                                            "another command on the command bus",
                                                            "the bus turning between reads and writes",
                                                            "closing one row and opening another",
                                                            "nothing had arrived"};

std::string bars(const BusAccount& account) {
    std::string text;
    for (int i = 0; i < kBusTimes; ++i) {
        const auto owner = static_cast<BusTime>(i);
        const double share = ratio(account[owner], account.total());
        const auto length = static_cast<std::size_t>(std::lround(share * kBar));
        text += fmt::format("  {:<13}{:>6} %  {:<{}}  {}\n", to_string(owner), format_percent(share),
                            std::string(length, '#'), kBar, kMeanings[static_cast<std::size_t>(i)]);
    }
    return text;
}

Json latency_json(const LatencyLog& log) {
    return {{"avg", rounded(log.average(), 3)},
            {"p50", log.percentile(50).value()},
            {"p99", log.percentile(99).value()},
            {"max", log.max().value()}};
}

/// Fractions of all clocks of the buses, the transfer excepted: with it they sum to one.
Json loss_json(const BusAccount& account) {
    Json loss = Json::object();
    for (int i = 0; i < kBusTimes; ++i)
        if (const auto owner = static_cast<BusTime>(i); owner != BusTime::Transfer)
            loss[std::string(to_string(owner))] = rounded(ratio(account[owner], account.total()), 6);
    return loss;
}

Json clocks_json(const BusAccount& account) {
    Json clocks = Json::object();
    for (int i = 0; i < kBusTimes; ++i)
        clocks[std::string(to_string(static_cast<BusTime>(i)))] = account[static_cast<BusTime>(i)];
    return clocks;
}

/// Picojoules by event and in total; nothing for a memory without figures, which is not zero.
Json energy_json(const EnergyLedger& ledger) {
    const auto picojoules = [](Femtojoules energy) { return static_cast<double>(energy.value()) / 1000; };
    if (ledger.empty()) return {};
    Json json = {{"total", picojoules(ledger.total())}};
    for (const EnergyEntry& entry : ledger.entries()) json[entry.event] = picojoules(entry.energy());
    return json;
}

void add_stats(Json& json, const DramChannel::Stats& stats) {
    json["activates"] = stats.activates;
    json["precharges"] = stats.precharges;
    json["refreshes"] = stats.refreshes + stats.bank_refreshes;
}

Json buses_json(const DramReport& report) {
    Json list = Json::array();
    for (std::size_t i = 0; i < report.buses.size(); ++i) {
        const DramReport::Bus& bus = report.buses[i];
        const auto each = static_cast<std::size_t>(report.spec.pseudo_channels);
        Json json = {{"channel", i / each},
                     {"pseudo_channel", i % each},
                     {"reads", bus.stats.read_bursts},
                     {"writes", bus.stats.write_bursts}};
        add_stats(json, bus.stats);
        json["bus_clocks"] = clocks_json(bus.account);
        list.push_back(std::move(json));
    }
    return list;
}

/// What both the JSON and the CSV tell, in their order.
Json figures(const DramReport& report) {
    Json json = {{"cycles", report.result.cycles.value()},
                 {"time_ns", static_cast<double>(time_of(report, report.result.cycles).value()) / 1000},
                 {"requests", report.result.requests()},
                 {"reads", report.result.reads},
                 {"writes", report.result.writes},
                 {"bandwidth_pct_peak", rounded(report.share_of_peak() * 100, 3)},
                 {"bandwidth_GBps", rounded(report.gigabytes_per_second(), 3)},
                 {"read_latency", latency_json(report.result.read_latency)},
                 {"write_latency", latency_json(report.result.write_latency)}};
    add_stats(json, report.stats());
    json["row_hits"] = report.row_hits();
    json["loss"] = loss_json(report.account());
    json["bus_clocks"] = clocks_json(report.account());
    json["energy_pj"] = energy_json(report.energy());
    return json;
}

}  // namespace

DramChannel::Stats DramReport::stats() const {
    DramChannel::Stats sum;
    for (const Bus& bus : buses) sum += bus.stats;
    return sum;
}

BusAccount DramReport::account() const {
    BusAccount sum;
    for (const Bus& bus : buses) sum += bus.account;
    return sum;
}

std::int64_t DramReport::row_hits() const {
    return std::max<std::int64_t>(stats().row_hits(), 0);
}

EnergyLedger DramReport::energy() const {
    EnergyLedger ledger;
    enter_energy(spec, stats(), time_of(*this, result.cycles), "dram", ledger);
    return ledger;
}

double DramReport::share_of_peak() const {
    return ratio(result.requests() * spec.timing.at("BL"), result.cycles.value() * spec.data_buses());
}

double DramReport::gigabytes_per_second() const {
    return ratio(result.requests() * spec.burst_bytes.value(), result.cycles.value()) *
           static_cast<double>(spec.clock.value()) / 1e9;
}

std::string dram_text(const DramReport& report) {
    const DriveResult& result = report.result;
    std::string text = fmt::format("{}  {}  {}\n\n", report.memory, report.traffic, order_text(report));
    text += line("requests", fmt::format("{} of {} ({} reads, {} writes)", with_thousands(result.requests()),
                                         format_bytes(report.spec.burst_bytes), with_thousands(result.reads),
                                         with_thousands(result.writes)));
    text += line("cycles", fmt::format("{} at {} MHz, {}", with_thousands(result.cycles.value()),
                                       static_cast<double>(report.spec.clock.value()) / 1e6,
                                       format_time(time_of(report, result.cycles))));
    text +=
        line("bandwidth", fmt::format("{} % of peak: {:.2f} of {:.2f} GB/s",
                                      format_percent(report.share_of_peak()), report.gigabytes_per_second(),
                                      static_cast<double>(report.spec.peak().value()) / 1e9));
    text += line("read latency", latency_text(report, result.read_latency));
    if (result.writes > 0) text += line("write latency", latency_text(report, result.write_latency));
    text += line("commands", commands_text(report));
    text += fmt::format("\nWhere the clocks of the data bus{} went\n", report.buses.size() > 1 ? "es" : "");
    text += bars(report.account());
    if (const std::string energy = energy_sentence(report.energy()); !energy.empty())
        text += '\n' + energy + '\n';
    return text;
}

std::string dram_json(const DramReport& report) {
    Json json = {{"schema", kDramSchema.current},
                 {"program", version()},
                 {"memory", report.memory},
                 {"traffic", report.traffic},
                 {"order", report.options.order == DriveOptions::Order::Fifo ? "fifo" : "perch"},
                 {"sends_per_clock", report.options.sends_per_clock},
                 {"window", report.options.window},
                 {"clock_hz", report.spec.clock.value()}};
    json.update(figures(report));
    json["buses"] = buses_json(report);
    json["config"] = report.effective_config;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string dram_csv(const DramReport& report) {
    std::vector<std::string> header{"memory", "traffic"}, row{report.memory, report.traffic};
    const Json all = figures(report);
    for (const auto& [key, value] : all.items()) {
        if (!value.is_object()) {
            header.push_back(key);
            row.push_back(value.is_null() ? "" : value.dump());
            continue;
        }
        for (const auto& [inner, figure] : value.items()) {
            header.push_back(fmt::format("{}_{}", key, inner));
            row.push_back(figure.dump());
        }
    }
    return csv_line(header) + csv_line(row);
}

}  // namespace systole::app
