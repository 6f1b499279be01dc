// SPDX-License-Identifier: Apache-2.0
// Loads of addresses: coalesced into sectors, looked up in the L1, the rest asked of the L2.
#include <algorithm>

#include "models/devices/simt/sm/sm.h"
#include "sim/base/check.h"

namespace systole::simt {

// A line of tags a cycle, and the width of the data.
void Sm::load(Warp& warp, const Instruction& next, std::int64_t at) {
    const std::vector<std::int64_t> sectors =
        coalesce(*next.addresses, warp.number, warp.trip, spec_.warp_threads);
    const auto bytes = static_cast<std::int64_t>(sectors.size()) * kSectorBytes;
    const std::int64_t cycles = std::max(
        {spec_.lsu_interval.value(), lines_of(sectors), ceil_div(bytes, spec_.l1_bytes_per_cycle.value())});
    lsu_ = std::max(lsu_, at) + cycles;
    const std::int64_t request = requests_++;
    L1::Found found = l1_.load(sectors, request);
    Load load{static_cast<std::size_t>(&warp - warps_.data()), next.writes,
              std::max(lsu_ - 1 + spec_.l1_latency.value(), found.ready), found.awaited.size()};
    // Until it is told otherwise; later loads may overwrite it.
    if (!found.missing.empty()) {
        SYSTOLE_CHECK(sectors_, "a load of addresses, and nothing to ask");
        found.awaited.push_back(request);
        ++load.missing;
    }
    warp.registers.write(next.writes, load.missing > 0 ? kNever : load.ready, Producer::Memory);
    if (load.missing == 0) return;
    ++ctas_[warp.cta].awaited;
    const auto pending = std::make_shared<Load>(load);
    for (const std::int64_t awaited : found.awaited) waiting_[awaited].push_back(pending);
    if (found.missing.empty()) return;
    const std::int64_t data = sectors_(found.missing, lsu_, request);
    if (data == kLater) return;
    SYSTOLE_CHECK(data >= lsu_, "data of a request at {} are there at {}", lsu_, data);
    arrived(request, data);
}

void Sm::arrived(std::int64_t request, std::int64_t at) {
    release();
    if (const auto fetch = fetches_.extract(request)) return fetched(fetch.mapped(), at);
    l1_.come(request, at);
    const auto waiting = waiting_.extract(request);
    SYSTOLE_CHECK(!waiting.empty(), "nobody waits for request {}", request);
    for (const std::shared_ptr<Load>& load : waiting.mapped()) {
        load->ready = std::max(load->ready, at);
        if (--load->missing > 0) continue;
        Warp& warp = warps_[load->warp];
        --ctas_[warp.cta].awaited;
        warp.registers.write(load->registers, load->ready, Producer::Memory);
    }
}

}  // namespace systole::simt
