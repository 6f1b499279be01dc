// SPDX-License-Identifier: Apache-2.0
// How passes get into the array of a matrix unit, and why not earlier: every start leaves the whole chain of
// what held it back in the causal log.
#include <algorithm>
#include <utility>

#include "models/devices/systolic/machine/matrix_unit.h"
#include "sim/base/check.h"
#include "sim/kernel/kernel.h"

namespace systole::systolic {

/// Cycles from one vector to the next: those of the slower edge, of unpacking weights that stream, and of a
/// MAC in a PE.
Rational MatrixUnit::spacing(const MatrixPass& pass, std::int64_t vectors) {
    Rational slowest = edges_.rate(dataflow_, pass, head_->fold, vectors);
    if (pass.unpacked && (outputs_stay() || inputs_stay())) {
        const std::int64_t least = unpacking_cycles(spec_.mxu.unpack, pass).value();
        if (slowest.ceil_times(vectors) < least) slowest = Rational::reduced(least, vectors);
    }
    const std::int64_t each = rate(pass).cycles;
    return slowest.num >= each * slowest.den ? slowest : Rational{each, 1};
}

Pass MatrixUnit::next_pass() {
    const MatrixPass& pass = work(head_->entry);
    const bool last_fold = head_->fold == pass.folds - 1;
    const PassShape lies = shape(head_->entry);
    return {.vectors = lies.vectors,
            .cycles_per_vector = spacing(pass, lies.vectors),
            .new_tile = pass.new_tile,
            .last_use = !last_fold || plan_.last_use[commands_started_],
            .accumulate = pass.accumulate || head_->fold > 0,
            .accumulator_row = pass.accumulator_row};
}

bool MatrixUnit::try_start(Cycles cycle) {
    if (!head_) {
        if (queue.empty() || !set_up(cycle) ||
            !record_.tokens_ready(record_.command(queue.front().number), wake_))
            return false;
        head_ = Head{queue.front()};
    }
    const bool brings_tile = direct() && work(head_->entry).new_tile;
    if (brings_tile && !head_->announced) {
        if (!its_turn()) return false;
        announce(cycle);
    }
    const Pass pass = next_pass();
    const Cycles array_free = engine_->earliest_start(pass);
    if (array_free > cycle) {
        wake_at(array_free);
        return false;
    }
    if (!its_turn() || !port_is_free(cycle)) return false;
    start(pass, cycle);
    if (head_ && runs_ahead_) run_ahead(cycle);
    return true;
}

/// Starts the remaining folds of a run, one as early as the one before allows, but none beyond the end of
/// what can be accounted for: the machine says so when its time gets there.
void MatrixUnit::run_ahead(Cycles cycle) {
    while (head_) {
        announce(cycle);
        const Pass pass = next_pass();
        while (engine_->now() < cycle || engine_->earliest_start(pass) != engine_->now()) {
            cycle = std::max(cycle, engine_->earliest_start(pass));
            if (cycle > last_cycle_) return;
            engine_->advance(cycle);
            take_finished();
        }
        start(pass, cycle);
    }
}

/// Where units meet, each acts in its turn only: of those that want to in the same moment, the one whose last
/// stream began longest ago goes first.
bool MatrixUnit::its_turn() {
    if (!meets_ || std::exchange(turn_, false)) return true;
    if (std::exchange(asked_, true)) return false;
    ports_.seat.turns.ask({kMatrixRank, ports_.streams.served(index_).value(), index_}, [this] {
        asked_ = false;
        turn_ = true;
        step();
        turn_ = false;
    });
    return false;
}

bool MatrixUnit::port_is_free(Cycles cycle) {
    const Cycles free = ports_.streams.earliest();
    if (!ports_.streams.contended() || free <= cycle) return true;
    if (port_asked_ == kNever) port_asked_ = cycle;
    wake_at(free);
    return false;
}

/// The rate of a pass that starts now, beside what others have been promised of the banks.
Rational MatrixUnit::rate_in_banks(const Pass& pass, Cycles cycle) {
    const BankSeat& seat = ports_.seat;
    if (!seat.banks.shared()) return pass.cycles_per_vector;
    const MatrixPass& reads = work(head_->entry);
    const Passing passing =
        edges_.by_vector(dataflow_, reads, pass.vectors) ? Passing::ByVector : Passing::Buffered;
    const Cycles least(pass.cycles_per_vector.ceil_times(pass.vectors));
    const ScratchpadBanks::Work streams{BankClient::Streams, cycle, cycle, least};
    BankLoad load = seat.loads.of(reads.left, passing, head_->fold);
    if (outputs_stay()) load.add(seat.loads.of(reads.top, Passing::Buffered, head_->fold));
    const Cycles taken = seat.banks.read(streams, load);
    if (taken == least) return pass.cycles_per_vector;
    return Rational::reduced(std::min(taken.value(), Rational::kMost), pass.vectors);
}

void MatrixUnit::start(const Pass& ready, Cycles cycle) {
    const CommandQueue::Entry entry = head_->entry;
    Pass pass = ready;
    pass.cycles_per_vector = rate_in_banks(ready, cycle);
    const MatrixPass& pass_work = work(entry);
    const bool first_fold = head_->fold == 0, last_fold = head_->fold == pass_work.folds - 1;
    PassTimes expected = expected_times(pass, cycle);
    count_pending(pass, cycle);
    const EventId started = start_event(pass, cycle, expected);
    ports_.streams.reserve(index_, cycle, expected.stream_end, edges_.bytes(pass_work.left));
    ports_.upper.stream(edges_.bytes(pass_work.top));
    if (witnessed_) {
        PassValues values = values_of(dataflow_, record_.command(entry.number).layer, pass_work, head_->fold);
        witnessed_->start(pass, std::move(values.left), std::move(values.top));
    } else {
        engine_->start(pass);
    }
    if (first_fold) queue.pop(started);

    // The stream's time is matrix work: to whoever waits for it, a dependency on an earlier tile.
    auto& log = record_.log();
    const EventId streamed =
        log.add(clock_.edge(expected.stream_end), started, SlotClass::Dependency, entry.number);
    stream_ended_ = {expected.stream_end, streamed};
    last_started_ = started;
    before_ = {last_fed(pass, cycle), expected.done};
    running_.push_back({entry, started, streamed, expected, last_fold, first_fold});
    ++stats_.passes;
    stats_.tiles += pass.new_tile;
    if (last_fold) {
        head_.reset();
        ++commands_started_;
    } else {
        head_->announced = false;
        ++head_->fold;
    }
    if (outputs_stay()) return;
    if (!spec_.mxu.shadow_register) {
        const EventId before = expected.done < expected.stream_end ? started : streamed;
        register_freed_ = {expected.done,
                           log.add(clock_.edge(expected.done), before, SlotClass::Ramp, entry.number)};
    } else if (pass.new_tile) {
        register_freed_ = {cycle, started};
    }
}

Cycles MatrixUnit::last_fed(const Pass& pass, Cycles start) {
    return start + Cycles(pass.cycles_per_vector.floor_times(pass.vectors - 1));
}

/// What the definitions of mxu/matrix_engine.h give, without the shift of a tile that is yet to be looked up.
/// The engines derive the same times from what happens inside the array, and the explorer from formulas of
/// its own; a unit holds every finished pass to its expectation, so that none of them can drift.
PassTimes MatrixUnit::expected_times(const Pass& pass, Cycles start) const {
    const Rational rate = pass.cycles_per_vector;
    const std::int64_t rows = spec_.mxu.rows, cols = spec_.mxu.cols;
    const Cycles fed = last_fed(pass, start);
    PassTimes times;
    times.start = start;
    times.stream_end = start + Cycles(rate.ceil_times(pass.vectors));
    times.done = fed + Cycles(rows + cols - 1);
    if (!outputs_stay()) return times;
    times.shift_start = times.shift_end = times.done;
    if (spec_.faults.os_without_shift_out) return times;
    times.shift_start = fed + Cycles(rows);
    times.shift_end = times.shift_start + Cycles(rows);
    times.done = times.shift_end + Cycles(cols - 1);
    return times;
}

MatrixUnit::EventId MatrixUnit::start_event(const Pass& pass, Cycles cycle, PassTimes& expected) {
    auto& log = record_.log();
    const CommandQueue::Entry& entry = head_->entry;
    EventId tile = CausalLog::kNone;
    if (outputs_stay()) {
        tile = results_out(pass, expected);
    } else {
        if (pass.new_tile) tile = tile_entered_ = tile_in(expected);
        expected.shift_start = tile_in_use_.shift_start;
        expected.shift_end = tile_in_use_.shift_end;
    }
    const EventId ready = log.latest({entry.issued, record_.last_token(record_.command(entry.number)), tile,
                                      stream_ended_.event, set_up_.event});
    // Whatever the chain so far does not explain is either the busy stream port or the accumulator rows,
    // which the pass before still writes.
    const Ticks now = clock_.edge(cycle);
    EventId cause = ready;
    SlotClass owner = SlotClass::OnChip;
    if (port_asked_ != kNever) {
        stats_.port_wait_cycles += (cycle - port_asked_).value();
        cause = log.add(std::max(clock_.edge(port_asked_), log[ready].time), ready, owner, entry.number);
        port_asked_ = kNever;
    } else if (ready != CausalLog::kNone && now < clock_.after(log[ready].time, Cycles(1))) {
        owner = log[ready].owner;  // less than a cycle: only the alignment to the clock's edge
    }
    // Inside a run, what let the fold in is its start.
    if (head_->fold > 0 && log[cause].time == now) return cause;
    return log.add(now, cause, owner, entry.number);
}

/// The event of the new tile's shift, which took the place of the tile before.
MatrixUnit::EventId MatrixUnit::tile_in(PassTimes& expected) {
    auto& log = record_.log();
    const Mark arrived = arrived_.front();
    arrived_.pop_front();
    const std::uint32_t number = head_->entry.number;
    const EventId cause = log.latest({arrived.event, register_freed_.event});
    expected.shift_start = std::max(arrived.cycle, register_freed_.cycle);
    expected.shift_end = expected.shift_start + Cycles(spec_.mxu.rows);
    tile_in_use_ = expected;
    EventId begun = cause;
    if (head_->fold == 0 || log[cause].time < clock_.edge(expected.shift_start))
        begun = log.add(std::max(clock_.edge(expected.shift_start), log[cause].time), cause, log[cause].owner,
                        number);
    return log.add(clock_.edge(expected.shift_end), begun, SlotClass::Ramp, number);
}

/// os: the event from which the results of the tile before are out of this one's way.
MatrixUnit::EventId MatrixUnit::results_out(const Pass& pass, const PassTimes& expected) {
    if (stream_ended_.event == CausalLog::kNone) return CausalLog::kNone;
    auto& log = record_.log();
    Cycles free = before_.done;
    if (spec_.mxu.shadow_register) {
        // The last vectors of consecutive tiles are at least R cycles apart, however results leave.
        const Cycles until_last = last_fed(pass, expected.start) - expected.start;
        free = before_.last_fed + Cycles(spec_.mxu.rows) - until_last;
    }
    free = std::min(free, expected.start);
    if (free <= Cycles(0)) return CausalLog::kNone;  // a stream longer than the run so far
    const Ticks streamed = log[stream_ended_.event].time;
    if (clock_.edge(free) <= streamed) return CausalLog::kNone;
    return log.add(clock_.edge(free), stream_ended_.event, SlotClass::Ramp, head_->entry.number);
}

}  // namespace systole::systolic
