// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/program/edge_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "models/devices/systolic/program/pass_shape.h"
#include "sim/base/checked.h"

namespace systole::systolic {
namespace {

/// An engine's rate is a fraction of numbers below 2^31 (mxu/rational.h).
constexpr std::int64_t kMostPortCycles = (std::int64_t{1} << 31) - 1;
/// Pieces of vectors that one command may have the simulation look at: about a second, half a gigabyte.
constexpr std::int64_t kMostPieces = std::int64_t{1} << 25;

/// Vectors along M, of K elements each, or of the second operand: K of N elements, or N of K.
std::optional<std::string> extent_mistake(Dataflow dataflow, const MatrixPass& pass, Edge edge) {
    const std::int64_t found = (edge == Edge::Left ? pass.left : pass.top).vectors;
    const bool inputs = (edge == Edge::Left) != (dataflow == Dataflow::InputStationary);
    if (inputs && found != pass.m)
        return fmt::format("reads {} vectors of inputs, but m is {}", found, pass.m);
    if (!inputs && found != pass.k && found != pass.n)
        return fmt::format("reads {} vectors of the second operand, but k is {} and n is {}", found, pass.k,
                           pass.n);
    return std::nullopt;
}

/// Whether no fold of a run meets itself in a bank: what all of them read lies within one turn.
bool all_conflict_free(const BankedPort& port, AddressStream pattern, const EdgeRead& read,
                       std::int32_t folds) {
    for (Segment& segment : pattern.segments) segment.bytes += Bytes(read.fold_step * (folds - 1));
    return conflict_free(port, pattern, Bytes(read.address % port.period()));
}

/// Places among the banks from which the folds of a run read: each is looked at once.
std::int64_t places(const BankedPort& port, const EdgeRead& read, std::int32_t folds) {
    return std::min<std::int64_t>(folds, port.period() / std::gcd(port.period(), read.fold_step));
}

/// Pieces to look at for a fold whose lines may meet. A look at banks costs as much as one at pieces; an xor
/// map looks at lines.
std::int64_t most_pieces(const BankedPort& port, AddressStream pattern, std::int64_t vectors,
                         bool by_vector) {
    const std::int64_t lines =
        port.kind == BankMapKind::Xor ? std::min<std::int64_t>(2 * port.banks, most_lines(port, pattern)) : 1;
    const std::int64_t segments = static_cast<std::int64_t>(pattern.segments.size()) * lines;
    if (!by_vector) return segments * vectors + port.banks;
    pattern.levels = {};  // to that of one vector
    const std::int64_t banks = never_conflicts(port, pattern) ? 0 : port.banks;
    return (segments + banks) * std::min(vectors, kMaxPeriod);
}

}  // namespace

BankedPort port_of(Edge edge, const ScratchpadSpec& scratchpad) {
    if (edge == Edge::Left)
        return {scratchpad.banks, scratchpad.bank_bytes, scratchpad.bank_map, scratchpad.bank_ports};
    return {1, scratchpad.weight_port_bytes};
}

bool reads_by_vector(Dataflow dataflow, const EdgeRead& left, std::int64_t vectors,
                     const AddressStream& pattern) {
    return dataflow != Dataflow::OutputStationary && left.vectors == vectors &&
           left.vectors == pattern.vectors();
}

std::optional<std::string> edge_mistake(Dataflow dataflow, const ScratchpadSpec& scratchpad,
                                        const MatrixPass& pass, Edge edge, const AddressStream& pattern) {
    if (auto mistake = extent_mistake(dataflow, pass, edge)) return mistake;
    const EdgeRead& read = edge == Edge::Left ? pass.left : pass.top;
    const BankedPort port = port_of(edge, scratchpad);
    const bool free = all_conflict_free(port, pattern, read, pass.folds);
    const auto bytes = checked_mul(pattern.vector_bytes().value(), read.vectors);
    const auto lines = checked_mul(most_lines(port, pattern), read.vectors);
    if (!bytes || !lines || (free ? ceil_div(*bytes, port.bytes_a_cycle()) : *lines) > kMostPortCycles)
        return "may take its port more than 2^31 cycles a fold";
    const std::int64_t streamed = shape_of(dataflow, {1}, pass).vectors;
    const bool by_vector = edge == Edge::Left && reads_by_vector(dataflow, read, streamed, pattern);
    // What meets nobody need not be looked at.
    if (free && (by_vector || scratchpad.bank_access == BankAccess::Private)) return std::nullopt;
    const auto pieces =
        checked_mul(most_pieces(port, pattern, read.vectors, by_vector), places(port, read, pass.folds));
    if (!pieces || *pieces > kMostPieces) return "reads more than 2^25 pieces that may meet in a bank";
    return std::nullopt;
}

std::optional<std::string> pattern_mistake(const ScratchpadSpec& scratchpad, const AddressStream& pattern) {
    const BankedPort port = port_of(Edge::Left, scratchpad);
    const auto lines = checked_mul(most_lines(port, pattern), pattern.vectors());
    if (!lines || *lines > kMostPortCycles) return "may take its banks more than 2^31 cycles";
    if (most_pieces(port, pattern, pattern.vectors(), false) > kMostPieces)
        return "has more than 2^25 pieces that may meet in a bank";
    return std::nullopt;
}

}  // namespace systole::systolic
