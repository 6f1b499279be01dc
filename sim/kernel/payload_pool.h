// SPDX-License-Identifier: Apache-2.0
// Recycles TLM-2.0 payloads of one type, so that a simulation allocates as many as are in flight at once, not
// as many as it sends. `Payload` derives from tlm_generic_payload and may carry the sender's own state.
#pragma once

#include <memory>
#include <tlm>
#include <vector>

namespace systole {

template <class Payload>
class PayloadPool final : public tlm::tlm_mm_interface {
public:
    /// A payload with one reference, held by the caller.
    Payload* acquire() {
        if (free_.empty()) {
            all_.push_back(std::make_unique<Payload>());
            all_.back()->set_mm(this);
            free_.push_back(all_.back().get());
        }
        Payload* payload = free_.back();
        free_.pop_back();
        payload->acquire();
        return payload;
    }

    void free(tlm::tlm_generic_payload* payload) override {
        payload->reset();
        free_.push_back(static_cast<Payload*>(payload));
    }

private:
    std::vector<std::unique_ptr<Payload>> all_;
    std::vector<Payload*> free_;
};

}  // namespace systole
