// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/collective_cost.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "sim/base/check.h"

namespace systole::simt {
namespace {

using Kind = Collective::Kind;

// Shares of bandwidth that data have, as tuning.cc counts them on one node: a flag in every second word, 120
// of 128 bytes and something for it; and what trees reach of a ring's, by protocol.
constexpr double kLlShare = 0.5, kLl128Share = 0.92, kTreeShare = 0.92;
constexpr double kTreeLlShare = 1 / 3.8, kTreeLl128Share = 7.0 / 9.0;

// "Trees are not perfectly sticking to the model for medium sizes": treeCorrectionFactor of tuning.cc, by
// protocol, for powers of two from 64 B to 256 MiB.
constexpr std::size_t kCorrected = 23;
constexpr double kTreeCorrection[kWireProtocols][kCorrected] = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}};

double real(BytesPerSecond rate) {
    return static_cast<double>(rate.value());
}

double tree_correction(WireProtocol protocol, Bytes message) {
    const auto units = static_cast<std::uint64_t>(message.value()) >> 6;
    if (units == 0) return 1;
    const auto power = static_cast<std::size_t>(std::bit_width(units) - 1);
    return power < kCorrected ? kTreeCorrection[static_cast<std::size_t>(protocol)][power] : 1;
}

/// Rounded to a tick.
Ticks over(Bytes message, double bytes_per_second) {
    return Ticks(std::llround(static_cast<double>(message.value()) / bytes_per_second *
                              static_cast<double>(kTicksPerSecond)));
}

class Weighing {
public:
    Weighing(const CollectivesSpec& spec, Kind kind, std::int64_t chips, Bytes message)
        : spec_(spec),
          kernel_{kind, CollectiveAlgorithm::Ring, WireProtocol::Simple, chips, message},
          bus_(real(spec.channel_bandwidth) * spec.channels) {}

    std::vector<CollectiveTime> all() {
        for (const WireProtocol protocol : {WireProtocol::Ll, WireProtocol::Ll128, WireProtocol::Simple}) {
            if (protocol == WireProtocol::Ll128 && !spec_.ll128) continue;
            if (kernel_.kind == Kind::AllToAll) {
                // Sends and receives have these two; the library weighs nothing for them.
                if (protocol != WireProtocol::Ll128) add_ring(CollectiveAlgorithm::Direct, protocol);
                continue;
            }
            add_ring(CollectiveAlgorithm::Ring, protocol);
            if (kernel_.kind == Kind::AllReduce) add_tree(protocol);
        }
        // Of two chips it would read and write as much as a ring, at less bandwidth.
        if (kernel_.kind == Kind::AllReduce && spec_.in_switch && kernel_.chips > 2) add_switch();
        std::stable_sort(times_.begin(), times_.end(),
                         [](const auto& a, const auto& b) { return a.total < b.total; });
        return times_;
    }

private:
    void add(CollectiveAlgorithm algorithm, WireProtocol protocol, Ticks launch, Ticks latency,
             double bytes_per_second) {
        CollectiveTime time{kernel_, launch, latency, {}, {}};
        time.kernel.algorithm = algorithm;
        time.kernel.protocol = protocol;
        time.total = latency + std::max(Ticks(1), over(kernel_.message, bytes_per_second));
        time.by_library = time.total;
        times_.push_back(time);
    }

    /// Of the bus, all of which data have.
    double ring_bus(WireProtocol protocol) const {
        switch (protocol) {
            case WireProtocol::Ll:
                return std::min(real(spec_.ll_bandwidth), bus_ * kLlShare);
            case WireProtocol::Ll128:
                return std::min(bus_ * kLl128Share, real(spec_.ll128_channel) * spec_.channels);
            case WireProtocol::Simple:
                break;
        }
        return bus_;
    }

    void add_ring(CollectiveAlgorithm algorithm, WireProtocol protocol) {
        const auto p = static_cast<std::size_t>(protocol);
        CollectiveKernel kernel = kernel_;
        kernel.algorithm = algorithm;
        const Ticks base = spec_.ring.base[p];
        add(algorithm, protocol, base, base + spec_.ring.step[p] * kernel.steps(),
            ring_bus(protocol) / bus_share(kernel_.kind, kernel_.chips));
    }

    void add_tree(WireProtocol protocol) {
        const auto p = static_cast<std::size_t>(protocol);
        double bus = std::min(bus_ * kTreeShare, real(spec_.tree_channel) * spec_.channels);
        if (protocol == WireProtocol::Ll) bus = std::min(bus * kTreeLlShare, real(spec_.ll_bandwidth));
        if (protocol == WireProtocol::Ll128)
            bus = std::min(bus * kTreeLl128Share, real(spec_.ll128_channel) * spec_.channels);
        const Ticks base = spec_.tree.base[p];
        // Each byte passes twice: up and down.
        add(CollectiveAlgorithm::Tree, protocol, base, base + spec_.tree.step[p] * (2 * (kernel_.chips - 1)),
            bus / 2 * tree_correction(protocol, kernel_.message));
    }

    void add_switch() {
        const double others = static_cast<double>(kernel_.chips - 1) / static_cast<double>(kernel_.chips);
        add(CollectiveAlgorithm::Switch, WireProtocol::Simple, spec_.in_switch_latency,
            spec_.in_switch_latency, real(spec_.in_switch_bandwidth) * spec_.in_switch_efficiency * others);
    }

    const CollectivesSpec& spec_;
    const CollectiveKernel kernel_;
    const double bus_;  // bytes a second of all channels
    std::vector<CollectiveTime> times_;
};

/// Measured time over what the library expects, at a measured size.
double error_at(const CollectivesSpec& spec, const MeasuredCollective& row,
                const MeasuredCollective::Point& point) {
    const double measured =
        static_cast<double>(point.message.value()) * bus_share(row.kind, row.chips) / real(point.bus);
    const Ticks expected = weigh_collective(spec, row.kind, row.chips, point.message).front().total;
    return measured / (static_cast<double>(expected.value()) / static_cast<double>(kTicksPerSecond));
}

/// What was measured of such a collective of so many chips, or of the nearest number of them; null if nothing
/// was.
const MeasuredCollective* nearest_row(const CollectivesSpec& spec, Kind kind, std::int64_t chips) {
    const auto apart = [&](const MeasuredCollective& row) {
        return std::abs(std::log(static_cast<double>(row.chips) / static_cast<double>(chips)));
    };
    const MeasuredCollective* nearest = nullptr;
    for (const MeasuredCollective& row : spec.measured)
        if (row.kind == kind && !row.points.empty() &&
            (nearest == nullptr ||
             std::pair(apart(row), row.chips) < std::pair(apart(*nearest), nearest->chips)))
            nearest = &row;
    return nearest;
}

/// By what the time that the library expects is wrong, as far as a measured row tells.
double correction(const CollectivesSpec& spec, const MeasuredCollective& row, Bytes message) {
    const auto& points = row.points;
    const auto above = std::find_if(points.begin(), points.end(),
                                    [&](const auto& point) { return point.message >= message; });
    if (above == points.end()) return error_at(spec, row, points.back());
    if (above == points.begin()) return error_at(spec, row, points.front());
    const auto& low = *std::prev(above);
    const auto size = [](Bytes bytes) { return std::log(static_cast<double>(bytes.value())); };
    const double part = (size(message) - size(low.message)) / (size(above->message) - size(low.message));
    return std::exp((1 - part) * std::log(error_at(spec, row, low)) +
                    part * std::log(error_at(spec, row, *above)));
}

Ticks scaled(Ticks time, double factor) {
    return Ticks(std::llround(static_cast<double>(time.value()) * factor));
}

}  // namespace

BytesPerSecond CollectiveTime::bus() const {
    const double seconds = static_cast<double>(total.value()) / static_cast<double>(kTicksPerSecond);
    return BytesPerSecond(std::llround(static_cast<double>(kernel.message.value()) *
                                       bus_share(kernel.kind, kernel.chips) / seconds));
}

std::vector<CollectiveTime> weigh_collective(const CollectivesSpec& spec, Kind kind, std::int64_t chips,
                                             Bytes message) {
    SYSTOLE_CHECK(chips > 1 && message > Bytes(0), "a collective of {} chips, {} bytes", chips,
                  message.value());
    return Weighing(spec, kind, chips, message).all();
}

CollectiveTime time_collective(const CollectivesSpec& spec, Kind kind, std::int64_t chips, Bytes message) {
    CollectiveTime time = weigh_collective(spec, kind, chips, message).front();
    const MeasuredCollective* const row = nearest_row(spec, kind, chips);
    if (row == nullptr) return time;
    const double factor = correction(spec, *row, message);
    time.corrected_by = row->chips;
    time.launch = scaled(time.launch, factor);
    time.latency = scaled(time.latency, factor);
    time.total = std::max(time.latency, scaled(time.total, factor));
    return time;
}

}  // namespace systole::simt
