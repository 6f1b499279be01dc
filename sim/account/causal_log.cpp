// SPDX-License-Identifier: Apache-2.0
#include "sim/account/causal_log.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole {

CausalLog::EventId CausalLog::add(Ticks time, EventId cause, SlotClass owner, std::uint32_t command) {
    SYSTOLE_CHECK(size_ < kNone, "the causal log is full at {} ps", time.value());
    SYSTOLE_CHECK(time >= Ticks(), "an event of command {} at {} ps", command, time.value());
    if (cause == kNone) {
        owner = SlotClass::Launch;
    } else {
        SYSTOLE_CHECK(cause < size_, "command {}: no event {} at {} ps", command, cause, time.value());
        SYSTOLE_CHECK((*this)[cause].time <= time, "command {}: an event at {} ps has a cause at {} ps",
                      command, time.value(), (*this)[cause].time.value());
    }
    if (size_ % kBlock == 0) blocks_.emplace_back().reserve(kBlock);
    blocks_.back().push_back({time, cause, command, owner});
    return static_cast<EventId>(size_++);
}

std::vector<CausalLog::Piece> CausalLog::explain(EventId last, Ticks from) const {
    std::vector<Piece> pieces;
    explain(last, from, pieces);
    return pieces;
}

void CausalLog::explain(EventId last, Ticks from, std::vector<Piece>& pieces) const {
    SYSTOLE_CHECK(last < size_, "no event {} in a log of {}", last, size_);
    pieces.clear();
    for (EventId id = last; id != kNone && (*this)[id].time > from; id = (*this)[id].cause) {
        const Event& event = (*this)[id];
        const Ticks waiting_since = event.cause == kNone ? Ticks() : (*this)[event.cause].time;
        const Ticks begin = std::max(from, waiting_since);
        if (begin < event.time) pieces.push_back({begin, event.time, event.owner, id});
    }
    std::reverse(pieces.begin(), pieces.end());
}

CausalLog::EventId CausalLog::latest(std::span<const EventId> candidates) const {
    EventId best = kNone;
    for (const EventId id : candidates) {
        if (id == kNone) continue;
        SYSTOLE_CHECK(id < size_, "no event {} in a log of {}", id, size_);
        if (best == kNone || released_after(id, best)) best = id;
    }
    return best;
}

/// Whether `a` released later than `b`, or at the same time with a class that comes first.
bool CausalLog::released_after(EventId a, EventId b) const {
    const Event &first = (*this)[a], &second = (*this)[b];
    return first.time != second.time ? first.time > second.time : first.owner < second.owner;
}

}  // namespace systole
