// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/matrix_unit.h"

#include <algorithm>

#include "sim/base/check.h"
#include "sim/kernel/kernel.h"

namespace systole::systolic {
namespace {

/// "mxu3" -> 3.
int index_of(const char* basename) {
    return std::stoi(std::string(basename).substr(3));
}

}  // namespace

MatrixUnit::Plan MatrixUnit::plan(const Program& program, UnitIndex unit) {
    Plan plan;
    for (const Command& command : program.commands) {
        if (command.unit != unit) continue;
        const MatrixPass& pass = program.pass(command);
        if (pass.new_tile) plan.tiles.push_back(&command);
        if (!plan.last_use.empty()) plan.last_use.back() = pass.new_tile;
        plan.last_use.push_back(true);
    }
    return plan;
}

MatrixUnit::MatrixUnit(sc_core::sc_module_name name, const SystolicSpec& spec, ClockDomain clock,
                       StreamPorts& ports, RunRecord& record, std::unique_ptr<MatrixEngine> engine)
    : sc_module(name),
      queue(spec.sequencer.queue_depth),
      weights("weights", spec.dma, clock, spec.sequencer.queue_depth, record),
      spec_(spec),
      clock_(clock),
      index_(index_of(basename())),
      ports_(ports),
      record_(record),
      plan_(plan(record.program(), unit_index(UnitKind::Matrix, index_))),
      engine_(std::move(engine)),
      witnessed_(dynamic_cast<WitnessedEngine*>(engine_.get())),
      account_(clock, std::int64_t{spec.mxu.rows} * spec.mxu.cols) {
    weights.set_gate({[this] {
                          const auto held =
                              static_cast<std::int64_t>(tiles_started_) - engine_->tiles_shifted();
                          if (held >= spec_.mxu.weight_fifo_tiles) return false;
                          ++tiles_started_;
                          return true;
                      },
                      [this] { return left_fifo_; }});
    weights.on_complete([this](const Command& load, EventId done) {
        fifo_.push_back(&record_.program().transfer(load));
        tile_arrived(done);
    });
    SC_HAS_PROCESS(MatrixUnit);
    SC_METHOD(step);
    sensitive << queue.pushed << wake_;
    dont_initialize();
}

void MatrixUnit::tile_arrived(EventId done) {
    const Cycles cycle = clock_.at_or_after(now());
    arrived_.push_back({cycle, done});
    SYSTOLE_CHECK(tiles_arrived_ < plan_.tiles.size(), "{}: more tiles arrive than passes use", name());
    const Command& user = *plan_.tiles[tiles_arrived_++];
    const MatrixPass& pass = record_.program().pass(user);
    const auto rate = spec_.mxu.rate_of(pass.dtype).value();
    const Tile tile{static_cast<int>(ceil_div(pass.k, rate)), static_cast<int>(pass.n)};
    if (witnessed_)
        witnessed_->tile_arrives(cycle, tile, weights_of(user.layer, pass));
    else
        engine_->tile_arrives(cycle, tile);
    wake_at(cycle);
}

void MatrixUnit::step() {
    const Cycles cycle = clock_.at_or_after(now());
    if (clock_.edge(cycle) > now()) return wake_at(cycle);
    const std::int64_t shifted = engine_->tiles_shifted();
    engine_->advance(cycle);
    if (engine_->tiles_shifted() > shifted) weights.poke();
    take_finished();
    complete_readable(cycle);
    while (try_start(cycle)) {
    }
    wake_at(engine_->next_event());
    if (!running_.empty()) wake_at(running_.front().readable);
}

void MatrixUnit::take_finished() {
    auto running =
        std::find_if(running_.begin(), running_.end(), [](const Running& r) { return r.readable == kNever; });
    while (const auto report = engine_->take_finished()) settle(*running++, *report);
}

void MatrixUnit::settle(Running& running, const PassReport& report) {
    const MatrixPass& pass = record_.program().pass(*running.entry.command);
    const PassTimes& times = report.times;
    SYSTOLE_CHECK(times.shift_start == running.expected.shift_start &&
                      times.start == running.expected.start &&
                      times.stream_end == running.expected.stream_end,
                  "{} at {} ps: the engine and its unit disagree on a pass that started at cycle {}", name(),
                  now().value(), times.start.value());
    running.readable = times.done + spec_.mxu.accumulator_latency - Cycles(1);
    const std::int64_t slots =
        std::int64_t{spec_.mxu.rows} * spec_.mxu.cols * spec_.mxu.rate_of(pass.dtype).value();
    account_.pass(record_.log(), running.started, times.start, Cycles(pass.m), times.stream_end, times.done,
                  slots, pass.k * pass.n);
    if (!spec_.mxu.shadow_register)
        register_freed_ = {times.done, record_.log().add(clock_.edge(times.done), running.streamed,
                                                         SlotClass::Ramp, running.entry.number)};

    const auto layer = static_cast<std::size_t>(running.entry.command->layer);
    auto& ledger = record_.ledger();
    ledger.enter(layer, Place::Scratchpad, Place::Array, Operand::Activations,
                 row_bytes(pass.dtype, pass.k) * pass.m);
    ledger.enter(layer, Place::Array, Place::Accumulator, Operand::PartialSums,
                 Bytes(pass.m * pass.n * kAccumulatorBytes));
    if (pass.new_tile) {
        const Transfer& tile = *fifo_.front();
        fifo_.pop_front();
        ledger.enter(layer, Place::WeightFifo, Place::Array, tile.operand, Bytes(tile.bytes()));
        stats_.tile_bytes += tile.bytes();
    }
    stats_.macs += pass.macs().value();
    stats_.stream_cycles += (times.stream_end - times.start).value();
}

void MatrixUnit::complete_readable(Cycles cycle) {
    while (!running_.empty() && running_.front().readable <= cycle) {
        const Running& oldest = running_.front();
        const auto done = record_.log().add(now(), oldest.streamed, SlotClass::Ramp, oldest.entry.number);
        record_.span(*oldest.entry.command, "pass", record_.log()[oldest.started].time, now());
        record_.complete(*oldest.entry.command, done);
        running_.pop_front();
    }
}

Pass MatrixUnit::next_pass() {
    const MatrixPass& work = record_.program().pass(*queue.front().command);
    return {.vectors = work.m,
            .cycles_per_vector = port_rate(work),
            .new_tile = work.new_tile,
            .last_use = plan_.last_use[static_cast<std::size_t>(stats_.passes)],
            .accumulate = work.accumulate,
            .accumulator_row = work.accumulator_row};
}

bool MatrixUnit::try_start(Cycles cycle) {
    if (queue.empty() || !record_.tokens_ready(*queue.front().command, wake_)) return false;
    const Pass pass = next_pass();
    const Cycles array_free = engine_->earliest_start(pass);
    if (array_free > cycle) {
        wake_at(array_free);
        return false;
    }
    if (!port_is_ours(cycle)) return false;
    start(pass, cycle);
    return true;
}

bool MatrixUnit::port_is_ours(Cycles cycle) {
    if (!ports_.contended()) return true;
    if (!wished_) {
        ports_.wish(index_, sc_core::sc_delta_count());
        wished_ = true;
        wake_.notify(sc_core::SC_ZERO_TIME);
        return false;
    }
    wished_ = false;
    if (ports_.granted(index_, sc_core::sc_delta_count(), cycle)) return true;
    if (port_asked_ == kNever) port_asked_ = cycle;
    wake_at(std::max(ports_.earliest(), cycle));
    return false;
}

void MatrixUnit::start(const Pass& pass, Cycles cycle) {
    const CommandQueue::Entry entry = queue.front();
    const MatrixPass& work = record_.program().pass(*entry.command);
    PassTimes expected;
    const EventId started = start_event(pass, expected);
    expected.start = cycle;
    expected.stream_end = cycle + Cycles(pass.cycles_per_vector.ceil_times(pass.vectors));
    ports_.reserve(index_, cycle, expected.stream_end, row_bytes(work.dtype, work.k) * work.m);
    if (witnessed_)
        witnessed_->start(pass, activations_of(entry.command->layer, work), {});
    else
        engine_->start(pass);
    queue.pop(started);

    // The stream's time is matrix work: to whoever waits for it, a dependency on an earlier tile.
    const EventId streamed =
        record_.log().add(clock_.edge(expected.stream_end), started, SlotClass::Dependency, entry.number);
    stream_ended_ = {expected.stream_end, streamed};
    if (pass.new_tile && spec_.mxu.shadow_register) register_freed_ = {cycle, started};
    running_.push_back({entry, started, streamed, expected});
    ++stats_.passes;
    stats_.tiles += pass.new_tile;
}

MatrixUnit::EventId MatrixUnit::start_event(const Pass& pass, PassTimes& expected) {
    auto& log = record_.log();
    const CommandQueue::Entry& entry = queue.front();
    if (pass.new_tile) left_fifo_ = shifted_in(expected);
    expected.shift_start = tile_in_use_.shift_start;
    const EventId ready = log.latest({entry.issued, record_.last_token(*entry.command),
                                      pass.new_tile ? left_fifo_ : CausalLog::kNone, stream_ended_.event});
    // Whatever the chain so far does not explain is either the busy stream port or the accumulator rows,
    // which the pass before still writes.
    EventId cause = ready;
    SlotClass owner = SlotClass::OnChip;
    if (port_asked_ != kNever) {
        stats_.port_wait_cycles += (clock_.at_or_after(now()) - port_asked_).value();
        cause = log.add(std::max(clock_.edge(port_asked_), log[ready].time), ready, owner, entry.number);
        port_asked_ = kNever;
    } else if (ready != CausalLog::kNone && now() < clock_.after(log[ready].time, Cycles(1))) {
        owner = log[ready].owner;  // less than a cycle: only the alignment to the clock's edge
    }
    return log.add(now(), cause, owner, entry.number);
}

MatrixUnit::EventId MatrixUnit::shifted_in(PassTimes& expected) {
    auto& log = record_.log();
    const Mark arrived = arrived_.front();
    arrived_.pop_front();
    const std::uint32_t number = queue.front().number;
    const EventId cause = log.latest({arrived.event, register_freed_.event});
    expected.shift_start = std::max(arrived.cycle, register_freed_.cycle);
    expected.shift_end = expected.shift_start + Cycles(spec_.mxu.rows);
    tile_in_use_ = expected;
    const EventId begun = log.add(std::max(clock_.edge(expected.shift_start), log[cause].time), cause,
                                  log[cause].owner, number);
    return log.add(clock_.edge(expected.shift_end), begun, SlotClass::Ramp, number);
}

Rational MatrixUnit::port_rate(const MatrixPass& pass) {
    const BankedPort port{spec_.scratchpad.banks, spec_.scratchpad.bank_bytes};
    const std::int64_t period = port.banks * port.bank_width.value();
    const std::int64_t base = pass.left.address % period;
    const auto [found, added] = rates_.try_emplace({pass.left.stream, base});
    if (added) {
        AddressStream stream = record_.program().streams[pass.left.stream];
        stream.base = Bytes(base);
        found->second = cycles_per_vector(port, stream);
    }
    return found->second;
}

void MatrixUnit::wake_at(Cycles cycle) {
    if (cycle == kNever) return;
    const Ticks time = clock_.edge(cycle);
    if (time > now())
        wake_.notify(to_sc_time(time - now()));
    else
        wake_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace systole::systolic
