// SPDX-License-Identifier: Apache-2.0
// One matrix unit (MXU) of R rows and C columns, as its sequencer sees it: tiles take their place in the
// array, passes of T vectors stream through, results drop into the accumulators below. Two engines stand
// behind this interface for every dataflow and agree to the cycle: closed form and register-accurate.
#pragma once

#include <cstdint>
#include <optional>

#include "models/devices/systolic/mxu/dataflow.h"
#include "models/devices/systolic/mxu/rational.h"
#include "sim/base/units.h"

namespace systole {

/// The answer "not before something else is told to the engine".
constexpr Cycles kNever = Cycles::max();

constexpr int kMaxExtent = 32767;

/// What the array is built of. Both extents 1 … kMaxExtent.
struct ArraySpec {
    int rows = 128;
    int cols = 128;
    Dataflow dataflow = Dataflow::WeightStationary;
    /// A second register per PE. ws, is: the next tile is shifted in while passes run. os: results are
    /// shifted out of it while the next pass runs. Without it a tile begins when the one before is `done`.
    bool shadow_register = true;
    /// os: results leave through the PEs below, R cycles a column. Off: a bus per column takes the result of
    /// PE(i,j) in the cycle of its last product, as the accumulators below a column do in the other
    /// dataflows.
    bool result_shift = true;
    /// Cycles from reading an accumulator row until the sum written to it can be read; >= 1.
    Cycles accumulator_latency{1};
    /// Rows of `cols` accumulators.
    std::int64_t accumulator_rows = 2048;
    /// The array takes every dataflow; `dataflow` is what it is set up for at first.
    bool reconfigurable = false;
    /// Cycles from when it has run dry until an array that is set up anew takes a tile or a pass; >= 0.
    Cycles dataflow_switch{0};
};

/// A stationary tile, of weights (ws), inputs (is) or outputs (os): the part of the R x C array that is real;
/// the rest is padding.
struct Tile {
    int rows = 1;  ///< r, 1 … R: reduction elements per vector (ws, is); output rows (os)
    int cols = 1;  ///< c, 1 … C: results per vector (ws, is); output columns (os)
};

/// One pass: `vectors` vectors stream over one stationary tile. ws, is: rows of the moving matrix, each
/// giving one accumulator row. os: columns of the one operand from the left with rows of the other from
/// above, all giving the same r x c outputs. A pass is rigid: once started, vector t enters PE(0,0) in cycle
/// start + floor(t * cycles_per_vector), whatever happens elsewhere.
struct Pass {
    std::int64_t vectors = 1;      ///< T, 1 … 2^31 - 1
    Rational cycles_per_vector{};  ///< port schedule, >= 1; terms below 2^31
    bool new_tile = true;          ///< uses the next tile in order; otherwise the tile of the pass before
    /// No later pass keeps this tile: the pass after this one has `new_tile`. Without a shadow register
    /// this is what lets the next tile in once the pass has drained. os: its outputs leave the array.
    bool last_use = true;
    /// Adds onto the accumulator rows instead of overwriting them. os: read of the last use of a tile only.
    bool accumulate = false;
    std::int64_t accumulator_row = 0;  ///< ws, is: vector t goes to row accumulator_row + t; os: output row i
                                       ///< of the tile to row accumulator_row + i
};

/// When a pass did what, in cycles of the array clock; ends are exclusive.
struct PassTimes {
    /// ws, is: the pass's tile starts to be shifted in (of a kept tile: when it was). os: column 0 starts to
    /// shift results out, R cycles after the last vector was fed; = done for a pass after which the tile is
    /// kept, or without result_shift.
    Cycles shift_start;
    Cycles shift_end;   ///< = shift_start + R; the skewed columns follow one cycle each. os, without: = done
    Cycles start;       ///< vector 0 is multiplied in PE(0,0)
    Cycles stream_end;  ///< = start + ceil(T * cycles_per_vector): the operand port is free again
    /// The last result has been issued to the last column's accumulator; os, tile kept: the last product has
    /// been added in PE(R-1,C-1).
    Cycles done;

    friend bool operator==(const PassTimes&, const PassTimes&) = default;
};

/// A finished pass: its times, and its MAC slots (one PE for one cycle) with real and with padding operands.
struct PassReport {
    PassTimes times;
    std::int64_t useful_slots = 0;   ///< T * r * c of its tile
    std::int64_t padding_slots = 0;  ///< T * (R * C - r * c)

    friend bool operator==(const PassReport&, const PassReport&) = default;
};

/// Checks the ranges stated above: of the array itself, and of a tile and a pass on it.
void check_array(const ArraySpec& spec);
void check_tile(const ArraySpec& spec, const Tile& tile);
void check_pass(const ArraySpec& spec, const Pass& pass);
/// os: checks that the outputs of `tile` fit into the accumulators, if `pass` is the tile's last use.
void check_outputs(const ArraySpec& spec, const Tile& tile, const Pass& pass);
/// Checks that a pass brings a new tile just when the one before did not keep its own.
void check_order(const Pass& pass, bool kept);

/// Use: at every cycle of interest, advance() to it, tell what arrived, take what finished, ask, start. Time
/// starts at cycle 0. A pass can start when its tile is in, the stream before it has ended, and every
/// accumulator row it adds onto was fed at least `accumulator_latency` cycles before it is fed again: for
/// every vector t, and every earlier pass p whose vector u went to the same row,
///     start + floor(t * rate) >= p.start + floor(u * p.rate) + accumulator_latency.
/// os: the same of the cycles in which the results leave column 0; and the last vectors of consecutive tiles
/// are fed at least R cycles apart, because a column has one way out, for a result a cycle. Sums of a
/// finished pass are readable from done + accumulator_latency - 1.
class MatrixEngine {
public:
    virtual ~MatrixEngine() = default;

    /// The current cycle; everything before it has happened.
    virtual Cycles now() const = 0;
    /// Lets time pass until `to` (>= now). Cycle `to` itself has not happened yet.
    virtual void advance(Cycles to) = 0;

    /// The next tile can be shifted in from cycle `at` on (>= now, and not before its predecessor). It is, as
    /// soon as a register is free: with a shadow register from the start of the pass that swaps its
    /// predecessor out of it, otherwise from `done` of the predecessor's last use. os: nothing is shifted in;
    /// the tile is the outputs of the next pass with `new_tile`, which cannot start before `at`.
    virtual void tile_arrives(Cycles at, const Tile& tile) = 0;
    /// Tiles completely shifted in so far (shift_end <= now): their places in the FIFO are free. os: tiles
    /// whose first pass has started.
    virtual std::int64_t tiles_shifted() const = 0;

    /// now() if `pass` can start now; else the first cycle at which the answer may be yes (ask again then);
    /// kNever if that takes another tile_arrives().
    virtual Cycles earliest_start(const Pass& pass) const = 0;
    /// Starts `pass` now; earliest_start(pass) must be now().
    virtual void start(const Pass& pass) = 0;

    /// The first cycle after now() at which a pass may finish or a tile may be in; kNever: nothing is on its
    /// way.
    virtual Cycles next_event() const = 0;
    /// now() if nothing is in the array: no vector, no sum that cannot be read yet, and no tile that a pass
    /// is still to use, in a register, on its way there or told; else the first cycle at which the answer may
    /// be yes; kNever: a pass has to come first.
    virtual Cycles dry() const = 0;
    /// Sets a reconfigurable array that is dry() up for `dataflow`. Tiles and passes told from now on are of
    /// that dataflow; the first of them enters `dataflow_switch` cycles later at the earliest. Accumulators
    /// keep what they hold.
    virtual void set_up(Dataflow dataflow);

    /// The oldest pass not yet taken, once both its done and its stream_end are <= now() (on a small array a
    /// slow port may be busy longer than the array). Passes finish in the order they start.
    virtual std::optional<PassReport> take_finished() = 0;
};

}  // namespace systole
