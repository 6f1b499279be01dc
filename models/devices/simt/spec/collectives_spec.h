// SPDX-License-Identifier: Apache-2.0
// What the library of collectives takes its time for, by its own account, and what was measured of it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/base/units.h"
#include "sim/workload/operators.h"

namespace systole::simt {

/// How bytes go over a link. Ll: 4 of every 8 bytes are a flag; Ll128: 8 of every 128; Simple: none, but
/// chips tell each other of each slice.
enum class WireProtocol : std::uint8_t { Ll, Ll128, Simple };
constexpr std::size_t kWireProtocols = 3;

/// Of an algorithm, by protocol.
struct StepTimes {
    std::array<Ticks, kWireProtocols> base;  ///< of a collective without data, its launch included
    std::array<Ticks, kWireProtocols> step;  ///< from chip to chip
};

/// Bus bandwidth of a collective by the size of its message.
struct MeasuredCollective {
    Collective::Kind kind = Collective::Kind::AllReduce;
    std::int64_t chips = 2;
    struct Point {
        Bytes message;
        BytesPerSecond bus;
    };
    std::vector<Point> points;  ///< by size
};

struct CollectivesSpec {
    int most_chips = 1;                ///< that share a switch
    int channels = 1;                  ///< rings (or trees) side by side, a CTA each
    BytesPerSecond channel_bandwidth;  ///< of one channel, as the library plans it
    BytesPerSecond ll_bandwidth;       ///< of all channels together in protocol LL, at most
    bool ll128 = false;                ///< links keep 128 bytes together, so that LL128 is safe
    BytesPerSecond ll128_channel;      ///< of one channel in LL128, at most
    BytesPerSecond tree_channel;       ///< of one channel of a tree, at most
    StepTimes ring, tree;
    bool in_switch = false;              ///< the switch adds (NVLink SHARP)
    BytesPerSecond in_switch_bandwidth;  ///< of all chips' parts together, as the library plans it
    double in_switch_efficiency = 1;     ///< of that bandwidth, what it expects
    Ticks in_switch_latency;
    std::vector<MeasuredCollective> measured;
};

}  // namespace systole::simt
