// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram.h"

#include <algorithm>

#include "models/memory/dram_energy.h"
#include "sim/base/check.h"
#include "sim/kernel/kernel.h"

namespace systole {
namespace {

Direction direction_of(const tlm::tlm_generic_payload& payload) {
    return payload.is_write() ? Direction::Write : Direction::Read;
}

}  // namespace

Dram::Dram(sc_core::sc_module_name name, const DramSpec& spec)
    : sc_core::sc_module(name),
      spec_(spec),
      clock_(spec.kind == DramSpec::Kind::Ideal ? Hertz(1) : spec.clock) {
    if (spec_.kind == DramSpec::Kind::Dram) {
        map_ = std::make_unique<const AddressMap>(spec_);
        for (int channel = 0; channel < spec_.channels; ++channel)
            channels_.push_back({DramChannel(spec_, *map_)});
    }
    in.register_nb_transport_fw(this, &Dram::nb_transport_fw);
    in.register_b_transport(this, &Dram::b_transport);
    SC_HAS_PROCESS(Dram);
    SC_METHOD(serve);
    sensitive << wake_;
    dont_initialize();
}

tlm::tlm_sync_enum Dram::nb_transport_fw(int initiator, Payload& payload, tlm::tlm_phase& phase,
                                         sc_core::sc_time& delay) {
    SYSTOLE_CHECK(delay == sc_core::SC_ZERO_TIME, "{}: a request annotated with {}", name(),
                  delay.to_string());
    if (phase == tlm::END_RESP) {
        ports_[static_cast<std::size_t>(initiator)].busy = false;
        if (!ports_[static_cast<std::size_t>(initiator)].responses.empty())
            wake_.notify(sc_core::SC_ZERO_TIME);
        return tlm::TLM_COMPLETED;
    }
    SYSTOLE_CHECK(phase == tlm::BEGIN_REQ, "{}: phase {} from an initiator", name(), phase.get_name());
    if (refuse(payload)) return tlm::TLM_COMPLETED;
    if (payload.has_mm()) payload.acquire();
    const std::size_t transaction = enter(payload, initiator, nullptr);
    if (!held_.empty() || !place(transaction)) {
        held_.push_back(transaction);
        sleep();
        return tlm::TLM_ACCEPTED;
    }
    sleep();
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
}

void Dram::b_transport(int initiator, Payload& payload, sc_core::sc_time& delay) {
    sc_core::wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    if (refuse(payload)) return;
    sc_core::sc_event done;
    held_.push_back(enter(payload, initiator, &done));
    place_held();
    sleep();
    sc_core::wait(done);
}

/// Answers what no memory could serve.
bool Dram::refuse(Payload& payload) const {
    const auto capacity = static_cast<std::uint64_t>(spec_.capacity().value());
    const std::uint64_t bytes = payload.get_data_length();
    payload.set_dmi_allowed(false);
    if (payload.get_command() == tlm::TLM_IGNORE_COMMAND)
        payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    else if (payload.get_byte_enable_ptr() != nullptr)
        payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    else if (bytes == 0 || bytes > static_cast<std::uint64_t>(spec_.max_payload.value()))
        payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    else if (bytes > capacity || payload.get_address() > capacity - bytes)
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    else
        return false;
    return true;
}

std::size_t Dram::enter(Payload& payload, int initiator, sc_core::sc_event* done) {
    if (free_.empty()) {
        free_.push_back(transactions_.size());
        transactions_.emplace_back();
    }
    const std::size_t slot = free_.back();
    free_.pop_back();
    transactions_[slot] = {&payload, initiator, 0, done};
    ++in_flight_;
    return slot;
}

/// Hands the transaction's shares to their channels; false if one of their doors is full.
bool Dram::place(std::size_t slot) {
    Transaction& transaction = transactions_[slot];
    const Payload& payload = *transaction.payload;
    if (!map_) {
        answer(slot);
        return true;
    }
    shares_.clear();
    map_->split(static_cast<std::int64_t>(payload.get_address()), Bytes(payload.get_data_length()), shares_);
    const Direction direction = direction_of(payload);
    if (!has_room(direction)) return false;
    const Cycles now = clock_.at_or_after(systole::now());
    for (const ChannelShare& share : shares_) {
        Channel& channel = channel_of(share);
        channel.timing.push(bus_of(share), static_cast<std::int64_t>(slot), share.first, share.count,
                            direction, now);
        channel.next = channel.timing.next_event();
    }
    transaction.shares = static_cast<std::int64_t>(shares_.size());
    return true;
}

/// Whether the doors of all channels in `shares_` have room; if not, they are asked when they may have.
bool Dram::has_room(Direction direction) {
    bool room = true;
    for (const ChannelShare& share : shares_) {
        Channel& channel = channel_of(share);
        const int bus = bus_of(share);
        if (channel.timing.at_door(bus, direction) < spec_.door) continue;
        channel.timing.advance(clock_now(), completed_);
        if (channel.timing.at_door(bus, direction) < spec_.door) continue;
        channel.next = std::min(channel.timing.next_event(), channel.timing.next_door_event(bus, direction));
        room = false;
    }
    return room;
}

void Dram::place_held() {
    while (!held_.empty() && place(held_.front())) {
        const Transaction transaction = transactions_[held_.front()];
        held_.pop_front();
        if (transaction.done) continue;  // a b_transport has no phases
        tlm::tlm_phase phase = tlm::END_REQ;
        sc_core::sc_time delay;
        in[transaction.initiator]->nb_transport_bw(*transaction.payload, phase, delay);
    }
}

void Dram::serve() {
    const Cycles now = clock_now();
    for (Channel& channel : channels_) {
        if (channel.next > now) continue;
        channel.timing.advance(now, completed_);
        channel.next = channel.timing.next_event();
    }
    for (const DramChannel::Completion& completion : completed_) {
        const auto slot = static_cast<std::size_t>(completion.request);
        if (--transactions_[slot].shares == 0) answer(slot);
    }
    completed_.clear();
    place_held();
    for (std::size_t initiator = 0; initiator < ports_.size(); ++initiator)
        send_responses(static_cast<int>(initiator));
    sleep();
}

void Dram::answer(std::size_t slot) {
    Transaction& transaction = transactions_[slot];
    Payload& payload = *transaction.payload;
    (payload.is_write() ? bytes_written_ : bytes_read_) += Bytes(payload.get_data_length());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (transaction.done)
        transaction.done->notify(sc_core::SC_ZERO_TIME);
    else
        ports_[static_cast<std::size_t>(transaction.initiator)].responses.push_back(&payload);
    wake_.notify(sc_core::SC_ZERO_TIME);
    free_.push_back(slot);
    --in_flight_;
}

void Dram::send_responses(int initiator) {
    Port& port = ports_[static_cast<std::size_t>(initiator)];
    while (!port.busy && !port.responses.empty()) {
        Payload& payload = *port.responses.front();
        port.responses.pop_front();
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay;
        port.busy = true;
        const tlm::tlm_sync_enum status = in[initiator]->nb_transport_bw(payload, phase, delay);
        if (status != tlm::TLM_ACCEPTED) port.busy = false;
        if (payload.has_mm()) payload.release();
    }
}

/// Until the next event of any channel, and no longer.
void Dram::sleep() {
    if (!completed_.empty()) return wake_.notify(sc_core::SC_ZERO_TIME);
    Cycles next = Cycles::max();
    for (const Channel& channel : channels_) next = std::min(next, channel.next);
    if (next == Cycles::max()) return;
    const Ticks now = systole::now();
    wake_.notify(to_sc_time(std::max(clock_.edge(next), now) - now));
}

Cycles Dram::clock_now() const {
    return clock_.at_or_before(systole::now());
}

void Dram::listen(int channel, DramChannel::Listener listener) {
    channels_[static_cast<std::size_t>(channel)].timing.listen(std::move(listener));
}

void Dram::settle(Ticks time) {
    for (Channel& channel : channels_) channel.timing.settle(clock_.at_or_after(time));
}

/// Of all channels, up to the current time.
DramChannel::Stats Dram::counts() {
    DramChannel::Stats sum;
    for (Channel& channel : channels_) {
        channel.timing.advance(clock_now(), completed_);
        for (int bus = 0; bus < spec_.pseudo_channels; ++bus) sum += channel.timing.stats(bus);
    }
    sleep();
    return sum;
}

void Dram::account_energy(EnergyLedger& ledger) {
    enter_energy(spec_, counts(), systole::now(), name(), ledger);
}

std::vector<Stat> Dram::stats() {
    const DramChannel::Stats sum = counts();
    const auto stat = [this](const char* counter, const char* unit, const char* meaning, std::int64_t value) {
        return Stat{name(), counter, unit, meaning, value};
    };
    return {
        stat("bytes_read", "B", "payload bytes of answered reads", bytes_read_.value()),
        stat("bytes_written", "B", "payload bytes of answered writes", bytes_written_.value()),
        stat("read_bursts", "bursts", "read commands given", sum.read_bursts),
        stat("write_bursts", "bursts", "write commands given", sum.write_bursts),
        stat("activates", "commands", "rows opened", sum.activates),
        stat("precharges", "commands", "rows closed, those for a refresh included", sum.precharges),
        stat("refreshes", "commands", "all-bank refreshes", sum.refreshes),
        stat("bank_refreshes", "commands", "refreshes of one bank", sum.bank_refreshes),
        stat("row_hits", "bursts", "bursts that found their row open", sum.row_hits()),
        stat("bus_busy", "cycles", "command clocks with data on a bus, summed over channels",
             sum.bus_busy.value()),
    };
}

}  // namespace systole
