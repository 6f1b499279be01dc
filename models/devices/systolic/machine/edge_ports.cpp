// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/edge_ports.h"

#include <algorithm>

namespace systole::systolic {

EdgePorts::EdgePorts(const ScratchpadSpec& spec, const Program& program)
    : program_(program),
      left_{{spec.banks, spec.bank_bytes}, {}, {}},
      top_{{1, spec.weight_port_bytes}, {}, {}} {}

Bytes EdgePorts::bytes(const EdgeRead& edge) const {
    return edge.none() ? Bytes(0) : pattern(edge).vector_bytes() * edge.vectors;
}

Rational EdgePorts::rate(const MatrixPass& pass, std::int64_t vectors, bool top_streams) {
    const EdgeRead& left = pass.left;
    if (!top_streams && left.vectors == vectors && left.vectors == pattern(left).vectors())
        return streamed(left, left_);
    std::int64_t slowest = std::max(vectors, buffered(left, left_));
    if (top_streams) slowest = std::max(slowest, buffered(pass.top, top_));
    return Rational::reduced(slowest, vectors);
}

Rational EdgePorts::streamed(const EdgeRead& edge, Port& port) {
    const std::int64_t place = edge.address % port.port.interleave();
    if (conflict_free(port.port, pattern(edge), Bytes(place))) return {};
    const auto [found, added] = port.streamed.try_emplace({edge.stream, place});
    if (added) {
        AddressStream stream = pattern(edge);
        stream.base = Bytes(place);
        found->second = cycles_per_vector(port.port, stream);
    }
    return found->second;
}

std::int64_t EdgePorts::buffered(const EdgeRead& edge, Port& port) {
    const std::int64_t place = edge.address % port.port.interleave();
    if (conflict_free(port.port, pattern(edge), Bytes(place)))
        return std::max<std::int64_t>(1, ceil_div(bytes(edge).value(), port.port.interleave()));
    const auto [found, added] = port.buffered.try_emplace({edge.stream, place, edge.first, edge.vectors});
    if (added) {
        AddressStream stream = pattern(edge);
        stream.base = Bytes(place);
        found->second = buffered_cycles(port.port, stream, edge.first, edge.vectors);
    }
    return found->second;
}

}  // namespace systole::systolic
