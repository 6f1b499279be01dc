// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/transfer_unit.h"

#include "sim/base/check.h"
#include "sim/kernel/kernel.h"

namespace systole::systolic {

SlotClass owner_of(Place place) {
    switch (place) {
        case Place::Host:
        case Place::ChipLink:
            return SlotClass::Host;
        case Place::Dram:
            return SlotClass::Memory;
        default:
            return SlotClass::OnChip;
    }
}

TransferUnit::TransferUnit(sc_core::sc_module_name name, const DmaSpec& spec, ClockDomain clock,
                           int queue_depth, RunRecord& record)
    : sc_module(name),
      queue(queue_depth),
      dma("dma", spec, clock,
          DmaEngine::Listener{[this](auto split) { requested(split); }, [this](auto split) { done(split); }}),
      record_(record) {
    SC_HAS_PROCESS(TransferUnit);
    SC_METHOD(step);
    sensitive << queue.pushed << wake_;
    dont_initialize();
}

void TransferUnit::step() {
    if (queue.empty() || !dma.accepts()) return;
    const Command& command = record_.command(queue.front().number);
    if (!record_.tokens_ready(command, wake_)) return;
    if (gate_.claim && !gate_.claim()) return;
    auto& log = record_.log();
    const auto cause = log.latest({queue.front().issued, record_.last_token(command), last_requested_,
                                   gate_.opened_by ? gate_.opened_by() : CausalLog::kNone});
    const Transfer& transfer = record_.program().transfer(command);
    const auto started = log.add(now(), cause, owner_of(transfer.from.place), queue.front().number);
    const CommandQueue::Entry entry = queue.pop(started);
    const Ticks reading = dma.start(transfer);
    running_.push_back({entry, log.add(reading, started, SlotClass::Launch, entry.number)});
}

CausalLog::EventId TransferUnit::split_time(const Running& running, DmaEngine::Split split,
                                            CausalLog::EventId also) {
    auto& log = record_.log();
    const Transfer& transfer = record_.program().transfer(record_.command(running.entry.number));
    const std::uint32_t number = running.entry.number;
    const auto sourced = log.add(log[running.reading].time + split.at_source, running.reading,
                                 owner_of(transfer.from.place), number);
    return log.add(now(), log.latest({sourced, also}), owner_of(transfer.to.place), number);
}

void TransferUnit::requested(DmaEngine::Split split) {
    last_requested_ = split_time(running_.back(), split, CausalLog::kNone);
    wake_.notify(sc_core::SC_ZERO_TIME);
}

void TransferUnit::done(DmaEngine::Split split) {
    const Running running = running_.front();
    running_.pop_front();
    const Command& command = record_.command(running.entry.number);
    const Transfer& transfer = record_.program().transfer(command);
    const auto& log = record_.log();
    // Descriptors finish in order: a later one may have had to wait for an earlier one's last write.
    const auto done = split_time(running, split, last_done_);
    last_done_ = done;
    record_.ledger().enter(static_cast<std::size_t>(command.layer), transfer.from.place, transfer.to.place,
                           transfer.operand, Bytes(transfer.bytes()));
    if (transfer.from.place == Place::Dram || transfer.to.place == Place::Dram)
        record_.crossed_dram(log[running.reading].time, now(), Bytes(transfer.bytes()));
    record_.bar({running.entry.number, running.entry.issued, running.reading, done});
    record_.complete(command, done);
    if (told_) told_(command, running.reading, done);
}

}  // namespace systole::systolic
