// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/edge_ports.h"

#include <algorithm>

namespace systole::systolic {

EdgePorts::EdgePorts(const ScratchpadSpec& spec, const Program& program)
    : program_(program), left_{port_of(Edge::Left, spec), {}, {}}, top_{port_of(Edge::Top, spec), {}, {}} {}

Bytes EdgePorts::bytes(const EdgeRead& edge) const {
    return edge.none() ? Bytes(0) : pattern(edge).vector_bytes() * edge.vectors;
}

Rational EdgePorts::rate(Dataflow dataflow, const MatrixPass& pass, std::int32_t fold, std::int64_t vectors) {
    const EdgeRead& left = pass.left;
    const std::int64_t begin = address(left, fold);
    if (by_vector(dataflow, pass, vectors)) return streamed(left, begin, left_);
    std::int64_t slowest = std::max(vectors, buffered(left, begin, left_));
    if (dataflow == Dataflow::OutputStationary)
        slowest = std::max(slowest, buffered(pass.top, address(pass.top, fold), top_));
    return Rational::reduced(slowest, vectors);
}

Rational EdgePorts::streamed(const EdgeRead& edge, std::int64_t address, Port& port) {
    const std::int64_t place = address % port.port.period();
    if (conflict_free(port.port, pattern(edge), Bytes(place))) return {};
    const auto [found, added] = port.streamed.try_emplace({edge.stream, place});
    if (added) {
        AddressStream stream = pattern(edge);
        stream.base = Bytes(place);
        found->second = cycles_per_vector(port.port, stream);
    }
    return found->second;
}

std::int64_t EdgePorts::buffered(const EdgeRead& edge, std::int64_t address, Port& port) {
    const std::int64_t place = address % port.port.period();
    if (conflict_free(port.port, pattern(edge), Bytes(place)))
        return std::max<std::int64_t>(1, ceil_div(bytes(edge).value(), port.port.bytes_a_cycle()));
    const auto [found, added] = port.buffered.try_emplace({edge.stream, place, edge.first, edge.vectors});
    if (added) {
        AddressStream stream = pattern(edge);
        stream.base = Bytes(place);
        found->second = buffered_cycles(port.port, stream, edge.first, edge.vectors);
    }
    return found->second;
}

}  // namespace systole::systolic
