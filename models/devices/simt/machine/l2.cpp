// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/l2.h"

#include <algorithm>

#include "sim/base/check.h"
#include "sim/kernel/kernel.h"

namespace systole::simt {

L2::L2(sc_core::sc_module_name name, const L2Spec& spec, Hertz clock, const DramSpec& dram,
       ByteLedger& ledger)
    : sc_module(name),
      spec_(spec),
      clock_(clock),
      largest_(dram.max_payload.value()),
      ledger_(ledger),
      blocks_(spec),
      fabric_(spec, clock_) {
    in.register_nb_transport_fw(this, &L2::nb_transport_fw);
    memory.register_nb_transport_bw(this, &L2::nb_transport_bw);
    SC_HAS_PROCESS(L2);
    SC_METHOD(respond);
    sensitive << due_now_;
    dont_initialize();
    SC_METHOD(pump);
    sensitive << leave_now_;
    dont_initialize();
}

tlm::tlm_sync_enum L2::nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
    SYSTOLE_CHECK(phase == tlm::BEGIN_REQ, "{}: phase {}", name(), phase.get_name());
    const auto* access = payload.get_extension<TileAccess>();
    SYSTOLE_CHECK(access != nullptr, "{}: a transaction without a TileAccess", name());
    if (payload.is_write())
        write(payload, *access);
    else
        read(payload, *access);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
}

// What it holds passes at once, the rest when all of it has come.
void L2::read(Payload& payload, const TileAccess& access) {
    const auto layer = static_cast<std::size_t>(access.layer);
    traffic_ = {};
    jobs_.push_front({&payload, 0, Bytes(0), Bytes(0), Ticks(0)});
    const auto job = jobs_.begin();
    std::int64_t all = 0, late = 0;
    for (const TileAccess::Block& block : access.blocks) {
        std::int64_t missing =
            block.bytes - blocks_.read(block.address, block.bytes, block.operand, traffic_);
        held_ += block.bytes - missing;
        wait_for_others(block, missing, job);
        ++reads_;
        asked_ += block.bytes;
        all += block.bytes * block.sms;
        late += missing * block.sms;
        ledger_.enter(layer, Place::L2, Place::SharedMemory, block.operand, Bytes(block.bytes * block.sms));
    }
    ask_memory(traffic_.fetched, false, layer, job);
    ask_memory(traffic_.evicted, true, layer, jobs_.end());
    job->late = Bytes(late);
    job->late_of_sm =
        Bytes(static_cast<std::int64_t>(Int128{access.bytes_of_sm} * late / std::max<std::int64_t>(1, all)));
    const Bytes of_sm = Bytes(access.bytes_of_sm) - job->late_of_sm;
    job->earliest = all > late ? fabric_.read(now(), Bytes(all - late), access.sm, of_sm) : now();
    if (job->fetches > 0) return;
    SYSTOLE_CHECK(late == 0, "{} B come from nowhere", late);
    answer(payload, job->earliest);
    jobs_.erase(job);
}

// L2Blocks calls a sector its own from when it is asked for: it may be on its way.
void L2::wait_for_others(const TileAccess::Block& block, std::int64_t& late, Jobs::iterator job) {
    const std::int64_t end = block.address + block.bytes;
    auto piece = coming_.lower_bound(block.address - largest_ + 1);
    for (; piece != coming_.end() && piece->first < end; ++piece) {
        const std::int64_t until = piece->first + static_cast<std::int64_t>(piece->second->get_data_length());
        if (until <= block.address) continue;
        late = std::min(block.bytes, late + std::min(end, until) - std::max(block.address, piece->first));
        piece->second->waiting.push_back(job);
        ++job->fetches;
    }
}

void L2::write(Payload& payload, const TileAccess& access) {
    const auto layer = static_cast<std::size_t>(access.layer);
    traffic_ = {};
    std::int64_t bytes = 0;
    for (const TileAccess::Block& block : access.blocks) {
        blocks_.write(block.address, block.bytes, block.operand, traffic_);
        bytes += block.bytes;
        ledger_.enter(layer, Place::SharedMemory, Place::L2, block.operand, Bytes(block.bytes));
    }
    // Nobody waits for the rest of a sector that is written in part.
    ask_memory(traffic_.fetched, false, layer, jobs_.end());
    ask_memory(traffic_.evicted, true, layer, jobs_.end());
    answer(payload, fabric_.write(now(), Bytes(bytes), access.sm, Bytes(access.bytes_of_sm)));
}

void L2::ask_memory(const std::vector<SectorRange>& ranges, bool write, std::size_t layer,
                    Jobs::iterator job) {
    for (const SectorRange& range : ranges) {
        ledger_.enter(layer, write ? Place::L2 : Place::Dram, write ? Place::Dram : Place::L2, range.operand,
                      Bytes(range.bytes));
        (write ? written_back_ : fetched_) += range.bytes;
        const std::int64_t end = range.address + range.bytes;
        for (std::int64_t at = range.address; at < end;) {
            const std::int64_t until = std::min(end, (at / largest_ + 1) * largest_);
            send_piece(at, until - at, write, job);
            at = until;
        }
    }
}

void L2::send_piece(std::int64_t address, std::int64_t bytes, bool write, Jobs::iterator job) {
    Piece* piece = pool_.acquire();
    piece->waiting.clear();
    if (job != jobs_.end()) {
        piece->waiting.push_back(job);
        ++job->fetches;
    }
    piece->leaves = clock_.after(now(), spec_.memory_latency);
    piece->set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    piece->set_address(static_cast<std::uint64_t>(address));
    piece->set_data_length(static_cast<unsigned>(bytes));
    piece->set_streaming_width(piece->get_data_length());
    if (!write) coming_.emplace(address, piece);
    unsent_.push_back(piece);
    if (unsent_.size() == 1) leave_now_.notify(to_sc_time(piece->leaves - now()));
}

void L2::pump() {
    while (requesting_ == nullptr && !unsent_.empty() && unsent_.front()->leaves <= now()) {
        requesting_ = unsent_.front();
        unsent_.pop_front();
        requesting_->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        Piece& sent = *requesting_;
        const auto status = memory->nb_transport_fw(sent, phase, delay);
        if (status != tlm::TLM_ACCEPTED) requesting_ = nullptr;
        if (status == tlm::TLM_COMPLETED) arrived(sent);
    }
    if (requesting_ == nullptr && !unsent_.empty())
        leave_now_.notify(to_sc_time(unsent_.front()->leaves - now()));
}

tlm::tlm_sync_enum L2::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
    const bool response = phase == tlm::BEGIN_RESP;
    if (requesting_ == &payload) requesting_ = nullptr;
    if (response) arrived(static_cast<Piece&>(payload));
    leave_now_.notify(sc_core::SC_ZERO_TIME);
    return response ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
}

void L2::arrived(Piece& piece) {
    SYSTOLE_CHECK(piece.is_response_ok(), "{} at {} ps: {}", name(), now().value(),
                  piece.get_response_string());
    if (piece.is_read()) {
        auto own = coming_.lower_bound(static_cast<std::int64_t>(piece.get_address()));
        while (own->second != &piece) ++own;
        coming_.erase(own);
    }
    for (const Jobs::iterator job : piece.waiting) {
        if (--job->fetches > 0) continue;
        const auto* access = job->payload->get_extension<TileAccess>();
        const Ticks there = fabric_.read(now(), job->late, access->sm, job->late_of_sm);
        answer(*job->payload, std::max(job->earliest, there));
        jobs_.erase(job);
    }
    piece.release();
}

void L2::answer(Payload& payload, Ticks at) {
    due_.emplace(at, &payload);
    due_now_.notify(to_sc_time(due_.begin()->first - now()));
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
            {path, "bytes_asked", "B", "of distinct blocks that were asked for", asked_},
            {path, "bytes_held", "B", "of them, those that were there or on their way", held_},
            {path, "bytes_fetched", "B", "whole sectors, from the memory", fetched_},
            {path, "bytes_written_back", "B", "whole sectors, to the memory to make room", written_back_},
            {path, "bytes_read", "B", "into SMs", fabric_.bytes_read().value()},
            {path, "bytes_written", "B", "out of SMs", fabric_.bytes_written().value()}};
}

std::vector<EndCount> L2::ends() const {
    return {
        {Place::L2, fabric_.bytes_read() + Bytes(written_back_), fabric_.bytes_written() + Bytes(fetched_)}};
}

}  // namespace systole::simt
