// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/mxu/pe_grid.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/base/check.h"

namespace systole {

namespace {

/// A row that no vector was ever fed for: old enough for any latency.
constexpr Cycles kLongAgo{std::numeric_limits<std::int64_t>::min() / 2};

}  // namespace

template <class Arithmetic>
PeGrid<Arithmetic>::PeGrid(const ArraySpec& spec)
    : spec_((check_array(spec), spec)),
      loader_(spec.rows, spec.shadow_register),
      array_(spec.rows, spec.cols, spec.shadow_register),
      accumulators_(spec.accumulator_rows, spec.cols, spec.accumulator_latency.value()),
      vectors_(spec.rows + spec.cols - 1),
      tile_rows_(spec.cols),
      last_fed_(spec.accumulator_rows, kLongAgo) {}

template <class Arithmetic>
void PeGrid<Arithmetic>::advance(Cycles to) {
    SYSTOLE_CHECK(to >= now_, "time went back from cycle {} to {}", now_.value(), to.value());
    while (now_ < to) {
        if (still()) {
            now_ = std::min(to, std::max(now_, loader_.next_shift()));
            vectors_.clear();
            tile_rows_.clear();
            if (now_ == to) return;
        }
        cycle();
    }
}

/// Nothing moves in any register until a shift begins or a pass starts.
template <class Arithmetic>
bool PeGrid<Arithmetic>::still() const {
    return in_array_ == 0 && port_.free() && tiles_moving_ == 0 && accumulators_.settled();
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
    SYSTOLE_CHECK(pass.new_tile == !kept_, "a pass {} tile after one that {}",
                  pass.new_tile ? "with a new" : "that keeps its", kept_ ? "keeps it" : "was its last use");
    const bool tile_in = !pass.new_tile || loader_.full();
    if (tile_in && port_.free() && (!pass.accumulate || accumulators_ready(pass))) return now_;
    return next_event();
}

/// Asks the scoreboard for every row that `pass` would feed if it started now.
template <class Arithmetic>
bool PeGrid<Arithmetic>::accumulators_ready(const Pass& pass) const {
    StreamPort rehearsal;
    rehearsal.start(pass);
    Cycles cycle = now_;
    for (; !rehearsal.free(); cycle += Cycles(1)) {
        const std::int64_t vector = rehearsal.clock();
        if (vector == StreamPort::kNone) continue;
        if (last_fed_[pass.accumulator_row + vector] + spec_.accumulator_latency > cycle) return false;
    }
    return true;
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
    port_.start(pass);
    RunningPass& running = passes_.emplace_back();
    running.pass = pass;
    running.tile = in_use_.shape;
    running.left = std::move(left);
    running.report.times.shift_start = in_use_.start;
    running.report.times.shift_end = in_use_.end;
    ++in_array_;
}

template <class Arithmetic>
void PeGrid<Arithmetic>::cycle() {
    feed_vectors();
    feed_tile();
    array_.clock();
    const VectorToken& entering = vectors_.tap(0);
    if (array_.pe(0, 0).valid && entering.vector == 0) entering.pass->report.times.start = now_;
    note_shift();
    collect_sums();
    accumulators_.clock();
    now_ += Cycles(1);
}

template <class Arithmetic>
void PeGrid<Arithmetic>::feed_vectors() {
    const bool streaming = !port_.free();
    const std::int64_t vector = port_.clock();
    VectorToken entering;
    if (vector != StreamPort::kNone) {
        entering = {&passes_.back(), vector};
        last_fed_[passes_.back().pass.accumulator_row + vector] = now_;
    }
    if (streaming && port_.free()) {
        passes_.back().report.times.stream_end = now_ + Cycles(1);
        passes_.back().streamed = true;
    }
    vectors_.push(entering);

    for (int row = 0; row < spec_.rows; ++row) {
        const VectorToken& token = vectors_.tap(row);
        const bool valid = token.pass != nullptr;
        const bool real = valid && row < token.pass->tile.rows;
        array_.left.activation[row] = real ? token.pass->left.at(token.vector, row) : Operand{};
        array_.left.valid[row] = valid;
        array_.left.swap[row] = valid && token.vector == 0 && token.pass->pass.new_tile;
    }
}

template <class Arithmetic>
void PeGrid<Arithmetic>::feed_tile() {
    const std::int32_t step = loader_.clock(now_);
    if (step == 0) {
        tiles_.push_back(std::move(fifo_.front()));
        fifo_.pop_front();
    }
    tile_rows_.push(step == TileLoader::kNone ? RowToken{} : RowToken{&tiles_.back(), step});

    for (int col = 0; col < spec_.cols; ++col) {
        const RowToken& token = tile_rows_.tap(col);
        array_.top.step[col] = token.step;
        if (token.tile == nullptr) continue;
        const int row = spec_.rows - 1 - token.step;
        const bool real = row < token.tile->shifted.shape.rows && col < token.tile->shifted.shape.cols;
        array_.top.weight[col] = real ? token.tile->values.at(row, col) : Operand{};
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
        const VectorToken& token = vectors_.tap(spec_.rows - 1 + col);
        const int visits = array_.visits()[col];
        const int hits = array_.hits()[col];
        SYSTOLE_CHECK(visits == (token.pass == nullptr ? 0 : spec_.rows),
                      "a sum passed {} of {} rows to column {} in cycle {}", visits, spec_.rows, col,
                      now_.value());
        if (token.pass == nullptr) continue;
        const Pass& pass = token.pass->pass;
        accumulators_.issue(pass.accumulator_row + token.vector, col, array_.sums()[col], pass.accumulate);
        token.pass->report.useful_slots += hits;
        token.pass->report.padding_slots += visits - hits;
        if (col == spec_.cols - 1 && token.vector == pass.vectors - 1) note_done(*token.pass);
    }
}

template <class Arithmetic>
void PeGrid<Arithmetic>::note_done(RunningPass& running) {
    running.report.times.done = now_ + Cycles(1);
    running.done = true;
    --in_array_;
    if (!spec_.shadow_register && running.pass.last_use) loader_.release();
}

template <class Arithmetic>
Cycles PeGrid<Arithmetic>::next_event() const {
    if (!still()) return now_ + Cycles(1);
    return loader_.next_shift() == kNever ? kNever : std::max(now_ + Cycles(1), loader_.next_shift());
}

template <class Arithmetic>
std::optional<PassReport> PeGrid<Arithmetic>::take_finished() {
    if (passes_.empty() || !passes_.front().done || !passes_.front().streamed) return std::nullopt;
    const PassReport report = passes_.front().report;
    passes_.pop_front();
    return report;
}

template class PeGrid<Int8Arithmetic>;
template class PeGrid<Float32Arithmetic>;

}  // namespace systole
