// SPDX-License-Identifier: Apache-2.0
// What the two edges of an array cost at the scratchpad: port cycles and bytes of each EdgeRead. Left edges
// read through the banked stream ports, the upper edge through a port of its own, `weight_port_width` wide.
// Line buffers behind the edges skew the operands and turn them where they lie the other way round, so that
// only bandwidth counts: a pass streams as fast as its slower edge.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>

#include "models/devices/systolic/mxu/port_schedule.h"
#include "models/devices/systolic/program/program.h"
#include "models/memory/scratchpad_spec.h"

namespace systole::systolic {

class EdgePorts {
public:
    EdgePorts(const ScratchpadSpec& spec, const Program& program);

    /// Cycles per streamed vector of a pass of `vectors` vectors. `top_streams`: the upper edge streams too.
    Rational rate(const MatrixPass& pass, std::int64_t vectors, bool top_streams);
    /// Cycles that the upper edge's port needs for the pass (one fold of it).
    std::int64_t top_cycles(const MatrixPass& pass) { return cycles(pass.top, top_); }
    /// Bytes that an edge reads in one fold.
    Bytes bytes(const EdgeRead& edge) const;

private:
    /// One port with what is known of the patterns read through it.
    struct Port {
        BankedPort port;
        /// By pattern and place of the first byte among the banks.
        std::map<std::pair<std::uint32_t, std::int64_t>, Rational> whole;
        /// By pattern, place, and window.
        std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::int64_t>, std::int64_t> windows;
        /// By pattern: cycles of a vector by the place of its first byte.
        std::unordered_map<std::uint32_t, std::unordered_map<std::int64_t, std::int64_t>> vectors;

        std::int64_t interleave() const { return port.banks * port.bank_width.value(); }
    };

    const AddressStream& pattern(const EdgeRead& edge) const { return program_.streams[edge.stream]; }
    Rational mean(const EdgeRead& edge, Port& port);
    std::int64_t cycles(const EdgeRead& edge, Port& port);
    std::int64_t window_cycles(const EdgeRead& edge, std::int64_t place, Port& port);

    const Program& program_;
    Port left_, top_;
};

}  // namespace systole::systolic
