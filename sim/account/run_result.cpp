// SPDX-License-Identifier: Apache-2.0
#include "sim/account/run_result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/text.h"

namespace systole {
namespace {

/// The classes in which a matrix unit works rather than waits.
bool is_compute(SlotClass slot_class) {
    return slot_class == SlotClass::Useful || slot_class == SlotClass::Padding ||
           slot_class == SlotClass::Ramp;
}

/// "compute" or the class's own key.
std::string_view group_name(SlotClass slot_class) {
    return is_compute(slot_class) ? "compute" : to_string(slot_class);
}

struct Group {
    std::string_view name;
    std::int64_t amount = 0;
};

/// Amounts by class, with the compute classes added up; the largest first, equals in class order.
std::vector<Group> by_group(const ClassSlots& amounts) {
    std::vector<Group> groups;
    for (std::size_t i = 0; i < kSlotClasses; ++i) {
        const std::string_view name = group_name(static_cast<SlotClass>(i));
        if (groups.empty() || groups.back().name != name) groups.push_back({name});
        groups.back().amount += amounts[i];
    }
    std::stable_sort(groups.begin(), groups.end(), [](auto& a, auto& b) { return a.amount > b.amount; });
    return groups;
}

/// Whole percent of `part` in `all` > 0, halves up.
std::int64_t rounded_percent(std::int64_t part, std::int64_t all) {
    const Int128 twice = static_cast<Int128>(part) * 200 + all;
    return static_cast<std::int64_t>(twice / (static_cast<Int128>(all) * 2));
}

std::string join_words(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i)
        text += (i == 0 ? "" : i + 1 < words.size() ? ", " : " and ") + words[i];
    return text;
}

/// "the rate of int8 and bf16": what the device names the rate at which the run's work is done.
std::string rate_name(const DeviceResult& result) {
    std::vector<std::string> dtypes;
    for (const DtypePeak& peak : result.dtypes)
        if (peak.macs == result.peaks.macs) dtypes.push_back(peak.dtype);
    if (dtypes.empty()) return fmt::format("{:g} MACs a cycle", result.peaks.macs.per_cycle());
    return "the rate of " + join_words(dtypes);
}

}  // namespace

std::int64_t ResultRow::capacity() const {
    return std::accumulate(slots.begin(), slots.end(), std::int64_t{0});
}

double ResultRow::utilization() const {
    const std::int64_t all = utilization_slots.value_or(capacity());
    if (all == 0) return 0;
    return static_cast<double>(slots[static_cast<std::size_t>(SlotClass::Useful)]) / static_cast<double>(all);
}

double ResultRow::fraction(SlotClass slot_class) const {
    const std::int64_t all = capacity();
    if (all == 0) return 0;
    return static_cast<double>(slots[static_cast<std::size_t>(slot_class)]) / static_cast<double>(all);
}

double ResultRow::compute_cycles() const {
    const std::int64_t all = capacity();
    if (all == 0) return 0;
    std::int64_t working = 0;
    for (std::size_t i = 0; i < kSlotClasses; ++i)
        if (is_compute(static_cast<SlotClass>(i))) working += slots[i];
    const Int128 product = static_cast<Int128>(cycles.value()) * working;
    const auto whole = static_cast<std::int64_t>(product / all);
    return static_cast<double>(whole) +
           static_cast<double>(product - static_cast<Int128>(whole) * all) / static_cast<double>(all);
}

std::string bound_by(const std::vector<CriticalStep>& path, const Roofline& roofline) {
    ClassSlots times{};
    for (const CriticalStep& step : path) times[static_cast<std::size_t>(step.owner)] += step.time.value();
    const Group largest = by_group(times).front();
    if (largest.amount == 0) return "none";
    const bool chips =
        largest.name == to_string(SlotClass::Host) && roofline.at(Level::Chips) > roofline.at(Level::Host);
    return std::string(chips ? to_string(Level::Chips) : largest.name);
}

std::string_view place_name(const DeviceResult& result, Place place) {
    return place == Place::Dram && result.memory == "sram" ? std::string_view(result.memory)
                                                           : to_string(place);
}

std::vector<CriticalStep> critical_path(const std::vector<CausalLog::Piece>& pieces) {
    std::vector<CriticalStep> steps;
    for (std::size_t i = 0; i < kSlotClasses; ++i) steps.push_back({static_cast<SlotClass>(i), Ticks()});
    for (const CausalLog::Piece& piece : pieces)
        steps[static_cast<std::size_t>(piece.owner)].time += piece.end - piece.begin;
    std::erase_if(steps, [](const CriticalStep& step) { return step.time == Ticks(); });
    std::stable_sort(steps.begin(), steps.end(), [](auto& a, auto& b) { return a.time > b.time; });
    return steps;
}

std::string_view to_string(Fidelity fidelity) {
    return fidelity == Fidelity::Outline ? "outline" : "detailed";
}

std::string fidelity_sentence(Fidelity fidelity, std::string_view device) {
    if (fidelity == Fidelity::Detailed) return "";
    return fmt::format(
        "Outline: published facts do not carry a detailed model of {}; figures show the order of magnitude.",
        device.empty() ? "this chip" : device);
}

std::string critical_path_sentence(const DeviceResult& result) {
    ClassSlots times{};
    for (const CriticalStep& step : result.critical_path)
        times[static_cast<std::size_t>(step.owner)] += step.time.value();
    const std::int64_t all = std::accumulate(times.begin(), times.end(), std::int64_t{0});
    if (all == 0) return "The critical path is empty.";

    std::vector<std::string> shares;
    bool left_out = false;
    for (const Group& group : by_group(times)) {
        const std::int64_t percent = rounded_percent(group.amount, all);
        if (percent > 0) shares.push_back(fmt::format("{} % {}", percent, group.name));
        left_out |= percent == 0 && group.amount > 0;
    }
    return fmt::format("The critical path is {}{}.", join_words(shares),
                       left_out ? "; others below 1 %" : "");
}

std::string ceilings_sentence(const DeviceResult& result) {
    const Peaks& peaks = result.peaks;
    const auto clock = static_cast<double>(result.clock.value());
    std::vector<std::string> roofs;
    for (const DtypePeak& peak : result.dtypes)
        roofs.push_back(
            fmt::format("{:.4g} TOPS in {}", 2 * peak.macs.per_cycle() * clock / 1e12, peak.dtype));
    const auto add = [&](Level level, double bytes_per_second, std::string_view direction) {
        const double ridge = peaks.macs.per_cycle() * clock / bytes_per_second;
        roofs.push_back(fmt::format("{} {}/s{} (ridge {:.4g})", to_string(level),
                                    format_bytes(Bytes(std::llround(bytes_per_second))), direction, ridge));
    };
    if (peaks.lanes > 0)
        roofs.push_back(fmt::format("vector {} lane-cycles a cycle", with_thousands(peaks.lanes)));
    if (peaks.on_chip)
        add(Level::OnChip, static_cast<double>(peaks.on_chip->bytes_per_cycle) * clock,
            peaks.on_chip->both_ways ? "" : " each way");
    if (peaks.dram > BytesPerSecond() && peaks.dram != BytesPerSecond::max())
        add(Level::Memory, static_cast<double>(peaks.dram.value()), "");
    if (peaks.host > BytesPerSecond()) add(Level::Host, static_cast<double>(peaks.host.value()), " each way");
    if (peaks.chips > BytesPerSecond())
        add(Level::Chips, static_cast<double>(peaks.chips.value()), " each way");
    return fmt::format("Ceilings: {}; ridges in MACs a byte at {}.", fmt::join(roofs, ", "),
                       rate_name(result));
}

std::string roofline_sentence(const DeviceResult& result) {
    std::vector<std::string> levels;
    for (std::size_t i = 0; i < kLevels; ++i) {
        const Cycles cycles = result.total.roofline.cycles[i];
        if (cycles > Cycles())
            levels.push_back(
                fmt::format("{} {}", to_string(static_cast<Level>(i)), with_thousands(cycles.value())));
    }
    if (levels.empty()) return "No roofline: no level has work.";
    return fmt::format("Roofline by level, in cycles: {}.", fmt::join(levels, ", "));
}

std::string choices_sentence(const DeviceResult& result) {
    std::string text;
    for (const ChosenSetting& choice : result.choices)
        text += fmt::format("{}{}={} ({})", text.empty() ? "Chosen: " : "; ", choice.key, choice.value,
                            choice.why);
    return text.empty() ? text : text + '.';
}

std::string known_time_phrase(const DeviceResult& result) {
    if (!result.reuse) return "";
    const double time = static_cast<double>(result.total.time().value());
    const double percent = time == 0 ? 0 : 100 * static_cast<double>(result.reuse->off.value()) / time;
    return fmt::format("the time is known to about {}{}",
                       percent < 0.005 ? "0.01 %" : fmt::format("{:.2f} %", percent),
                       result.reuse->by_chance ? " in 19 of 20 cases" : "");
}

std::string memory_bus_sentence(const DeviceResult& result) {
    std::vector<BusClocks> owners = result.memory_bus;
    std::int64_t all = 0;
    for (const BusClocks& bus : owners) all += bus.clocks;
    if (all == 0) return "";
    std::stable_sort(owners.begin(), owners.end(), [](const BusClocks& a, const BusClocks& b) {
        if ((a.owner == "transfer") != (b.owner == "transfer")) return a.owner == "transfer";
        return a.clocks > b.clocks;
    });
    std::vector<std::string> shares;
    for (const BusClocks& bus : owners) {
        const std::string share = format_percent(static_cast<double>(bus.clocks) / static_cast<double>(all));
        if (shares.empty() || share != "0.0") shares.push_back(fmt::format("{} % {}", share, bus.owner));
    }
    return fmt::format("The memory's data buses: {}.", fmt::join(shares, ", "));
}

}  // namespace systole
