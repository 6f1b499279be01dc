// SPDX-License-Identifier: Apache-2.0
// Why everything happened when it did. Modules append events (a command issued, started, finished); each
// names the one earlier event that it waited for last, and the class that owns the time between the two.
// Walking back from an event therefore splits any wait into intervals with one owner each: to the state that
// the dependency was in then. The same walk from the last event of a run is the critical path.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "sim/account/classes.h"
#include "sim/base/units.h"

namespace systole {

class CausalLog {
public:
    using EventId = std::uint32_t;
    static constexpr EventId kNone = ~EventId{0};  ///< the beginning of time

    struct Event {
        Ticks time;
        EventId cause = kNone;                ///< earlier or equal in time
        std::uint32_t command = 0;            ///< what this event belongs to (the device's numbering)
        SlotClass owner = SlotClass::Launch;  ///< of the interval [cause.time, time)
    };

    /// Appends an event. `cause` must already be in the log and not be later than `time`. Without a cause the
    /// owner is Launch, whatever is given: nothing is known that could have been waited for.
    EventId add(Ticks time, EventId cause, SlotClass owner, std::uint32_t command);

    const Event& operator[](EventId id) const { return blocks_[id / kBlock][id % kBlock]; }
    std::size_t size() const { return size_; }

    /// One owned piece of a wait.
    struct Piece {
        Ticks begin, end;
        SlotClass owner;
        EventId event;  ///< the event that ends this piece
    };
    /// Splits [from, time of `last`) into pieces, oldest first; empty pieces are left out. Time before the
    /// oldest event of the chain belongs to Launch. Costs one step for each event of the chain after `from`.
    std::vector<Piece> explain(EventId last, Ticks from) const;
    /// The same into `pieces`, whose memory is used again.
    void explain(EventId last, Ticks from, std::vector<Piece>& pieces) const;

    /// Among candidates that could each have released something, the one that did: the latest; at equal times
    /// the one whose own wait was owned by the first class in SlotClass order (host, memory, on_chip, ...),
    /// then the first given. kNone entries are ignored; kNone if there are no others.
    EventId latest(std::span<const EventId> candidates) const;
    EventId latest(std::initializer_list<EventId> candidates) const {
        return latest(std::span<const EventId>(candidates.begin(), candidates.size()));
    }

private:
    bool released_after(EventId a, EventId b) const;

    static constexpr std::size_t kBlock = 1024;  // events: a power of two, as each is looked up
    std::vector<std::vector<Event>> blocks_;     // grows without copying what is there: a run has millions
    std::size_t size_ = 0;
};
static_assert(sizeof(CausalLog::Event) <= 24);

}  // namespace systole
