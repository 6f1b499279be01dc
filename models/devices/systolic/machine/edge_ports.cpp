// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/edge_ports.h"

#include <algorithm>

namespace systole::systolic {

EdgePorts::EdgePorts(const ScratchpadSpec& spec, const Program& program)
    : program_(program),
      left_{{spec.banks, spec.bank_bytes}, {}, {}, {}},
      top_{{1, spec.weight_port_bytes}, {}, {}, {}} {}

Bytes EdgePorts::bytes(const EdgeRead& edge) const {
    if (edge.none()) return Bytes(0);
    Bytes vector;
    for (const Segment& segment : pattern(edge).segments) vector += segment.bytes;
    return vector * edge.vectors;
}

Rational EdgePorts::rate(const MatrixPass& pass, std::int64_t vectors, bool top_streams) {
    const EdgeRead& left = pass.left;
    // One vector read for each one streamed: no sum that could leave 64 bits.
    if (!top_streams && left.vectors == vectors && left.vectors == pattern(left).vectors())
        return mean(left, left_);
    std::int64_t slowest = std::max(vectors, cycles(left, left_));
    if (top_streams) slowest = std::max(slowest, cycles(pass.top, top_));
    return Rational::reduced(slowest, vectors);
}

/// Of the whole pattern.
Rational EdgePorts::mean(const EdgeRead& edge, Port& port) {
    const std::int64_t place = edge.address % port.interleave();
    if (conflict_free(port.port, pattern(edge), Bytes(place))) return {};
    const auto [found, added] = port.whole.try_emplace({edge.stream, place});
    if (added) {
        AddressStream stream = pattern(edge);
        stream.base = Bytes(place);
        found->second = cycles_per_vector(port.port, stream);
    }
    return found->second;
}

std::int64_t EdgePorts::cycles(const EdgeRead& edge, Port& port) {
    if (edge.vectors == pattern(edge).vectors()) return mean(edge, port).ceil_times(edge.vectors);
    const std::int64_t place = edge.address % port.interleave();
    if (conflict_free(port.port, pattern(edge), Bytes(place))) return edge.vectors;
    const auto [found, added] = port.windows.try_emplace({edge.stream, place, edge.first, edge.vectors});
    if (added) found->second = window_cycles(edge, place, port);
    return found->second;
}

/// Vector by vector; those that begin at the same place among the banks cost the same.
std::int64_t EdgePorts::window_cycles(const EdgeRead& edge, std::int64_t place, Port& port) {
    const AddressStream& stream = pattern(edge);
    auto& known = port.vectors[edge.stream];
    std::int64_t sum = 0;
    for (std::int64_t v = edge.first; v < edge.first + edge.vectors; ++v) {
        const Bytes begin = Bytes(place) + stream.offset_of(v);
        const auto [found, added] = known.try_emplace(begin.value() % port.interleave());
        if (added) found->second = vector_cycles(port.port, stream, Bytes(found->first));
        sum += found->second;
    }
    return sum;
}

}  // namespace systole::systolic
