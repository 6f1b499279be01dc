// SPDX-License-Identifier: Apache-2.0
// What the two edges of an array cost at the scratchpad: port cycles and bytes of each EdgeRead. Left edges
// read through the banked stream ports, the upper edge through a port of its own, `weight_port_width` wide.
// An edge that is fed one vector for each one streamed reads vector by vector. Every other read (tiles,
// operands that lie the other way round, both of os) goes line by line into buffers behind the edge, which
// skew and turn: there only bandwidth counts. A pass streams as fast as its slower edge.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "models/devices/systolic/mxu/port_schedule.h"
#include "models/devices/systolic/program/edge_limits.h"
#include "models/devices/systolic/program/program.h"
#include "models/memory/scratchpad/scratchpad_spec.h"

namespace systole::systolic {

class EdgePorts {
public:
    EdgePorts(const ScratchpadSpec& spec, const Program& program);

    /// Cycles per streamed vector of a fold of `vectors` vectors.
    Rational rate(Dataflow dataflow, const MatrixPass& pass, std::int32_t fold, std::int64_t vectors);
    /// Cycles that the upper edge's port needs for a fold.
    std::int64_t top_cycles(const MatrixPass& pass, std::int32_t fold) {
        return buffered(pass.top, address(pass.top, fold), top_);
    }
    /// Whether the left edge is fed one vector for each one streamed.
    bool by_vector(Dataflow dataflow, const MatrixPass& pass, std::int64_t vectors) const {
        return reads_by_vector(dataflow, pass.left, vectors, pattern(pass.left));
    }
    /// Bytes that an edge reads in one fold.
    Bytes bytes(const EdgeRead& edge) const;

private:
    /// One port with what is known of the patterns read through it, by pattern and place of the first byte
    /// among the banks.
    struct Port {
        BankedPort port;
        std::map<std::pair<std::uint32_t, std::int64_t>, Rational> streamed;
        /// Also by first vector and number.
        std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::int64_t>, std::int64_t> buffered;
    };

    const AddressStream& pattern(const EdgeRead& edge) const { return program_.streams[edge.stream]; }
    static std::int64_t address(const EdgeRead& edge, std::int32_t fold) {
        return edge.address + fold * edge.fold_step;
    }
    Rational streamed(const EdgeRead& edge, std::int64_t address, Port& port);
    std::int64_t buffered(const EdgeRead& edge, std::int64_t address, Port& port);

    const Program& program_;
    Port left_, top_;
};

}  // namespace systole::systolic
