// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/mxu/pe_grid.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/base/check.h"

namespace systole {

template <class Arithmetic>
PeGrid<Arithmetic>::PeGrid(const ArraySpec& spec, std::shared_ptr<Accumulators<Arithmetic>> below)
    : Core(spec, spec.shadow_register, std::move(below)),
      loader_(spec.rows, spec.shadow_register),
      tile_rows_(spec.cols),
      last_fed_(spec.accumulator_rows, kLongAgo) {}

template <class Arithmetic>
void PeGrid<Arithmetic>::advance(Cycles to) {
    SYSTOLE_CHECK(to >= now_, "time went back from cycle {} to {}", now_.value(), to.value());
    while (now_ < to) {
        if (still()) {
            const Cycles wakes = std::min(to, std::max(now_, loader_.next_shift()));
            if (wakes > now_) accumulators_.rest();
            now_ = wakes;
            stream_.clear();
            tile_rows_.clear();
            if (now_ == to) return;
        }
        cycle();
    }
}

/// Nothing moves in any register until a shift begins or a pass starts.
template <class Arithmetic>
bool PeGrid<Arithmetic>::still() const {
    return stream_.idle() && tiles_moving_ == 0 && array_.empty() && accumulators_.settled();
}

template <class Arithmetic>
void PeGrid<Arithmetic>::tile_arrives(Cycles at, const Tile& tile, Matrix<Operand> values) {
    check_tile(spec_, tile);
    SYSTOLE_CHECK(values.fits(tile.rows, tile.cols), "{} values for a tile of {} x {}", values.values.size(),
                  tile.rows, tile.cols);
    SYSTOLE_CHECK(at >= now_, "a tile for cycle {} came at {}", at.value(), now_.value());
    loader_.arrive(at);
    fifo_.push_back({{tile, {}, {}}, std::move(values)});
}

template <class Arithmetic>
Cycles PeGrid<Arithmetic>::earliest_start(const Pass& pass) const {
    check_pass(spec_, pass);
    check_order(pass, kept_);
    const bool tile_in = !pass.new_tile || loader_.full();
    if (tile_in && stream_.free() && (!pass.accumulate || accumulators_ready(pass))) return now_;
    return next_event();
}

/// Asks the scoreboard for every row that `pass` would feed if it started now.
template <class Arithmetic>
bool PeGrid<Arithmetic>::accumulators_ready(const Pass& pass) const {
    return every_feed(pass, now_, [&](std::int64_t vector, Cycles cycle) {
        return last_fed_[pass.accumulator_row + vector] + spec_.accumulator_latency <= cycle;
    });
}

template <class Arithmetic>
void PeGrid<Arithmetic>::start(const Pass& pass, Matrix<Operand> left, Matrix<Operand> top) {
    SYSTOLE_CHECK(earliest_start(pass) == now_, "a pass was started in cycle {}, before it can",
                  now_.value());
    if (pass.new_tile) {
        loader_.use();
        in_use_ = tiles_.back().shifted;
    }
    SYSTOLE_CHECK(left.fits(pass.vectors, in_use_.shape.rows) && top.values.empty(),
                  "{} values for {} vectors of {}", left.values.size(), pass.vectors, in_use_.shape.rows);
    kept_ = !pass.last_use;
    PassTimes& times = stream_.start(pass, in_use_.shape, std::move(left), {}).report.times;
    times.shift_start = in_use_.start;
    times.shift_end = in_use_.end;
}

template <class Arithmetic>
void PeGrid<Arithmetic>::cycle() {
    feed_vectors();
    feed_tile();
    array_.clock();
    const Token& entered = stream_.tap(0);
    if (array_.pe(0, 0).valid && entered.vector == 0) entered.pass->report.times.start = now_;
    note_shift();
    stream_.count(array_.counts, spec_.cols, now_);
    collect_sums();
    accumulators_.clock();
    now_ += Cycles(1);
}

template <class Arithmetic>
void PeGrid<Arithmetic>::feed_vectors() {
    const Token& fed = stream_.clock(now_);
    if (fed.pass != nullptr) last_fed_[fed.pass->pass.accumulator_row + fed.vector] = now_;
    for (int row = 0; row < spec_.rows; ++row) {
        const Token& token = stream_.tap(row);
        const bool real = token.pass != nullptr && row < token.pass->tile.rows;
        array_.left.operand[row] = real ? token.pass->left.at(token.vector, row) : Operand{};
        array_.left.valid[row] = token.pass != nullptr;
        array_.left.swap[row] = token.first_of_tile();
    }
}

template <class Arithmetic>
void PeGrid<Arithmetic>::feed_tile() {
    const std::int32_t step = loader_.clock(now_);
    if (step == 0) {
        tiles_.push_back(std::move(fifo_.front()));
        fifo_.pop_front();
    }
    tile_rows_.push(step == kNoStep ? RowToken{} : RowToken{&tiles_.back(), step});

    for (int col = 0; col < spec_.cols; ++col) {
        const RowToken& token = tile_rows_.tap(col);
        array_.top.step[col] = token.step;
        if (token.tile == nullptr) continue;
        const int row = spec_.rows - 1 - token.step;
        const bool real = row < token.tile->shifted.shape.rows && col < token.tile->shifted.shape.cols;
        array_.top.operand[col] = real ? token.tile->values.at(row, col) : Operand{};
        array_.top.real[col] = real;
    }
}

template <class Arithmetic>
void PeGrid<Arithmetic>::note_shift() {
    const RowToken& first = tile_rows_.tap(0);
    if (first.tile != nullptr && first.step == 0) {
        first.tile->shifted.start = now_;
        ++tiles_moving_;
    }
    if (first.tile != nullptr && first.step == spec_.rows - 1) {
        first.tile->shifted.end = now_ + Cycles(1);
        ++tiles_shifted_;
    }
    const RowToken& last = tile_rows_.tap(spec_.cols - 1);
    if (last.tile == nullptr || last.step != spec_.rows - 1) return;
    --tiles_moving_;
    while (&tiles_.front() != last.tile) tiles_.pop_front();  // this one itself may not be in use yet
}

template <class Arithmetic>
void PeGrid<Arithmetic>::collect_sums() {
    for (int col = 0; col < spec_.cols; ++col) {
        const Token& token = stream_.tap(spec_.rows - 1 + col);
        if (token.pass == nullptr) continue;
        const Pass& pass = token.pass->pass;
        accumulators_.issue(pass.accumulator_row + token.vector, col, array_.sums()[col], pass.accumulate);
    }
    const Token& last = stream_.tap(spec_.rows + spec_.cols - 2);
    if (!last.last_of_pass()) return;
    if (!spec_.shadow_register && last.last_of_tile()) loader_.release();
    stream_.finish(*last.pass, now_ + Cycles(1));
}

template <class Arithmetic>
Cycles PeGrid<Arithmetic>::next_event() const {
    if (!still()) return now_ + Cycles(1);
    return loader_.next_shift() == kNever ? kNever : std::max(now_ + Cycles(1), loader_.next_shift());
}

template <class Arithmetic>
Cycles PeGrid<Arithmetic>::dry() const {
    if (kept_ || loader_.holds_tile()) return kNever;
    // What PEs multiplied in the last clock has left them.
    const bool empty = stream_.idle() && tiles_moving_ == 0 && accumulators_.settled();
    return empty ? now_ : now_ + Cycles(1);
}

template class PeGrid<Int8Arithmetic>;
template class PeGrid<Float32Arithmetic>;

}  // namespace systole
