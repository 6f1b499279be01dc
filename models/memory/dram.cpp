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

/// From the arrival of a burst to the end of its data, at least.
Ticks least_latency(const DramSpec& spec, const ClockDomain& clock) {
    if (!spec.is_dram()) return Ticks(0);
    return clock.edge(Cycles(std::min(spec.timing.at("CL"), spec.timing.at("CWL")) + spec.timing.at("BL")));
}

/// Asks for the same few bytes again and again. Initiators that leave the width at 0 mean all bytes.
bool streams(const tlm::tlm_generic_payload& payload) {
    return payload.get_streaming_width() > 0 && payload.get_streaming_width() < payload.get_data_length();
}

}  // namespace

Dram::Dram(sc_core::sc_module_name name, const DramSpec& spec)
    : sc_core::sc_module(name),
      spec_(spec),
      clock_(spec.is_dram() ? spec.clock : Hertz(1)),
      map_(spec.is_dram() ? std::make_unique<const AddressMap>(spec_) : nullptr),
      channels_(spec_, map_.get()),
      least_latency_(least_latency(spec_, clock_)) {
    if (map_) patterns_.emplace(spec_, *map_);
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
        if (!ports_[static_cast<std::size_t>(initiator)].responses.empty()) wake_at(systole::now());
        return tlm::TLM_COMPLETED;
    }
    SYSTOLE_CHECK(phase == tlm::BEGIN_REQ, "{}: phase {} from an initiator", name(), phase.get_name());
    if (refuse(payload)) return tlm::TLM_COMPLETED;
    if (payload.has_mm()) payload.acquire();
    const std::size_t transaction = enter(payload, initiator, nullptr);
    if (!held_.empty() || !place(transaction)) {
        held_.push_back(transaction);
        if (held_.size() == 1 && !serving_) sleep();
        return tlm::TLM_ACCEPTED;
    }
    // It is not answered before serve() looks anyway.
    if (!serving_ && systole::now() + least_latency_ < wake_time_) sleep();
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
}

void Dram::b_transport(int initiator, Payload& payload, sc_core::sc_time& delay) {
    sc_core::wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    if (refuse(payload)) return;
    sc_core::sc_event done;
    held_.push_back(enter(payload, initiator, &done));
    if (held_.size() == 1) place_held();  // else its channels may be ahead: nothing passes the first
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
    transaction.number = entered_++;
    ++in_flight_;
    if (!patterns_) return slot;
    transaction.shares =
        patterns_->split(static_cast<std::int64_t>(payload.get_address()), Bytes(payload.get_data_length()));
    transaction.left = transaction.shares.pattern->buses;
    return slot;
}

/// Hands the transaction's shares to their channels; false if one of their doors is full.
bool Dram::place(std::size_t slot) {
    Transaction& transaction = transactions_[slot];
    if (!patterns_) {
        place_flat(slot);
        return true;
    }
    if (!has_room(transaction)) return false;
    if (in_flight_ == 1) channels_.merge(clock_now());
    channels_.push(transaction.shares, static_cast<std::int64_t>(slot), transaction.direction,
                   clocks().after);
    transaction.watched = transaction.left.first();
    watch(transaction);
    return true;
}

/// Of an ideal memory the answer is there at once, of SRAM when those before and its own bytes have passed.
void Dram::place_flat(std::size_t slot) {
    if (spec_.kind == DramSpec::Kind::Ideal) {
        answer(slot);
        return wake_at(systole::now());
    }
    const std::int64_t rate = spec_.sram_bandwidth.value();
    const Int128 work = static_cast<Int128>(transactions_[slot].payload->get_data_length()) * kTicksPerSecond;
    if (passes_until_ < systole::now()) passes_until_ = systole::now(), passes_rest_ = 0;
    // What a picosecond does not divide is kept: many small requests take as long as few large ones.
    const Int128 all = work + passes_rest_;
    passes_until_ = passes_until_ + Ticks(static_cast<std::int64_t>(all / rate));
    passes_rest_ = static_cast<std::int64_t>(all % rate);
    passing_.push_back({passes_until_ + spec_.sram_latency + Ticks(passes_rest_ > 0 ? 1 : 0), slot});
    wake_at(passing_.front().time);
}

/// Whether the doors of all its channels have room; if not, when they may (door_). Nothing arrives anywhere
/// while a transaction is held: channels to which nobody listens go on until there is room.
bool Dram::has_room(const Transaction& transaction) {
    const Cycles now = clock_now();
    const Direction direction = transaction.direction;
    Cycles room = now;
    for (Group& group : channels_.groups()) {
        DramChannel& timing = group.timing;
        for (int bus = 0; bus < spec_.pseudo_channels; ++bus) {
            if (!transaction.left.meets(group.buses[static_cast<std::size_t>(bus)])) continue;
            if (timing.at_door(bus, direction) < spec_.door) continue;
            timing.settle(now);
            group.changed = true;
            if (timing.at_door(bus, direction) < spec_.door) continue;
            if (in_time_) {
                door_ = timing.next_door_event(bus, direction);
                return false;
            }
            room = std::max(room, timing.wait_at_door(bus, direction, spec_.door));
        }
    }
    if (room <= now) return true;
    door_ = room;
    return false;
}

void Dram::place_held() {
    door_ = Cycles::max();
    // Who hears that its request has ended may send the next, which then has been tried.
    while (!held_.empty() && door_ == Cycles::max() && place(held_.front())) {
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
    wake_time_ = Ticks::max();
    serving_ = true;
    const Cycles now = clock_now();
    catch_up(now);
    if (door_ <= now) place_held();
    for (; !passing_.empty() && passing_.front().time <= systole::now(); passing_.pop_front())
        answer(passing_.front().slot);
    for (std::size_t initiator = 0; initiator < ports_.size(); ++initiator)
        send_responses(static_cast<int>(initiator));
    serving_ = false;
    sleep();
}

/// Asks watched channels whose time has come, until none is left: what finishes in one moves its watchers on
/// to others.
void Dram::catch_up(Cycles now) {
    move_watchers();
    for (bool asked = true; asked;) {
        asked = false;
        for (Group& group : channels_.groups()) {
            if (group.watchers == 0 || group.collected >= now || next_of(group) > now) continue;
            advance(group, now);
            move_watchers();
            asked = true;
        }
    }
    // Of those that end at one clock the oldest is answered first, whichever channel was asked first.
    std::ranges::sort(done_, {}, [this](std::size_t slot) { return transactions_[slot].number; });
    for (const std::size_t slot : done_) answer(slot);
    done_.clear();
}

/// Fixes what a group of channels does before `now`, and notes what all of them have finished.
void Dram::advance(Group& group, Cycles now) {
    group.timing.advance(now, completed_);
    group.changed = true;
    group.collected = now;
    for (const DramChannel::Completion& completion : completed_) {
        const std::int64_t slot = completion.request >> channels_.bus_bits();
        const std::int64_t pseudo_channel = completion.request - (slot << channels_.bus_bits());
        Transaction& transaction = transactions_[static_cast<std::size_t>(slot)];
        transaction.left.remove(group.buses[static_cast<std::size_t>(pseudo_channel)]);
        if (!transaction.left.contains(transaction.watched))
            passed_.push_back(static_cast<std::size_t>(slot));
    }
    completed_.clear();
}

/// From shares that have finished to the next that have not.
void Dram::move_watchers() {
    for (const std::size_t slot : passed_) {
        Transaction& transaction = transactions_[slot];
        if (transaction.watched < 0 || transaction.left.contains(transaction.watched)) continue;  // twice
        channels_.watch(channel_of(transaction.watched), -1);
        transaction.watched = transaction.left.first();
        if (transaction.watched < 0)
            done_.push_back(slot);
        else
            watch(transaction);
    }
    passed_.clear();
}

void Dram::watch(const Transaction& transaction) {
    channels_.watch(channel_of(transaction.watched), 1);
}

/// A clock before which the group completes nothing. While a request is held nothing arrives: what completes
/// until it enters is known.
Cycles Dram::next_of(Group& group) {
    if (door_ != Cycles::max() && !in_time_) {
        group.timing.settle(door_);
        group.changed = true;
        return group.timing.first_completion();
    }
    if (group.changed) group.next = group.timing.next_event();
    group.changed = false;
    return group.next;
}

void Dram::answer(std::size_t slot) {
    Transaction& transaction = transactions_[slot];
    Payload& payload = *transaction.payload;
    count(payload.is_write(), Bytes(payload.get_data_length()));
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (transaction.done)
        transaction.done->notify(sc_core::SC_ZERO_TIME);
    else
        ports_[static_cast<std::size_t>(transaction.initiator)].responses.push_back(&payload);
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
    if (!passed_.empty()) return wake_at(systole::now());
    if (!passing_.empty()) return wake_at(passing_.front().time);
    Cycles next = door_;
    for (Group& group : channels_.groups())
        if (group.watchers > 0) next = std::min(next, next_of(group));
    if (next == Cycles::max()) return;
    wake_at(std::max(clock_.edge(next), systole::now()));
}

void Dram::wake_at(Ticks time) {
    if (time >= wake_time_) return;
    wake_time_ = time;
    wake_.notify(to_sc_time(time - systole::now()));
}

const Dram::Clocks& Dram::clocks() {
    const Ticks now = systole::now();
    if (clocks_.time != now) clocks_ = {now, clock_.at_or_before(now), clock_.at_or_after(now)};
    return clocks_;
}

void Dram::listen(int channel, DramChannel::Listener listener) {
    channels_.separate();
    stay_in_time();
    channels_.group_of(channel).timing.listen(std::move(listener));
}

void Dram::check_commands() {
    for (int channel = 0; channel < channels(); ++channel)
        listen(channel, checkers_.emplace_back(spec_).listener());
}

void Dram::settle(Ticks time) {
    for (Group& group : channels_.groups()) group.timing.settle(clock_.at_or_after(time));
}

}  // namespace systole
