// SPDX-License-Identifier: Apache-2.0
// What a lowered program asks of the arrays, as the arrays see it: tiles of rows x columns and vectors that
// stream, unit by unit and in order, whatever the dataflow; and how the operator's extents were cut for it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/devices/systolic/mxu/matrix_engine.h"
#include "models/devices/systolic/program/program.h"
#include "models/devices/systolic/spec/spec.h"

namespace systole::systolic {

/// The extents of out[m, n] = sum over k of a[m, k] * b[k, n].
enum class Extent : std::uint8_t { M, N, K };
constexpr std::size_t kExtents = 3;
/// "M", "N", "K".
const char* to_string(Extent extent);

/// Which extent lies along which side of the array (mxu/dataflow.h).
struct Orientation {
    Extent rows, columns, streamed;
};
Orientation orientation(Dataflow dataflow);

/// One extent of the operator, cut into pieces: where they begin and how long they are, each once.
class Cut {
public:
    void add(std::int64_t begin, std::int64_t count) { pieces_[begin] = std::max(pieces_[begin], count); }
    std::int64_t extent() const;
    std::int64_t pieces() const { return static_cast<std::int64_t>(pieces_.size()); }
    /// (length, how many), the longest first.
    std::vector<std::pair<std::int64_t, std::int64_t>> lengths() const;
    /// "1 of 4, 1 of 3"; at most three kinds are named.
    std::string text() const;

private:
    std::map<std::int64_t, std::int64_t> pieces_;  // begin -> count
};

/// One pass of an array, a vector every `each` cycles.
struct ArrayPass {
    Tile tile = {};
    std::int64_t vectors = 1;
    bool new_tile = true, last_use = true, accumulate = false;
    std::int64_t accumulator_row = 0;
    std::int64_t each = 1;  ///< cycles for which a vector keeps its PEs
};

/// The passes of a program of one layer. Runs of folds are taken apart.
struct ArrayWork {
    ArraySpec array;
    MacRate rate{1};                            ///< of a PE
    std::vector<std::vector<ArrayPass>> units;  ///< by matrix unit, core by core, in order
    std::array<Cut, kExtents> cuts;             ///< by Extent
    std::int64_t items = 1;                     ///< batch items or groups: products of their own
    std::int64_t vectors = 0, tiles = 0;        ///< of all units: streamed; shifted in (os: opened)
    /// MACs that could be done: in rows with real data; of these, in columns with real data; of these, done.
    std::int64_t row_slots = 0, column_slots = 0, useful_slots = 0;
    bool from_fifo = false;  ///< stationary tiles come from the weight FIFO

    const Cut& cut(Extent extent) const { return cuts[static_cast<std::size_t>(extent)]; }
    std::int64_t passes() const;
    /// Units that have passes at all.
    std::int64_t busy_units() const;
    /// The largest pass: the one worth drawing.
    const ArrayPass& typical() const;
    /// vectors x R x C x MACs of a PE on one: what the passes could do.
    std::int64_t slots() const;
    /// MACs a cycle of one array.
    double peak() const { return static_cast<double>(array.rows) * array.cols * rate.per_cycle(); }
    /// Cycles that all vectors stream.
    std::int64_t stream_cycles() const { return vectors * rate.cycles; }
};

ArrayWork array_work(const Program& program, const SystolicSpec& spec);

}  // namespace systole::systolic
