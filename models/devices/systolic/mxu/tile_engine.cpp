// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/mxu/tile_engine.h"

#include <algorithm>
#include <numeric>

#include "sim/base/check.h"

namespace systole {

namespace {

/// floor((first + k) * rate) for k = 0, 1, 2 … without a division per step.
class FloorSequence {
public:
    FloorSequence(Rational rate, std::int64_t first)
        : whole_(rate.num / rate.den),
          part_(rate.num % rate.den),
          den_(rate.den),
          value_(rate.floor_times(first)),
          remainder_(first * rate.num % rate.den) {}

    std::int64_t value() const { return value_; }
    void next() {
        value_ += whole_;
        remainder_ += part_;
        if (remainder_ >= den_) {
            remainder_ -= den_;
            ++value_;
        }
    }

private:
    std::int64_t whole_, part_, den_, value_, remainder_;
};

/// The greatest floor((u + k) * a) - floor((t + k) * b) over k = 0 … count - 1. The difference repeats every
/// lcm(a.den, b.den) steps but for a constant drift, so one period at the end it drifts up to is enough.
std::int64_t greatest_lead(Rational a, std::int64_t u, Rational b, std::int64_t t, std::int64_t count) {
    if (a == b && u == t) return 0;
    const std::int64_t period = a.den / std::gcd(a.den, b.den) * b.den;
    const std::int64_t steps = std::min(count, period);
    const std::int64_t skipped = a.num * b.den > b.num * a.den ? count - steps : 0;
    FloorSequence before(a, u + skipped), after(b, t + skipped);
    std::int64_t lead = before.value() - after.value();
    for (std::int64_t k = 1; k < steps; ++k) {
        before.next();
        after.next();
        lead = std::max(lead, before.value() - after.value());
    }
    return lead;
}

}  // namespace

void TileEngine::tile_arrives(Cycles at, const Tile& tile) {
    ClosedFormEngine::tile_arrives(at, tile);
    plan_shift();
}

/// Fixes the shift of the next tile once both the tile and the cycle that frees its register are known.
void TileEngine::plan_shift() {
    if (entering_ || tiles_.empty() || register_free_ == kNever) return;
    const Cycles start = std::max(tiles_.front().at, register_free_);
    entering_ = Shift{start, start + Cycles(spec_.rows), tiles_.front().tile};
    tiles_.pop_front();
    register_free_ = kNever;
}

std::int64_t TileEngine::tiles_shifted() const {
    return tiles_used_ + (entering_ && entering_->end <= now_ ? 1 : 0);
}

Cycles TileEngine::earliest_start(const Pass& pass) const {
    check_pass(spec_, pass);
    check_order(pass, kept_);
    Cycles earliest = std::max(now_, stream_end_);
    if (pass.new_tile) {
        if (!entering_) return kNever;
        earliest = std::max(earliest, entering_->end);
    }
    return pass.accumulate ? std::max(earliest, accumulator_free(pass)) : earliest;
}

/// The first start at which every row `pass` adds onto is `accumulator_latency` cycles old.
Cycles TileEngine::accumulator_free(const Pass& pass) const {
    Cycles free;
    for (const Writer& writer : writers_) {
        const std::int64_t low = std::max(writer.row, pass.accumulator_row);
        const std::int64_t high = std::min(writer.row + writer.vectors, pass.accumulator_row + pass.vectors);
        if (low >= high) continue;
        const std::int64_t lead = greatest_lead(writer.rate, low - writer.row, pass.cycles_per_vector,
                                                low - pass.accumulator_row, high - low);
        free = std::max(free, writer.start + Cycles(lead) + spec_.accumulator_latency);
    }
    return free;
}

void TileEngine::start(const Pass& pass) {
    SYSTOLE_CHECK(earliest_start(pass) == now_, "a pass was started in cycle {}, before it can",
                  now_.value());
    if (pass.new_tile) {
        in_use_ = *entering_;
        entering_.reset();
        ++tiles_used_;
        if (spec_.shadow_register) register_free_ = now_;
    }
    kept_ = !pass.last_use;
    const PassTimes times = times_of(pass);
    stream_end_ = times.stream_end;
    settled_ = times.done + spec_.accumulator_latency - Cycles(1);
    if (!spec_.shadow_register && pass.last_use) register_free_ = times.done;
    plan_shift();

    running_.start(spec_, in_use_.tile, pass, times);
    const Cycles last_fed = now_ + Cycles(pass.cycles_per_vector.floor_times(pass.vectors - 1));
    while (!writers_.empty() && writers_.front().settled <= stream_end_) writers_.pop_front();
    writers_.push_back({now_, last_fed + spec_.accumulator_latency, pass.accumulator_row, pass.vectors,
                        pass.cycles_per_vector});
}

PassTimes TileEngine::times_of(const Pass& pass) const {
    const Rational rate = pass.cycles_per_vector;
    const Cycles last_fed = now_ + Cycles(rate.floor_times(pass.vectors - 1));
    return {.shift_start = in_use_.start,
            .shift_end = in_use_.end,
            .start = now_,
            .stream_end = now_ + Cycles(rate.ceil_times(pass.vectors)),
            .done = last_fed + Cycles(spec_.rows + spec_.cols - 1)};
}

Cycles TileEngine::next_event() const {
    const Cycles tile_in = entering_ && entering_->end > now_ ? entering_->end : kNever;
    return std::min(tile_in, running_.next_finish(now_));
}

}  // namespace systole
