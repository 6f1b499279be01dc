// SPDX-License-Identifier: Apache-2.0
// The fast path of PseudoChannel: a run of row hits that will be served in order at an even cadence is one
// step, so that cost grows with rows, not with bursts. It changes no command
// (tests/unit/memory/channel_twin.cpp).
#include <algorithm>
#include <bit>

#include "models/memory/pseudo_channel.h"

namespace systole {

/// Serves as many hits as will follow `first` in order of arrival at an even cadence, in one step. False if
/// that is not certain, or not worth it.
bool PseudoChannel::stream(const Choice& first, Cycles until) {
    constexpr std::int64_t kWorthIt = 4;
    if (queues_[active_ == Direction::Read ? 1 : 0].visible() > 0 || first.age != active().head())
        return false;
    std::int64_t count = active().stream_length();
    if (count < kWorthIt) return false;
    const Cycles cadence = stream_cadence();
    if (cadence == Cycles()) return false;
    const Cycles end = std::min(until, refresh_due_);
    count = std::min(count, ceil_div((end - first.when).value(), cadence.value()));
    if (count < kWorthIt || !stream_is_ready(first, cadence, count)) return false;
    give_stream(first, cadence, count);
    return true;
}

/// The distance at which hits of the window follow each other in order, or zero if it is uneven.
Cycles PseudoChannel::stream_cadence() const {
    const Cycles any = of(ccd_short_, active_), same_group = of(ccd_long_, active_);
    if (groups_ * any >= same_group && active().rotates(groups_)) return any;
    const int group = std::countr_zero(active().hits()) / banks_per_group_;
    for (std::uint64_t banks = active().hits(); banks != 0; banks &= banks - 1)
        if (std::countr_zero(banks) / banks_per_group_ != group) return Cycles();
    return same_group;
}

bool PseudoChannel::stream_is_ready(const Choice& first, Cycles cadence, std::int64_t count) const {
    for (std::uint64_t banks = active().hits(); banks != 0; banks &= banks - 1) {
        const int bank = std::countr_zero(banks);
        const std::int64_t place = active().oldest_hit(bank) - active().head();
        if (place < count && timing_.earliest(first.command, bank) > first.when + cadence * place)
            return false;
    }
    return true;
}

void PseudoChannel::give_stream(const Choice& first, Cycles cadence, std::int64_t count) {
    const std::int64_t stride = active().stream_stride();
    std::vector<int> order(listener_ ? static_cast<std::size_t>(count) : 0);
    for (std::uint64_t banks = active().hits(); banks != 0; banks &= banks - 1) {
        const int bank = std::countr_zero(banks);
        const std::int64_t share = active().stream_share(bank, count);
        const std::int64_t place = active().oldest_hit(bank) - active().head();
        // Of equal commands to one bank only the last still delays anything.
        if (share > 0)
            timing_.issue(first.command, bank, first.when + cadence * (place + (share - 1) * stride));
        for (std::int64_t i = 0; listener_ && i < share; ++i)
            order[static_cast<std::size_t>(place + i * stride)] = bank;
    }
    for (std::size_t k = 0; k < order.size(); ++k)
        listener_(first.command, order[k], rows_[static_cast<std::size_t>(order[k])],
                  first.when + cadence * static_cast<std::int64_t>(k));
    active().serve_stream(count, [&](std::int64_t request, std::int64_t k) {
        finish(request, first.when + cadence * k + of(latency_, active_));
    });
    stats_.bus_busy += burst_ * count;
    (active_ == Direction::Read ? stats_.read_bursts : stats_.write_bursts) += count;
    now_ = first.when + cadence * (count - 1);
    change_ = now_ + Cycles(1);
}

}  // namespace systole
