// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/l2.h"

#include <algorithm>

#include "sim/base/check.h"
#include "sim/kernel/kernel.h"

namespace systole::simt {

L2::L2(sc_core::sc_module_name name, const L2Spec& spec, Hertz clock, const DramSpec& dram,
       ByteLedger& ledger)
    : sc_module(name), spec_(spec), clock_(clock), largest_(dram.max_payload.value()), ledger_(ledger) {
    in.register_nb_transport_fw(this, &L2::nb_transport_fw);
    memory.register_nb_transport_bw(this, &L2::nb_transport_bw);
    SC_HAS_PROCESS(L2);
    SC_METHOD(respond);
    sensitive << due_now_;
    dont_initialize();
}

Ticks L2::through(Fine& free, std::int64_t bytes, Bytes width) const {
    const double taken = static_cast<double>(bytes) / static_cast<double>(width.value());
    free = std::max(free, to_fine(now())) + fine_cycles(taken, clock_);
    return at_or_after(free);
}

tlm::tlm_sync_enum L2::nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
    SYSTOLE_CHECK(phase == tlm::BEGIN_REQ, "{}: phase {}", name(), phase.get_name());
    const auto* access = payload.get_extension<TileAccess>();
    SYSTOLE_CHECK(access != nullptr, "{}: a transaction without a TileAccess", name());
    std::int64_t bytes = 0;
    for (const TileAccess::Block& block : access->blocks) bytes += block.bytes * block.sms;
    const bool write = payload.is_write();
    const Ticks port = through(write ? write_free_ : read_free_, bytes,
                               write ? spec_.write_bytes_per_cycle : spec_.bytes_per_cycle);
    Fine own = to_fine(now());
    const Ticks sm =
        through(own, access->bytes_of_sm, write ? spec_.sm_write_per_cycle : spec_.sm_read_per_cycle);
    const Ticks latency = at_or_after(cycles(spec_.latency.value()));
    jobs_.push_front({&payload, std::max(port, sm) + latency, 0});
    const auto job = jobs_.begin();
    const auto layer = static_cast<std::size_t>(access->layer);
    for (const TileAccess::Block& block : access->blocks) {
        if (write) {
            there_.add(block.address, block.address + block.bytes);
            ledger_.enter(layer, Place::SharedMemory, Place::L2, block.operand, Bytes(block.bytes));
        } else {
            read(*access, block, job);
        }
    }
    (write ? write_bytes_ : read_bytes_) += bytes;
    if (job->fetches == 0) answer(job, job->earliest);
    pump();
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
}

void L2::read(const TileAccess& access, const TileAccess::Block& block, Jobs::iterator job) {
    const auto layer = static_cast<std::size_t>(access.layer);
    const std::int64_t end = block.address + block.bytes;
    ++reads_;
    asked_bytes_ += block.bytes;
    ledger_.enter(layer, Place::L2, Place::SharedMemory, block.operand, Bytes(block.bytes * block.sms));
    for (Fetch* other : on_their_way_) {
        if (other->range.begin >= end || other->range.end <= block.address) continue;
        other->waiting.push_back(job);
        ++job->fetches;
    }
    for (const ByteRanges::Range& gap : there_.add(block.address, end)) {
        ledger_.enter(layer, Place::Dram, Place::L2, block.operand, Bytes(gap.end - gap.begin));
        fetched_bytes_ += gap.end - gap.begin;
        for (std::int64_t at = gap.begin; at < gap.end;) {
            const std::int64_t until = std::min(gap.end, (at / largest_ + 1) * largest_);
            fetch({at, until}, job);
            at = until;
        }
    }
}

void L2::fetch(ByteRanges::Range range, Jobs::iterator job) {
    Fetch* fetch = pool_.acquire();
    fetch->range = range;
    fetch->waiting.assign(1, job);
    ++job->fetches;
    fetch->set_read();
    fetch->set_address(static_cast<std::uint64_t>(range.begin));
    fetch->set_data_length(static_cast<unsigned>(range.end - range.begin));
    fetch->set_streaming_width(fetch->get_data_length());
    on_their_way_.push_back(fetch);
    unsent_.push_back(fetch);
}

void L2::pump() {
    while (requesting_ == nullptr && !unsent_.empty()) {
        requesting_ = unsent_.front();
        unsent_.pop_front();
        requesting_->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        Fetch& sent = *requesting_;
        const auto status = memory->nb_transport_fw(sent, phase, delay);
        if (status != tlm::TLM_ACCEPTED) requesting_ = nullptr;
        if (status == tlm::TLM_COMPLETED) fetched(sent);
    }
}

tlm::tlm_sync_enum L2::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
    const bool response = phase == tlm::BEGIN_RESP;
    if (requesting_ == &payload) requesting_ = nullptr;
    if (response) fetched(static_cast<Fetch&>(payload));
    pump();
    return response ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
}

void L2::fetched(Fetch& fetch) {
    SYSTOLE_CHECK(fetch.is_response_ok(), "{} at {} ps: {}", name(), now().value(),
                  fetch.get_response_string());
    on_their_way_.remove(&fetch);
    const Ticks there = now() + at_or_after(cycles(spec_.memory_latency.value()));
    for (const Jobs::iterator job : fetch.waiting)
        if (--job->fetches == 0) answer(job, std::max(job->earliest, there));
    fetch.release();
}

void L2::answer(Jobs::iterator job, Ticks at) {
    due_.emplace(at, job->payload);
    jobs_.erase(job);
    due_now_.notify(to_sc_time(std::max(due_.begin()->first, now()) - now()));
}

void L2::respond() {
    while (!due_.empty() && due_.begin()->first <= now()) {
        Payload* payload = due_.begin()->second;
        due_.erase(due_.begin());
        payload->set_response_status(tlm::TLM_OK_RESPONSE);
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        in->nb_transport_bw(*payload, phase, delay);
    }
    if (!due_.empty()) due_now_.notify(to_sc_time(due_.begin()->first - now()));
}

std::vector<Stat> L2::stats() const {
    const std::string path = name();
    return {{path, "reads", "blocks", "asked for by groups of SMs", reads_},
            {path, "bytes_asked", "B", "of distinct blocks that were asked for", asked_bytes_},
            {path, "bytes_missed", "B", "of them, those that came from the memory", fetched_bytes_},
            {path, "bytes_read", "B", "into SMs", read_bytes_},
            {path, "bytes_written", "B", "out of SMs", write_bytes_}};
}

std::vector<EndCount> L2::ends() const {
    return {{Place::L2, Bytes(read_bytes_), Bytes(write_bytes_ + fetched_bytes_)}};
}

}  // namespace systole::simt
