// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/mxu/os_grid.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/base/check.h"

namespace systole {

template <class Arithmetic>
OsGrid<Arithmetic>::OsGrid(const ArraySpec& spec, std::shared_ptr<Accumulators<Arithmetic>> below)
    : Core(spec, spec.result_shift, std::move(below)),
      shifts_(spec.cols),
      leaves_column_0_(spec.accumulator_rows, kLongAgo),
      last_released_(kLongAgo) {}

template <class Arithmetic>
void OsGrid<Arithmetic>::advance(Cycles to) {
    SYSTOLE_CHECK(to >= now_, "time went back from cycle {} to {}", now_.value(), to.value());
    while (now_ < to) {
        if (still()) {
            now_ = to;
            accumulators_.rest();
            stream_.clear();
            shifts_.clear();
            return;
        }
        cycle();
    }
}

/// Nothing moves in any register until a pass starts.
template <class Arithmetic>
bool OsGrid<Arithmetic>::still() const {
    return stream_.idle() && array_.empty() && accumulators_.settled();
}

template <class Arithmetic>
void OsGrid<Arithmetic>::tile_arrives(Cycles at, const Tile& tile, Matrix<Operand> values) {
    check_tile(spec_, tile);
    SYSTOLE_CHECK(values.values.empty(), "a tile of outputs came with {} values", values.values.size());
    SYSTOLE_CHECK(at >= now_ && (tiles_.empty() || at >= tiles_.back().at), "a tile for cycle {} came at {}",
                  at.value(), now_.value());
    tiles_.push_back({at, tile});
}

template <class Arithmetic>
Cycles OsGrid<Arithmetic>::earliest_start(const Pass& pass) const {
    check_pass(spec_, pass);
    check_order(pass, kept_);
    if (pass.new_tile && tiles_.empty()) return kNever;
    const Tile& tile = pass.new_tile ? tiles_.front().shape : in_use_;
    if (stream_.free() && tile_ready(pass) && way_out_ready(pass, tile)) return now_;
    const Cycles next = now_ + Cycles(1);
    return still() && pass.new_tile ? std::max(next, tiles_.front().at) : next;
}

template <class Arithmetic>
bool OsGrid<Arithmetic>::tile_ready(const Pass& pass) const {
    return !pass.new_tile || (tiles_.front().at <= now_ && (spec_.shadow_register || stream_.idle()));
}

/// If `pass` started now: would its results meet those of the tile before, or rows that are too young?
template <class Arithmetic>
bool OsGrid<Arithmetic>::way_out_ready(const Pass& pass, const Tile& tile) const {
    if (!pass.last_use) return true;
    Cycles last_fed;
    every_feed(pass, now_, [&](std::int64_t, Cycles cycle) {
        last_fed = cycle;
        return true;
    });
    if (last_fed < last_released_ + Cycles(spec_.rows)) return false;
    for (int row = 0; pass.accumulate && row < tile.rows; ++row)
        if (leaves(last_fed, row) < leaves_column_0_[pass.accumulator_row + row] + spec_.accumulator_latency)
            return false;
    return true;
}

/// When the result of a row leaves column 0: bottom row first through the PEs below, over a bus at once.
template <class Arithmetic>
Cycles OsGrid<Arithmetic>::leaves(Cycles last_fed, int row) const {
    return last_fed + Cycles(spec_.result_shift ? 2 * spec_.rows - 1 - row : row);
}

template <class Arithmetic>
void OsGrid<Arithmetic>::start(const Pass& pass, Matrix<Operand> left, Matrix<Operand> top) {
    SYSTOLE_CHECK(earliest_start(pass) == now_, "a pass was started in cycle {}, before it can",
                  now_.value());
    if (pass.new_tile) {
        in_use_ = tiles_.front().shape;
        tiles_.pop_front();
        ++tiles_begun_;
    }
    check_outputs(spec_, in_use_, pass);
    SYSTOLE_CHECK(left.fits(pass.vectors, in_use_.rows) && top.fits(pass.vectors, in_use_.cols),
                  "{} and {} values for {} vectors onto {} x {}", left.values.size(), top.values.size(),
                  pass.vectors, in_use_.rows, in_use_.cols);
    kept_ = !pass.last_use;
    stream_.start(pass, in_use_, std::move(left), std::move(top));
}

template <class Arithmetic>
void OsGrid<Arithmetic>::cycle() {
    note_feed(stream_.clock(now_));
    feed_left();
    feed_top();
    if (spec_.result_shift) feed_shift();
    array_.clock();
    const Token& entered = stream_.tap(0);
    if (array_.pe(0, 0).valid && entered.vector == 0) entered.pass->report.times.start = now_;
    stream_.count(array_.counts, spec_.cols, now_);
    note_passed();
    note_shift();
    collect_results();
    accumulators_.clock();
    now_ += Cycles(1);
}

template <class Arithmetic>
void OsGrid<Arithmetic>::note_feed(const Token& fed) {
    if (!fed.last_of_tile()) return;
    last_released_ = now_;
    for (int row = 0; row < fed.pass->tile.rows; ++row)
        leaves_column_0_[fed.pass->pass.accumulator_row + row] = leaves(now_, row);
}

template <class Arithmetic>
void OsGrid<Arithmetic>::feed_left() {
    for (int row = 0; row < spec_.rows; ++row) {
        const Token& token = stream_.tap(row);
        const bool real = token.pass != nullptr && row < token.pass->tile.rows;
        array_.left.operand[row] = real ? token.pass->left.at(token.vector, row) : Operand{};
        array_.left.valid[row] = token.pass != nullptr;
        array_.left.real[row] = real;
        array_.left.first[row] = token.first_of_tile();
        array_.left.last[row] = token.last_of_tile();
    }
}

template <class Arithmetic>
void OsGrid<Arithmetic>::feed_top() {
    for (int col = 0; col < spec_.cols; ++col) {
        const Token& token = stream_.tap(col);
        const bool real = token.pass != nullptr && col < token.pass->tile.cols;
        array_.top.operand[col] = real ? token.pass->top.at(token.vector, col) : Operand{};
        array_.top.valid[col] = token.pass != nullptr;
        array_.top.real[col] = real;
    }
}

/// The control of the way out: column 0 begins when its last result is in, the others follow.
template <class Arithmetic>
void OsGrid<Arithmetic>::feed_shift() {
    ShiftToken next = shifts_.tap(0);
    if (next.pass != nullptr)
        next = next.step == spec_.rows - 1 ? ShiftToken{} : ShiftToken{next.pass, next.step + 1};
    if (released_ != nullptr) {
        SYSTOLE_CHECK(next.pass == nullptr, "results of two tiles meet in column 0 in cycle {}",
                      now_.value());
        next = {std::exchange(released_, nullptr), 0};
    }
    shifts_.push(next);
    for (int col = 0; col < spec_.cols; ++col) array_.shift_step[col] = shifts_.tap(col).step;
}

/// What the bottom row multiplied: in column 0 the last product of its results, in column C - 1 of all.
template <class Arithmetic>
void OsGrid<Arithmetic>::note_passed() {
    const Token& first_column = stream_.tap(spec_.rows - 1);
    if (spec_.result_shift && first_column.last_of_tile()) released_ = first_column.pass;
    const Token& last_column = stream_.tap(spec_.rows + spec_.cols - 2);
    if (last_column.last_of_pass() && !last_column.pass->pass.last_use) note_done(*last_column.pass);
}

template <class Arithmetic>
void OsGrid<Arithmetic>::note_shift() {
    const ShiftToken& token = shifts_.tap(0);
    if (token.step == 0) token.pass->report.times.shift_start = now_;
    if (token.step == spec_.rows - 1) token.pass->report.times.shift_end = now_ + Cycles(1);
}

template <class Arithmetic>
void OsGrid<Arithmetic>::collect_results() {
    for (int col = 0; col < spec_.cols; ++col) {
        const int left_at = array_.out.row[col];
        if (left_at == OsArray<Arithmetic>::Outlets::kNone) continue;
        const ShiftToken& shift = shifts_.tap(col);
        const int row = spec_.result_shift ? left_at - shift.step : left_at;
        RunningPass& running = spec_.result_shift ? *shift.pass : *stream_.tap(row + col).pass;
        const Pass& pass = running.pass;
        if (row < running.tile.rows)
            accumulators_.issue(pass.accumulator_row + row, col, array_.out.result[col], pass.accumulate);
        const bool last = row == (spec_.result_shift ? 0 : spec_.rows - 1);
        if (last && col == spec_.cols - 1) note_done(running);
    }
}

template <class Arithmetic>
void OsGrid<Arithmetic>::note_done(RunningPass& running) {
    PassTimes& times = running.report.times;
    const bool shifted = spec_.result_shift && running.pass.last_use;
    if (!shifted) times.shift_start = times.shift_end = now_ + Cycles(1);
    stream_.finish(running, now_ + Cycles(1));
}

template <class Arithmetic>
Cycles OsGrid<Arithmetic>::dry() const {
    if (kept_ || !tiles_.empty()) return kNever;
    // What PEs multiplied in the last clock has left them.
    const bool empty = stream_.idle() && accumulators_.settled();
    return empty ? now_ : now_ + Cycles(1);
}

template class OsGrid<Int8Arithmetic>;
template class OsGrid<Float32Arithmetic>;

}  // namespace systole
