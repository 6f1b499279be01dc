// SPDX-License-Identifier: Apache-2.0
#include "models/link/dma_engine.h"

#include <algorithm>

#include "sim/base/check.h"
#include "sim/kernel/kernel.h"

namespace systole {

DmaEngine::DmaEngine(sc_core::sc_module_name name, const DmaSpec& spec, ClockDomain clock, Listener listener)
    : sc_module(name),
      spec_(spec),
      clock_(clock),
      listener_(std::move(listener)),
      data_(std::make_unique_for_overwrite<unsigned char[]>(static_cast<std::size_t>(spec.payload.value()))) {
    const auto wire = [this](Socket& socket, Place place) {
        lane(place).socket = &socket;
        socket.register_nb_transport_bw(this, &DmaEngine::nb_transport_bw, static_cast<int>(place));
    };
    wire(dram, Place::Dram);
    wire(scratchpad, Place::Scratchpad);
    wire(host, Place::Host);
    wire(chip_link, Place::ChipLink);
    SC_HAS_PROCESS(DmaEngine);
    SC_METHOD(request);
    sensitive << wake_;
    dont_initialize();
}

Ticks DmaEngine::start(const Transfer& transfer) {
    SYSTOLE_CHECK(!active_ && transfer.bytes() > 0, "{} at {} ps", name(), now().value());
    Job job{transfer.merged(), 0, Ticks(0)};
    chain_ = Ticks(0);
    job.payloads_left = job.transfer.rows * ceil_div(job.transfer.row_bytes, spec_.payload.value());
    jobs_.push_back(job);
    active_ = true;
    row_ = offset_ = 0;
    ++stats_.descriptors;
    stats_.bytes += transfer.bytes();
    ready_ = spec_.setup_cycles > Cycles(0) ? clock_.after(now(), spec_.setup_cycles) : now();
    wake_.notify(to_sc_time(ready_ - now()));
    return ready_;
}

void DmaEngine::request() {
    while (active_ && may_request()) {
        // Still in set-up; also when the owner has just started the next descriptor from `requested`.
        if (now() < ready_) return wake_.notify(to_sc_time(ready_ - now()));
        Payload* payload = next_payload();
        in_flight_ += Bytes(payload->get_data_length());
        ++stats_.payloads;
        send(jobs_.back().transfer.from.place, payload);
        if (!active_) listener_.requested({payload->at_source});
    }
}

Bytes DmaEngine::next_size() const {
    return std::min(spec_.payload, Bytes(jobs_.back().transfer.row_bytes - offset_));
}

bool DmaEngine::may_request() const {
    return in_flight_ == Bytes(0) || in_flight_ + next_size() <= spec_.in_flight;
}

DmaEngine::Payload* DmaEngine::next_payload() {
    const Transfer& transfer = jobs_.back().transfer;
    const std::int64_t bytes = next_size().value();
    Payload* payload = pool_.acquire();
    payload->job = first_job_ + jobs_.size() - 1;
    payload->writing = false;
    payload->requested = now();
    payload->at_source = chain_;
    payload->to_address =
        static_cast<std::uint64_t>(transfer.to.address + row_ * transfer.to.stride + offset_);
    payload->set_address(
        static_cast<std::uint64_t>(transfer.from.address + transfer.source_of(row_) + offset_));
    payload->set_read();
    payload->set_data_ptr(data_.get());
    payload->set_data_length(static_cast<unsigned>(bytes));
    payload->set_streaming_width(static_cast<unsigned>(bytes));
    offset_ += bytes;
    if (offset_ == transfer.row_bytes) {
        offset_ = 0;
        active_ = ++row_ < transfer.rows;
    }
    return payload;
}

void DmaEngine::send(Place place, Payload* payload) {
    Lane& to = lane(place);
    SYSTOLE_CHECK(to.socket != nullptr && to.socket->size() == 1, "{}: nothing is bound to its {} socket",
                  name(), to_string(place));
    to.waiting.push_back(payload);
    pump(to);
}

void DmaEngine::pump(Lane& to) {
    while (to.requesting == nullptr && !to.waiting.empty()) {
        Payload* payload = to.waiting.front();
        to.waiting.pop_front();
        payload->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        to.requesting = payload;
        switch ((*to.socket)->nb_transport_fw(*payload, phase, delay)) {
            case tlm::TLM_ACCEPTED:
                break;  // END_REQ or BEGIN_RESP will come through the backward path
            case tlm::TLM_UPDATED:
                SYSTOLE_CHECK(phase == tlm::END_REQ, "{}: answered with phase {}", name(), phase.get_name());
                to.requesting = nullptr;
                break;
            case tlm::TLM_COMPLETED:
                SYSTOLE_CHECK(payload->is_response_ok(), "{} at {} ps: {}", name(), now().value(),
                              payload->get_response_string());
                to.requesting = nullptr;
                answered(payload);
                break;
        }
    }
}

tlm::tlm_sync_enum DmaEngine::nb_transport_bw(int place, tlm::tlm_generic_payload& payload,
                                              tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    SYSTOLE_CHECK(delay == sc_core::SC_ZERO_TIME, "{}: annotated responses are not supported", name());
    Lane& from = lane(static_cast<Place>(place));
    if (phase == tlm::END_REQ) {
        from.requesting = nullptr;
        pump(from);
        return tlm::TLM_ACCEPTED;
    }
    SYSTOLE_CHECK(phase == tlm::BEGIN_RESP && payload.is_response_ok(), "{} at {} ps: {}", name(),
                  now().value(), payload.get_response_string());
    // A response without an END_REQ before it ends the request phase, too.
    if (from.requesting == &payload) from.requesting = nullptr;
    answered(static_cast<Payload*>(&payload));
    pump(from);
    return tlm::TLM_COMPLETED;
}

void DmaEngine::answered(Payload* payload) {
    Job& owner = job(payload->job);
    const Place to = owner.transfer.to.place;
    if (!payload->writing) {
        payload->sourced = now();
        payload->at_source += now() - payload->requested;
        if (to != Place::WeightFifo) {
            payload->writing = true;
            payload->set_write();
            payload->set_address(payload->to_address);
            send(to, payload);
            return;
        }
    }
    --owner.payloads_left;
    owner.at_source = payload->at_source;
    // Of a payload of an earlier descriptor, only what it spent since this one could have read counts.
    const bool own = payload->job == first_job_ + jobs_.size() - 1;
    chain_ = own ? payload->at_source : std::max(payload->sourced - ready_, Ticks(0));
    in_flight_ -= Bytes(payload->get_data_length());
    payload->release();
    if (active_) wake_.notify(sc_core::SC_ZERO_TIME);
    finish_jobs();
}

void DmaEngine::finish_jobs() {
    while (!jobs_.empty() && jobs_.front().payloads_left == 0) {
        const Split split{jobs_.front().at_source};
        jobs_.pop_front();
        ++first_job_;
        listener_.done(split);
    }
}

}  // namespace systole
