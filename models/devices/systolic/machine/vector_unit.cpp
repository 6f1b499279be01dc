// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/vector_unit.h"

#include <algorithm>
#include <utility>

#include "models/memory/scratchpad/scratchpad.h"
#include "sim/kernel/kernel.h"

namespace systole::systolic {

Cycles occupancy(const VectorSpec& spec, const VectorWork& work) {
    return Cycles(std::max({std::int64_t{1}, ceil_div(work.lane_cycles, spec.lanes),
                            ceil_div(work.scratchpad_read, spec.read_bytes_per_cycle.value()),
                            ceil_div(work.scratchpad_written, spec.write_bytes_per_cycle.value()),
                            ceil_div(work.accumulator_rows, spec.accumulator_rows_per_cycle)}));
}

VectorUnit::VectorUnit(sc_core::sc_module_name name, const VectorSpec& spec, ClockDomain clock,
                       int queue_depth, RunRecord& record, BankSeat seat)
    : sc_module(name), queue(queue_depth), spec_(spec), clock_(clock), record_(record), seat_(seat) {
    SC_HAS_PROCESS(VectorUnit);
    SC_METHOD(step);
    sensitive << queue.pushed << wake_;
    dont_initialize();
    SC_METHOD(complete);
    sensitive << done_;
    dont_initialize();
}

void VectorUnit::step() {
    while (!queue.empty() && record_.tokens_ready(record_.command(queue.front().number), wake_)) {
        const Cycles cycle = std::max(clock_.at_or_after(now()), free_);
        const Ticks time = clock_.edge(cycle);
        if (time > now()) return wake_.notify(to_sc_time(time - now()));
        if (!its_turn()) return;
        start(cycle);
    }
}

bool VectorUnit::its_turn() {
    if (!seat_.banks.shared() || std::exchange(turn_, false)) return true;
    if (std::exchange(asked_, true)) return false;
    seat_.turns.ask({kVectorRank, 0, 0}, [this] {
        asked_ = false;
        turn_ = true;
        step();
        turn_ = false;
    });
    return false;
}

/// Cycles for reads and writes that have the banks to themselves for `least`; both go on at the same time.
Cycles VectorUnit::in_banks(const VectorWork& work, Cycles begin, Cycles least) {
    if (!seat_.banks.shared()) return least;
    Cycles taken = least;
    if (!work.reads.empty()) {
        BankLoad load(seat_.banks.map());
        for (const EdgeRead& read : work.reads) load.add(seat_.loads.of(read, Passing::ByVector));
        taken = seat_.banks.read({BankClient::Vector, begin, begin, taken}, load);
    }
    if (work.write.none()) return taken;
    const BankLoad& load = seat_.loads.of(work.write, Passing::Buffered);
    return seat_.banks.write({BankClient::Vector, begin, begin, taken}, load);
}

void VectorUnit::start(Cycles cycle) {
    const Command& command = record_.command(queue.front().number);
    const VectorWork& work = record_.program().vector(command);
    if (drains_ && work.source == VectorWork::Source::Accumulator) drains_(command);
    const Cycles alone = occupancy(spec_, work), busy = in_banks(work, cycle, alone);
    free_ = cycle + busy;

    auto& log = record_.log();
    const std::uint32_t number = queue.front().number;
    const auto cause = log.latest({queue.front().issued, record_.last_token(command), last_lanes_free_});
    const auto started = log.add(now(), cause, SlotClass::Vector, number);
    last_lanes_free_ = log.add(clock_.edge(cycle + alone), started, SlotClass::Vector, number);
    if (busy > alone)
        last_lanes_free_ = log.add(clock_.edge(free_), last_lanes_free_, SlotClass::OnChip, number);
    running_.push_back({queue.pop(started), started, last_lanes_free_, free_ + spec_.startup});
    if (running_.size() == 1) done_.notify(to_sc_time(clock_.edge(running_.front().done) - now()));
    ++stats_.commands;
    stats_.busy_cycles += busy.value();
    stats_.macs += work.macs;
}

void VectorUnit::complete() {
    const Running oldest = running_.front();
    running_.pop_front();
    const Command& command = record_.command(oldest.entry.number);
    const auto done = record_.log().add(now(), oldest.lanes_free, SlotClass::Vector, oldest.entry.number);
    enter_bytes(command, record_.program().vector(command));
    record_.bar({oldest.entry.number, oldest.entry.issued, oldest.started, done});
    record_.complete(command, done);
    if (!running_.empty()) done_.notify(to_sc_time(clock_.edge(running_.front().done) - now()));
}

void VectorUnit::enter_bytes(const Command& command, const VectorWork& work) {
    const auto layer = static_cast<std::size_t>(command.layer);
    const std::int64_t drained = std::int64_t{work.accumulator_rows} * work.cols * kAccumulatorBytes;
    auto& ledger = record_.ledger();
    ledger.enter(layer, Place::Accumulator, Place::Vector, Operand::PartialSums, Bytes(drained));
    ledger.enter(layer, Place::Scratchpad, Place::Vector, Operand::Activations, Bytes(work.scratchpad_read));
    ledger.enter(layer, Place::Vector, Place::Scratchpad, work.operand, Bytes(work.scratchpad_written));
    stats_.scratchpad_bytes += work.scratchpad_read + work.scratchpad_written;
}

}  // namespace systole::systolic
