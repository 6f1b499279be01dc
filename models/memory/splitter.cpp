// SPDX-License-Identifier: Apache-2.0
#include "models/memory/splitter.h"

#include <algorithm>

#include "sim/base/check.h"
#include "sim/kernel/kernel.h"

namespace systole {

Splitter::Splitter(sc_core::sc_module_name name, const SplitterSpec& spec)
    : sc_core::sc_module(name), spec_(spec) {
    SYSTOLE_CHECK(spec.largest > Bytes(0) && spec.in_flight > 0, "{}: {} pieces of {} B", this->name(),
                  spec.in_flight, spec.largest.value());
    in.register_nb_transport_fw(this, &Splitter::from_initiator);
    in.register_b_transport(this, &Splitter::b_transport);
    out.register_nb_transport_bw(this, &Splitter::from_memory);
    SC_HAS_PROCESS(Splitter);
    SC_METHOD(step);
    sensitive << wake_;
    dont_initialize();
}

tlm::tlm_sync_enum Splitter::from_initiator(int initiator, Payload& payload, tlm::tlm_phase& phase,
                                            sc_core::sc_time& delay) {
    SYSTOLE_CHECK(delay == sc_core::SC_ZERO_TIME, "{}: a request annotated with {}", name(),
                  delay.to_string());
    wake_.notify(sc_core::SC_ZERO_TIME);
    if (phase == tlm::END_RESP) {
        ports_[static_cast<std::size_t>(initiator)].busy = false;
        return tlm::TLM_COMPLETED;
    }
    SYSTOLE_CHECK(phase == tlm::BEGIN_REQ, "{}: phase {} from an initiator", name(), phase.get_name());
    if (refuse(payload)) return tlm::TLM_COMPLETED;
    if (payload.has_mm()) payload.acquire();
    enter(payload, initiator, nullptr);
    return tlm::TLM_ACCEPTED;
}

void Splitter::b_transport(int initiator, Payload& payload, sc_core::sc_time& delay) {
    sc_core::wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    if (refuse(payload)) return;
    sc_core::sc_event done;
    enter(payload, initiator, &done);
    wake_.notify(sc_core::SC_ZERO_TIME);
    sc_core::wait(done);
}

/// Answers what cannot be cut.
bool Splitter::refuse(Payload& payload) {
    payload.set_dmi_allowed(false);
    if (payload.get_command() == tlm::TLM_IGNORE_COMMAND)
        payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    else if (payload.get_byte_enable_ptr() != nullptr)
        payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    else if (payload.get_data_length() == 0 ||
             (payload.get_streaming_width() > 0 && payload.get_streaming_width() < payload.get_data_length()))
        payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    else if (payload.get_address() > std::uint64_t{INT64_MAX} - payload.get_data_length())
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);  // it would wrap around
    else
        return false;
    return true;
}

void Splitter::enter(Payload& payload, int initiator, sc_core::sc_event* done) {
    requests_.push_back({&payload, initiator, done, 0, 0, tlm::TLM_OK_RESPONSE});
    unsent_.push_back(std::prev(requests_.end()));
}

void Splitter::step() {
    while (!unsent_.empty() && requesting_ == nullptr && under_way_ < spec_.in_flight) send_piece();
    for (std::size_t initiator = 0; initiator < ports_.size(); ++initiator)
        send_responses(static_cast<int>(initiator));
}

void Splitter::send_piece() {
    Piece* piece = requesting_ = next_piece(unsent_.front());
    ++under_way_;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    switch (out->nb_transport_fw(*piece, phase, delay)) {
        case tlm::TLM_ACCEPTED:
            break;  // it will be heard of through the backward path
        case tlm::TLM_COMPLETED:
            piece->completed = true;
            phase = tlm::BEGIN_RESP;
            [[fallthrough]];
        case tlm::TLM_UPDATED:
            if (phase == tlm::END_REQ && delay == sc_core::SC_ZERO_TIME)
                accepted();
            else
                heard_.notify(*piece, phase, delay);
    }
}

/// The next piece ends at a multiple of the largest.
Splitter::Piece* Splitter::next_piece(Requests::iterator request) {
    const Payload& whole = *request->payload;
    const auto largest = static_cast<std::uint64_t>(spec_.largest.value());
    const std::uint64_t from = whole.get_address() + request->sent;
    const std::uint64_t end = whole.get_address() + whole.get_data_length();
    const std::uint64_t bytes = std::min(end, (from / largest + 1) * largest) - from;
    Piece* piece = pool_.acquire();
    piece->request = request;
    piece->completed = false;
    piece->set_command(whole.get_command());
    piece->set_address(from);
    piece->set_data_ptr(whole.get_data_ptr() ? whole.get_data_ptr() + request->sent : nullptr);
    piece->set_data_length(static_cast<unsigned>(bytes));
    piece->set_streaming_width(static_cast<unsigned>(bytes));
    piece->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    request->sent += bytes;
    ++request->pending;
    return piece;
}

/// The memory has taken the piece; with its last one the request as a whole is accepted.
void Splitter::accepted() {
    const Requests::iterator request = requesting_->request;
    requesting_ = nullptr;
    if (request->sent < request->payload->get_data_length()) return;
    unsent_.pop_front();
    if (request->done) return;  // a b_transport has no phases
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    in[request->initiator]->nb_transport_bw(*request->payload, phase, delay);
}

tlm::tlm_sync_enum Splitter::from_memory(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    heard_.notify(payload, phase, delay);
    return tlm::TLM_ACCEPTED;
}

void Splitter::heard(Payload& payload, const tlm::tlm_phase& phase) {
    auto& piece = static_cast<Piece&>(payload);
    SYSTOLE_CHECK(phase == tlm::END_REQ || phase == tlm::BEGIN_RESP, "{}: phase {} from the memory", name(),
                  phase.get_name());
    // A response without an END_REQ before it ends the request phase, too.
    if (requesting_ == &piece) accepted();
    if (phase == tlm::BEGIN_RESP) answered(piece);
    wake_.notify(sc_core::SC_ZERO_TIME);
}

void Splitter::answered(Piece& piece) {
    if (!piece.completed) {
        tlm::tlm_phase phase = tlm::END_RESP;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        out->nb_transport_fw(piece, phase, delay);
    }
    const Requests::iterator request = piece.request;
    if (!piece.is_response_ok()) request->status = piece.get_response_status();
    --under_way_;
    ++pieces_;
    --request->pending;
    piece.release();
    if (request->pending == 0 && request->sent == request->payload->get_data_length()) finish(request);
}

void Splitter::finish(Requests::iterator request) {
    Payload& payload = *request->payload;
    payload.set_response_status(request->status);
    if (request->status == tlm::TLM_OK_RESPONSE)
        (payload.is_write() ? bytes_written_ : bytes_read_) += Bytes(payload.get_data_length());
    if (request->done)
        request->done->notify(sc_core::SC_ZERO_TIME);
    else
        ports_[static_cast<std::size_t>(request->initiator)].responses.push_back(&payload);
    requests_.erase(request);
}

void Splitter::send_responses(int initiator) {
    Port& port = ports_[static_cast<std::size_t>(initiator)];
    while (!port.busy && !port.responses.empty()) {
        Payload& payload = *port.responses.front();
        port.responses.pop_front();
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        port.busy = true;
        const tlm::tlm_sync_enum status = in[initiator]->nb_transport_bw(payload, phase, delay);
        if (status != tlm::TLM_ACCEPTED) port.busy = false;
        if (payload.has_mm()) payload.release();
    }
}

}  // namespace systole
