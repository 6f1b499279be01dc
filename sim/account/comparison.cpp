// SPDX-License-Identifier: Apache-2.0
#include "sim/account/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/base/check.h"
#include "sim/base/text.h"

namespace systole {
namespace {

// Of what makes the difference, causes are named until so much of it is said.
constexpr double kSaid = 0.8;
// A class that takes less of a device's own time is not worth a word.
constexpr double kWorthSaying = 0.1;

double time_in(const ResultRow& row, std::size_t slot_class) {
    return row.fraction(static_cast<SlotClass>(slot_class)) * static_cast<double>(row.time().value());
}

/// Of the row's number format, by its capacity; of the total and of a row without time, of the trace's
/// fastest.
double peak_tops(const DeviceResult& device, const ResultRow& row) {
    const bool own = !row.name.empty() && row.time() > Ticks(0);
    const double macs = own ? static_cast<double>(row.capacity()) / static_cast<double>(row.time().value())
                            : device.peaks.macs.per_cycle();
    return 2 * macs * static_cast<double>(device.clock.value()) / 1e12;
}

/// A device with the row of it that is compared.
struct Side {
    const DeviceResult& device;
    const ResultRow& row;
    double peak() const { return peak_tops(device, row); }
};

/// What `next` does for so much longer than `winner`.
std::string cause(std::size_t slot_class, const std::string& time, const Side& next, const Side& winner) {
    switch (static_cast<SlotClass>(slot_class)) {
        case SlotClass::Useful:
            return fmt::format("multiplies for {} longer (peak {:.4g} against {:.4g} TOPS)", time,
                               next.peak(), winner.peak());
        case SlotClass::Padding:
            return fmt::format("multiplies padding for {} longer", time);
        case SlotClass::Ramp:
            return fmt::format("fills and drains its matrix units for {} longer", time);
        case SlotClass::Host:
            return fmt::format("waits {} longer for the host", time);
        case SlotClass::Memory:
            return fmt::format("waits {} longer for memory", time);
        case SlotClass::OnChip:
            return fmt::format("waits {} longer for on-chip memory", time);
        case SlotClass::Dependency:
            return fmt::format("waits {} longer for earlier results", time);
        case SlotClass::Vector:
            return fmt::format("does other work than products for {} longer", time);
        case SlotClass::Launch:
            return fmt::format("spends {} longer on launches and issue", time);
        case SlotClass::Tail:
            return fmt::format("has matrix units without work for {} longer", time);
    }
    return "";
}

std::vector<std::string> causes(const Standing& standing, const Side& next, const Side& winner) {
    std::vector<std::size_t> order(kSlotClasses);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return standing.longer[a] > standing.longer[b]; });
    double all = 0;
    for (const double longer : standing.longer) all += std::max(0.0, longer);
    std::vector<std::string> said;
    double sum = 0;
    for (const std::size_t c : order) {
        if (standing.longer[c] < 0.5 || sum >= kSaid * all) break;
        sum += standing.longer[c];
        said.push_back(cause(c, format_time(Ticks(std::llround(standing.longer[c]))), next, winner));
    }
    return said;
}

/// "a, b and c".
std::string in_words(const std::vector<std::string>& parts) {
    if (parts.size() == 1) return parts.front();
    return fmt::format("{} and {}", fmt::join(parts.begin(), parts.end() - 1, ", "), parts.back());
}

/// "h100: 38.2 % tail; 128x256x64, ..., 1.3 waves": what it does besides multiplying, and how.
std::string own_words(const Side& side) {
    std::string text;
    for (std::size_t c = 0; c < kSlotClasses; ++c) {
        const double fraction = side.row.fraction(static_cast<SlotClass>(c));
        if (static_cast<SlotClass>(c) == SlotClass::Useful || fraction < kWorthSaying) continue;
        text += fmt::format("{}{} % {}", text.empty() ? "" : ", ", format_percent(fraction),
                            to_string(static_cast<SlotClass>(c)));
    }
    if (!side.row.mapping.empty()) text += (text.empty() ? "" : "; ") + side.row.mapping;
    return text.empty() ? "" : fmt::format(" {}: {}.", side.device.device, text);
}

std::string sentence(const Standing& standing, const Side& winner, const Side& next) {
    std::string text;
    if (standing.times[standing.next] == standing.times[standing.winner]) {
        if (standing.next != standing.winner)
            text = fmt::format("{} and {} take the same time.", winner.device.device, next.device.device);
    } else {
        const std::vector<std::string> why = causes(standing, next, winner);
        const std::string by = standing.factor > 0 ? fmt::format("{:.2f}x as fast as", standing.factor)
                                                   : std::string("done beside other layers, before");
        text = fmt::format("{} is {} {}, which {}.", winner.device.device, by, next.device.device,
                           why.empty() ? std::string("takes longer") : in_words(why));
    }
    return text + own_words(winner);
}

/// `row(device)`, a device by its place: the row that is compared.
template <class RowOf>
Standing stand(const std::vector<DeviceResult>& devices, const RowOf& row) {
    Standing standing;
    for (std::size_t d = 0; d < devices.size(); ++d) standing.times.push_back(row(d).time());
    std::vector<std::size_t> order(devices.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return standing.times[a] < standing.times[b]; });
    standing.winner = order[0];
    standing.next = order[order.size() > 1 ? 1 : 0];
    const ResultRow &won = row(standing.winner), &lost = row(standing.next);
    const auto least = static_cast<double>(won.time().value());
    standing.factor = least > 0 ? static_cast<double>(lost.time().value()) / least : 0;
    if (least == 0 && lost.time() == won.time()) standing.factor = 1;
    for (std::size_t c = 0; c < kSlotClasses; ++c) standing.longer[c] = time_in(lost, c) - time_in(won, c);
    standing.name = won.name.empty() ? "total" : won.name;
    standing.op = won.op;
    standing.why = sentence(standing, {devices[standing.winner], won}, {devices[standing.next], lost});
    return standing;
}

}  // namespace

Comparison compare(std::vector<DeviceResult> devices, const Joins& joins) {
    SYSTOLE_CHECK(!devices.empty(), "nothing to compare");
    Comparison comparison;
    comparison.trace = devices.front().trace;
    comparison.rows = rows_alike(devices, joins);
    comparison.total = stand(devices, [&](std::size_t d) -> const ResultRow& { return devices[d].total; });
    for (std::size_t i = 0; i < comparison.rows.front().size(); ++i)
        comparison.layers.push_back(
            stand(devices, [&](std::size_t d) -> const ResultRow& { return comparison.rows[d][i]; }));
    comparison.devices = std::move(devices);
    return comparison;
}

}  // namespace systole
