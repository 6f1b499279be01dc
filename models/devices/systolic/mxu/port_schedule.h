// SPDX-License-Identifier: Apache-2.0
// How fast a banked scratchpad port can deliver a pass's vectors: an affine stream of addresses against banks
// gives cycles per vector as one rational, and accesses by bank for whoever else wants these banks. Both
// engines take this number, neither computes it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/devices/systolic/mxu/rational.h"
#include "models/memory/scratchpad/bank_map.h"
#include "sim/base/units.h"

namespace systole {

/// Lines of `bank_width` bytes lie in `banks` banks as `map` says; every bank serves `lines` a cycle.
struct BankedPort {
    int banks = 1;
    Bytes bank_width{1};
    BankMapKind kind = BankMapKind::Interleaved;
    int lines = 1;

    BankMap map() const { return {banks, kind}; }
    /// What the port serves per cycle at most.
    std::int64_t bytes_a_cycle() const { return lines * banks * bank_width.value(); }
    /// Bytes after which places repeat: a stream costs the same wherever it begins, modulo this.
    std::int64_t period() const { return map().period() * bank_width.value(); }
};

/// One level of a nested loop over vectors.
struct StreamLevel {
    std::int64_t count = 1;
    Bytes stride;
};

/// A contiguous piece of a vector.
struct Segment {
    Bytes offset;
    Bytes bytes;
};

/// Vector (i, j, k) begins at base + i * outer.stride + j * middle.stride + k * inner.stride and consists of
/// its segments; k runs fastest. All addresses are >= 0; every segment has at least one byte.
struct AddressStream {
    Bytes base;
    std::vector<Segment> segments;
    std::array<StreamLevel, 3> levels;  ///< outermost first; unused levels have count 1

    std::int64_t vectors() const { return levels[0].count * levels[1].count * levels[2].count; }
    /// Where vector `number` begins, from the base on.
    Bytes offset_of(std::int64_t number) const;
    Bytes vector_bytes() const;
};

/// Distinct vectors looked at by cycles_per_vector at most.
constexpr std::int64_t kMaxPeriod = 4096;

/// Cycles a vector occupies the port: the greatest number of distinct lines it has in one bank, by those that
/// a bank serves a cycle.
std::int64_t vector_cycles(const BankedPort& port, const AddressStream& stream, Bytes vector_base);

/// Whether no two lines of the stream can meet in a bank, because all of them lie within one turn around the
/// banks (BankMap::distinct): then every vector takes one cycle.
bool conflict_free(const BankedPort& port, const AddressStream& stream, Bytes base);

/// The same, whatever the base.
bool never_conflicts(const BankedPort& port, const AddressStream& stream);

/// Lines that a vector touches at most, wherever it begins.
std::int64_t most_lines(const BankedPort& port, const AddressStream& stream);

/// The mean of vector_cycles over the stream, in lowest terms. Vectors whose addresses differ by a multiple
/// of the port's period cost the same, so every level repeats after a period and only distinct vectors are
/// looked at. Exact while these number at most kMaxPeriod; of more, the first kMaxPeriod count, each as often
/// as it occurs.
Rational cycles_per_vector(const BankedPort& port, const AddressStream& stream);

/// Cycles for vectors first … first + count - 1 when lines go into a buffer in any order: as many as the
/// busiest bank has lines to serve, each once, and no fewer than the bytes need.
std::int64_t buffered_cycles(const BankedPort& port, const AddressStream& stream, std::int64_t first,
                             std::int64_t count);

/// Accesses of a stream by bank: every vector reads each of its lines once. Exact where cycles_per_vector is;
/// else the vectors looked at stand for all.
BankLoad vector_load(const BankedPort& port, const AddressStream& stream);

/// Accesses by bank when lines go into a buffer: of vectors first … first + count - 1, each line once.
BankLoad buffered_load(const BankedPort& port, const AddressStream& stream, std::int64_t first,
                       std::int64_t count);

}  // namespace systole
