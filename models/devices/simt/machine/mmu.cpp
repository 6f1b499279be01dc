// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/mmu.h"

#include <algorithm>
#include <string>

#include "sim/base/check.h"
#include "sim/kernel/kernel.h"

namespace systole::simt {

Mmu::Mmu(sc_core::sc_module_name name, const TlbSpec& spec, const SmSpec& sms, Hertz clock)
    : sc_module(name), spec_(spec), clock_(clock) {
    for (const int gpc : sms.gpcs) ends_.push_back((ends_.empty() ? 0 : ends_.back()) + gpc);
    if (ends_.empty()) ends_.push_back(sms.count);
    if (spec.reach > Bytes(0))
        tlbs_ = std::vector<Tlb>(ends_.size(), Tlb(spec.reach.value() / spec.page.value()));
    in.register_nb_transport_fw(this, &Mmu::nb_transport_fw);
    out.register_nb_transport_bw(this, &Mmu::nb_transport_bw);
    SC_HAS_PROCESS(Mmu);
    SC_METHOD(leave);
    sensitive << leave_at_;
    dont_initialize();
}

// Which SMs of a group read which of its blocks is not known here: each is taken to read them all.
Ticks Mmu::translated(const TileAccess& access) {
    if (tlbs_.empty()) return now();
    const auto gpc_of = [&](std::int64_t sm) {
        const auto found = std::upper_bound(ends_.begin(), ends_.end() - 1, sm);
        return static_cast<std::size_t>(found - ends_.begin());
    };
    const std::size_t last = gpc_of(access.sm + access.sms - 1);
    const Ticks found = clock_.after(now(), spec_.latency);
    Ticks known = now();
    for (const TileAccess::Block& block : access.blocks) {
        const std::int64_t last_page = (block.address + block.bytes - 1) / spec_.page.value();
        for (std::int64_t page = block.address / spec_.page.value(); page <= last_page; ++page)
            for (std::size_t gpc = gpc_of(access.sm); gpc <= last; ++gpc) {
                const Tlb::Use use = tlbs_[gpc].use(page, found);
                ++uses_;
                misses_ += use.miss ? 1 : 0;
                known = std::max(known, use.known);
            }
    }
    return known;
}

tlm::tlm_sync_enum Mmu::nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    const auto* access = payload.get_extension<TileAccess>();
    SYSTOLE_CHECK(phase == tlm::BEGIN_REQ && access != nullptr && delay == sc_core::SC_ZERO_TIME,
                  "{} at {} ps: not a request for blocks, or with a time", name(), now().value());
    const Ticks at = translated(*access);
    if (at == now()) return out->nb_transport_fw(payload, phase, delay);
    ++delayed_;
    payload.acquire();
    late_.insert(std::ranges::upper_bound(late_, at, {}, &Late::at), {at, &payload});
    leave_at_.notify(to_sc_time(late_.front().at - now()));
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
}

void Mmu::leave() {
    while (!late_.empty() && late_.front().at <= now()) {
        Payload* const payload = late_.front().payload;
        late_.pop_front();
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        const tlm::tlm_sync_enum status = out->nb_transport_fw(*payload, phase, delay);
        SYSTOLE_CHECK(status == tlm::TLM_UPDATED && phase == tlm::END_REQ, "{} at {} ps: {} is not accepted",
                      name(), now().value(), payload->get_address());
        payload->release();
    }
    if (!late_.empty()) leave_at_.notify(to_sc_time(late_.front().at - now()));
}

tlm::tlm_sync_enum Mmu::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    return in->nb_transport_bw(payload, phase, delay);
}

std::vector<Stat> Mmu::stats() const {
    const std::string path = name();
    return {{path, "uses", "pages", "looked up in TLBs of GPCs", uses_},
            {path, "misses", "pages", "that a TLB did not know", misses_},
            {path, "delayed", "requests", "of groups of SMs that had to wait for a page", delayed_}};
}

}  // namespace systole::simt
