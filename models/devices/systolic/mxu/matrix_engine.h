// SPDX-License-Identifier: Apache-2.0
// One weight-stationary matrix unit (MXU) of R rows and C columns, as its sequencer sees it: weight tiles
// arrive and are shifted in, passes of T vectors stream through, results drop into the accumulators below.
// Two engines stand behind this interface and agree to the cycle: TileEngine (closed form) and PeGrid
// (register-accurate).
#pragma once

#include <cstdint>
#include <optional>

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
    /// A second weight register per PE: the next tile is shifted in while passes run.
    bool shadow_register = true;
    /// Cycles from reading an accumulator row until the sum written to it can be read; >= 1.
    Cycles accumulator_latency{1};
    /// Rows of `cols` accumulators.
    std::int64_t accumulator_rows = 2048;
};

/// A weight tile: the part of the R x C array that holds real weights; the rest is padding.
struct Tile {
    int rows = 1;  ///< r, 1 … R: reduction elements per vector
    int cols = 1;  ///< c, 1 … C: results per vector
};

/// One pass: `vectors` rows of the moving matrix stream over one stationary tile. A pass is rigid: once
/// started, vector t enters row 0 in cycle start + floor(t * cycles_per_vector), whatever happens elsewhere.
struct Pass {
    std::int64_t vectors = 1;      ///< T, 1 … 2^31 - 1
    Rational cycles_per_vector{};  ///< port schedule, >= 1; terms below 2^31
    bool new_weights = true;       ///< uses the next tile in order; otherwise the tile of the pass before
    /// No later pass keeps this tile: the pass after this one has `new_weights`. Without a shadow register
    /// this is what lets the next tile in once the pass has drained.
    bool last_use = true;
    bool accumulate = false;           ///< adds onto the accumulator rows instead of overwriting them
    std::int64_t accumulator_row = 0;  ///< vector t goes to row accumulator_row + t
};

/// When a pass did what, in cycles of the array clock; ends are exclusive.
struct PassTimes {
    Cycles shift_start;  ///< the pass's tile starts to be shifted in (of a kept tile: when it was)
    Cycles shift_end;    ///< = shift_start + R; the skewed columns follow one cycle each
    Cycles start;        ///< vector 0 is multiplied in PE(0,0)
    Cycles stream_end;   ///< = start + ceil(T * cycles_per_vector): the operand port is free again
    Cycles done;         ///< the last result has been issued to the last column's accumulator

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

/// Use: at every cycle of interest, advance() to it, tell what arrived, take what finished, ask, start. Time
/// starts at cycle 0. A pass can start when its tile is in, the stream before it has ended, and every
/// accumulator row it adds onto was fed at least `accumulator_latency` cycles before it is fed again: for
/// every vector t, and every earlier pass p whose vector u went to the same row,
///     start + floor(t * rate) >= p.start + floor(u * p.rate) + accumulator_latency.
/// Sums of a finished pass are readable from done + accumulator_latency - 1.
class MatrixEngine {
public:
    virtual ~MatrixEngine() = default;

    /// The current cycle; everything before it has happened.
    virtual Cycles now() const = 0;
    /// Lets time pass until `to` (>= now). Cycle `to` itself has not happened yet.
    virtual void advance(Cycles to) = 0;

    /// The next tile lies complete in the weight FIFO from cycle `at` on (>= now, and not before its
    /// predecessor). It is shifted in as soon as a register is free: with a shadow register from the start of
    /// the pass that swaps its predecessor out of it, otherwise from `done` of the predecessor's last use.
    virtual void weights_arrive(Cycles at, const Tile& tile) = 0;
    /// Tiles completely shifted in so far (shift_end <= now): their places in the FIFO are free.
    virtual std::int64_t tiles_shifted() const = 0;

    /// now() if `pass` can start now; else the first cycle at which the answer may be yes (ask again then);
    /// kNever if that takes another weights_arrive().
    virtual Cycles earliest_start(const Pass& pass) const = 0;
    /// Starts `pass` now; earliest_start(pass) must be now().
    virtual void start(const Pass& pass) = 0;

    /// The first cycle after now() at which a pass may finish or a tile may be in; kNever: nothing is on its
    /// way.
    virtual Cycles next_event() const = 0;
    /// The oldest pass not yet taken, once both its done and its stream_end are <= now() (on a small array a
    /// slow port may be busy longer than the array). Passes finish in the order they start.
    virtual std::optional<PassReport> take_finished() = 0;
};

}  // namespace systole
