// SPDX-License-Identifier: Apache-2.0
// The unit as a process: it wakes for a command, a token, a tile, a free port or the next event of its
// engine.
#include "models/devices/systolic/machine/matrix_unit.h"

#include <algorithm>
#include <utility>

#include "models/devices/systolic/machine/program_counts.h"
#include "sim/base/check.h"
#include "sim/kernel/kernel.h"

namespace systole::systolic {

namespace {

/// Slots of a unit that never multiplies in a run: as many as it would have at the rate of the fastest layer
/// that does, so that units beside each other have the same.
std::int64_t idle_slots(const MxuSpec& mxu, const Program& program) {
    MacRate rate{1};
    for (const LayerInfo& layer : program.layers)
        if (layer.macs > 0)
            rate = std::max(rate, mxu.rate_of(layer.dtype, layer.second_dtype).value_or(MacRate{1}));
    return std::int64_t{mxu.rows} * mxu.cols * rate.macs;
}

}  // namespace

MatrixUnit::Plan MatrixUnit::plan(const Program& program, const MxuSpec& mxu, UnitIndex unit) {
    Plan plan;
    Dataflow dataflow = program.dataflow;
    std::int64_t switches = 0;
    for (std::uint32_t number = 0; number < program.commands.size(); ++number) {
        const Command& command = program.commands[number];
        if (command.unit != unit) continue;
        const MatrixPass& pass = program.pass(command);
        switches += std::exchange(dataflow, program.dataflow_of(command)) != dataflow;
        if (pass.new_tile && !mxu.direct(dataflow)) plan.tiles.push_back({number, switches});
        if (!plan.last_use.empty()) plan.last_use.back() = pass.new_tile;
        plan.last_use.push_back(true);
    }
    return plan;
}

MatrixUnit::MatrixUnit(sc_core::sc_module_name name, const SystolicSpec& spec, ClockDomain clock,
                       UnitIndex unit, Ports ports, RunRecord& record, std::unique_ptr<MatrixEngine> engine)
    : sc_module(name),
      queue(spec.sequencer.queue_depth),
      weights("weights", spec.dma, clock, spec.sequencer.queue_depth, record),
      spec_(spec),
      clock_(clock),
      last_cycle_(clock.at_or_before(spec.longest_run())),
      index_(mxu_of(unit)),
      ports_(ports),
      record_(record),
      unit_(unit),
      plan_(plan(record.program(), spec.mxu, unit)),
      edges_(spec.scratchpad, record.program()),
      engine_(std::move(engine)),
      witnessed_(dynamic_cast<WitnessedEngine*>(engine_.get())),
      meets_(ports.streams.contended() || ports.seat.banks.shared()),
      runs_ahead_(witnessed_ == nullptr && !meets_),
      account_(clock, idle_slots(spec.mxu, record.program()), record.wants_timeline()),
      dataflow_(record.program().dataflow) {
    weights.set_gate({[this] {
                          const auto held = static_cast<std::int64_t>(tiles_started_) - fifo_tiles_shifted();
                          if (held >= spec_.mxu.weight_fifo_tiles) return false;
                          ++tiles_started_;
                          return true;
                      },
                      [this] { return tile_entered_; }});
    weights.on_complete([this](const Command& load, EventId reading, EventId done) {
        const Transfer& tile = record_.program().transfer(load);
        fifo_.push_back({tile.operand, Bytes(tile.bytes())});
        tile_arrived(reading, done);
    });
    SC_HAS_PROCESS(MatrixUnit);
    SC_METHOD(step);
    sensitive << queue.pushed << wake_;
    dont_initialize();
}

void MatrixUnit::go_on() {
    plan_ = plan(record_.program(), spec_.mxu, unit_);
}

void MatrixUnit::step() {
    const Cycles cycle = clock_.at_or_after(now());
    if (clock_.edge(cycle) > now()) return wake_at(cycle);
    if (cycle >= engine_->now()) {
        const std::int64_t shifted = engine_->tiles_shifted();
        engine_->advance(cycle);
        fifo_opened_ |= !direct() && engine_->tiles_shifted() > shifted;
        take_finished();
        complete_readable(cycle);
        while (try_start(cycle) && engine_->now() == cycle) {
        }
        // The loader is told when the pass that uses the tile has had its turn: its start is logged by then.
        if (fifo_opened_ && !asked_) {
            note_place();
            weights.poke();
            fifo_opened_ = false;
        }
        wake_at(engine_->next_event());
    } else {
        complete_readable(cycle);
    }
    if (engine_->now() > cycle) wake_at(engine_->now());
    if (!finished_.empty()) wake_at(finished_.front().readable);
}

void MatrixUnit::wake_at(Cycles cycle) {
    if (cycle == kNever) return;
    const Ticks time = clock_.edge(cycle);
    if (time > now())
        wake_.notify(to_sc_time(time - now()));
    else
        wake_.notify(sc_core::SC_ZERO_TIME);
}

void MatrixUnit::complete_readable(Cycles cycle) {
    while (!finished_.empty() && finished_.front().readable <= cycle) {
        const Finished& oldest = finished_.front();
        const auto done = record_.log().add(now(), oldest.streamed, SlotClass::Ramp, oldest.entry.number);
        record_.bar({oldest.entry.number, oldest.entry.issued, oldest.started, done});
        record_.complete(record_.command(oldest.entry.number), done);
        finished_.pop_front();
    }
}

void MatrixUnit::take_finished() {
    while (const auto report = engine_->take_finished()) {
        const Running oldest = running_.front();
        running_.pop_front();
        settle(oldest, *report);
    }
}

void MatrixUnit::settle(const Running& running, const PassReport& report) {
    const PassTimes& times = report.times;
    SYSTOLE_CHECK(times == running.expected,
                  "{} at {} ps: the engine and its unit disagree on a pass that started at cycle {}", name(),
                  now().value(), times.start.value());
    charge(running, times);
    enter_bytes(running);
    count(running, times);
    if (record_.wants_timeline() && work(running.entry).new_tile &&
        !spec_.mxu.direct(dataflow(running.entry)))
        tiles_left_.push_back(clock_.edge(times.shift_start));
    if (running.last_fold)
        finished_.push_back({running.entry, running.started, running.streamed,
                             times.done + spec_.mxu.accumulator_latency - Cycles(1)});
}

void MatrixUnit::charge(const Running& running, const PassTimes& times) {
    const MatrixPass& pass = work(running.entry);
    const PassShape lies = shape(running.entry);
    const MacRate rate = this->rate(pass);
    const std::int64_t macs = pass.m * pass.k * pass.n - pass.masked;
    // os: the last elements of K may fill a vector only in part. Masked products are spread evenly.
    const std::int64_t deep = rate.macs * pass.sparsity;
    const bool outputs_stay = dataflow(running.entry) == Dataflow::OutputStationary;
    const bool whole = outputs_stay && pass.k > deep && macs * deep % pass.k == 0;
    const std::int64_t useful = whole ? macs * deep / pass.k : macs / lies.vectors;
    account_.pass(record_.log(), running.started, times,
                  {.slots = std::int64_t{spec_.mxu.rows} * spec_.mxu.cols * rate.macs,
                   .vectors = lies.vectors,
                   .useful = useful,
                   .last = macs - (lies.vectors - 1) * useful,
                   .readable = times.done + spec_.mxu.accumulator_latency - Cycles(1),
                   .each = Cycles(rate.cycles),
                   .command = running.entry.number});
}

void MatrixUnit::enter_bytes(const Running& running) {
    const MatrixPass& pass = work(running.entry);
    const auto layer = static_cast<std::size_t>(record_.command(running.entry.number).layer);
    auto& ledger = record_.ledger();
    const auto edge = [&](Operand operand, Bytes bytes) {
        ledger.enter(layer, Place::Scratchpad, Place::Array, operand, bytes);
        stats_.edge_bytes += bytes.value();
    };
    const EdgeOperands operands = operands_of(dataflow(running.entry), pass);
    edge(operands.left, edges_.bytes(pass.left));
    if (!pass.top.none()) edge(operands.top, edges_.bytes(pass.top));
    const Bytes sums(pass.m * pass.n * kAccumulatorBytes);
    ledger.enter(layer, Place::Array, Place::Accumulator, Operand::PartialSums, sums);
    stats_.sum_bytes += sums.value();
    if (pass.new_tile && !spec_.mxu.direct(dataflow(running.entry))) {
        const auto [operand, bytes] = fifo_.front();
        fifo_.pop_front();
        ledger.enter(layer, Place::WeightFifo, Place::Array, operand, bytes);
        stats_.tile_bytes += bytes.value();
    }
}

void MatrixUnit::count(const Running& running, const PassTimes& times) {
    const FoldCounts fold =
        counts_of_fold(spec_, dataflow(running.entry), work(running.entry), running.first_fold);
    stats_.ifmap_reads += fold.ifmap_reads;
    stats_.filter_reads += fold.filter_reads;
    stats_.ofmap_writes += fold.ofmap_writes;
    stats_.macs += fold.macs;
    stats_.stream_cycles += (times.stream_end - times.start).value();
}

}  // namespace systole::systolic
