// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram.h"

#include <algorithm>

#include "sim/base/check.h"
#include "sim/kernel/kernel.h"

namespace systole {
namespace {

Direction direction_of(const tlm::tlm_generic_payload& payload) {
    return payload.is_write() ? Direction::Write : Direction::Read;
}

/// Asks for the same few bytes again and again. Initiators that leave the width at 0 mean all bytes.
bool streams(const tlm::tlm_generic_payload& payload) {
    return payload.get_streaming_width() > 0 && payload.get_streaming_width() < payload.get_data_length();
}

/// Channels know a part by its transaction's slot and its own index there.
constexpr int kPartBits = 20;
std::int64_t part_id(std::size_t slot, std::size_t part) {
    return static_cast<std::int64_t>(slot << kPartBits | part);
}
std::size_t slot_of(std::int64_t id) {
    return static_cast<std::size_t>(id) >> kPartBits;
}
std::size_t part_of(std::int64_t id) {
    return static_cast<std::size_t>(id) & ((std::size_t{1} << kPartBits) - 1);
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
    else if (bytes == 0 || bytes > static_cast<std::uint64_t>(spec_.max_payload.value()) || streams(payload))
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
    Transaction& transaction = transactions_[slot];
    transaction.payload = &payload;
    transaction.initiator = initiator;
    transaction.direction = direction_of(payload);
    transaction.done = done;
    transaction.watched = 0;
    transaction.parts.clear();
    ++in_flight_;
    if (!map_) return slot;
    shares_.clear();
    map_->split(static_cast<std::int64_t>(payload.get_address()), Bytes(payload.get_data_length()), shares_);
    for (const ChannelShare& share : shares_) transaction.parts.push_back({share, false});
    return slot;
}

/// Hands the transaction's parts to their channels; false if one of their doors is full.
bool Dram::place(std::size_t slot) {
    Transaction& transaction = transactions_[slot];
    if (transaction.parts.empty()) {  // an ideal memory
        answer(slot);
        return true;
    }
    if (!has_room(transaction)) return false;
    const Cycles now = clock_.at_or_after(systole::now());
    for (std::size_t i = 0; i < transaction.parts.size(); ++i) {
        const Part& part = transaction.parts[i];
        Channel& channel = channel_of(part);
        channel.timing.push(pseudo_channel_of(part), part_id(slot, i), part.share.first, part.share.count,
                            transaction.direction, now);
        channel.changed = true;
    }
    transaction.watched = 0;
    watch(transaction);
    return true;
}

/// Whether the doors of all its channels have room; if not, the first full one is asked when it may move.
bool Dram::has_room(Transaction& transaction) {
    for (std::size_t i = 0; i < transaction.parts.size(); ++i) {
        const Part& part = transaction.parts[i];
        DramChannel& timing = channel_of(part).timing;
        const int bus = pseudo_channel_of(part);
        if (timing.at_door(bus, transaction.direction) < spec_.door) continue;
        timing.advance(clock_now(), completed_);
        channel_of(part).changed = true;
        if (timing.at_door(bus, transaction.direction) < spec_.door) continue;
        door_ = timing.next_door_event(bus, transaction.direction);
        return false;
    }
    return true;
}

void Dram::place_held() {
    door_ = Cycles::max();
    while (!held_.empty() && place(held_.front())) {
        const Transaction& transaction = transactions_[held_.front()];
        Payload& payload = *transaction.payload;
        const int initiator = transaction.initiator;
        const bool blocking = transaction.done != nullptr;
        held_.pop_front();
        if (blocking) continue;  // a b_transport has no phases
        tlm::tlm_phase phase = tlm::END_REQ;
        sc_core::sc_time delay;
        in[initiator]->nb_transport_bw(payload, phase, delay);
    }
}

void Dram::serve() {
    const Cycles now = clock_now();
    catch_up(now);
    if (door_ <= now) place_held();
    for (std::size_t initiator = 0; initiator < ports_.size(); ++initiator)
        send_responses(static_cast<int>(initiator));
    sleep();
}

/// Asks watched channels whose time has come, until none is left: what finishes in one moves its watchers on
/// to others.
void Dram::catch_up(Cycles now) {
    finish_parts();
    for (bool asked = true; asked;) {
        asked = false;
        for (Channel& channel : channels_) {
            if (channel.watchers == 0 || next_of(channel) > now) continue;
            channel.timing.advance(now, completed_);
            channel.changed = true;
            finish_parts();
            asked = true;
        }
    }
}

/// Counts what the channels have completed.
void Dram::finish_parts() {
    for (const DramChannel::Completion& completion : completed_) {
        const std::size_t slot = slot_of(completion.request);
        Transaction& transaction = transactions_[slot];
        Part& part = transaction.parts[part_of(completion.request)];
        part.finished = true;
        if (&part != &transaction.parts[transaction.watched]) continue;
        --channel_of(part).watchers;
        while (transaction.watched < transaction.parts.size() &&
               transaction.parts[transaction.watched].finished)
            ++transaction.watched;
        if (transaction.watched == transaction.parts.size())
            answer(slot);
        else
            watch(transaction);
    }
    completed_.clear();
}

void Dram::watch(Transaction& transaction) {
    ++channel_of(transaction.parts[transaction.watched]).watchers;
}

Cycles Dram::next_of(Channel& channel) {
    if (channel.changed) channel.next = channel.timing.next_event();
    channel.changed = false;
    return channel.next;
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

/// Until the next event of any watched channel or full door, and no longer.
void Dram::sleep() {
    if (!completed_.empty()) return wake_.notify(sc_core::SC_ZERO_TIME);
    Cycles next = door_;
    for (Channel& channel : channels_)
        if (channel.watchers > 0) next = std::min(next, next_of(channel));
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

void Dram::check_commands() {
    for (int channel = 0; channel < channels(); ++channel)
        listen(channel, checkers_.emplace_back(spec_).listener());
}

void Dram::settle(Ticks time) {
    for (Channel& channel : channels_) channel.timing.settle(clock_.at_or_after(time));
}

}  // namespace systole
