// SPDX-License-Identifier: Apache-2.0
// The bursts that the scheduler of a pseudo-channel sees: for each direction at most `depth`, in fixed slots.
// Each bank has a list of those that hit its open row and one of those that miss it, both by age; so a burst
// enters, and the oldest hit of a bank leaves, in a few operations.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/memory/standards/dram_command.h"
#include "sim/base/units.h"

namespace systole {

/// Sets of banks are bit masks.
constexpr std::uint64_t bank_bit(int bank) {
    return std::uint64_t{1} << bank;
}

class Window {
public:
    static constexpr std::int64_t kClosed = -1;
    static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

    struct Burst {
        std::int64_t sequence = 0;  ///< order of arrival at the channel
        std::int64_t row = 0;
        std::int64_t local = 0;  ///< its number in its pseudo-channel (address_map.h)
        Cycles entered;          ///< the window
        std::int32_t request = 0;
        std::int16_t bank = 0;
    };

    Window(int banks, int depth);

    int size(Direction direction) const { return of(direction).size; }
    int depth() const { return depth_; }
    int banks() const { return static_cast<int>(rows_.size()); }

    /// `burst` joins, as the youngest of its direction. True if it is now the oldest hit, or miss, of a bank
    /// that had none in this direction.
    bool enter(Direction direction, const Burst& burst);
    /// The oldest hit of `bank`, one of hits(), leaves.
    Burst take(Direction direction, int bank);

    void open(int bank, std::int64_t row);
    void close(int bank);
    std::int64_t open_row(int bank) const { return rows_[static_cast<std::size_t>(bank)]; }
    bool same_rows(const Window& other) const { return rows_ == other.rows_; }
    /// Bit per bank: it is open; bursts of the direction hit its open row; bursts want another of its rows.
    std::uint64_t open_banks() const { return open_; }
    std::uint64_t hits(Direction direction) const { return of(direction).hits.banks; }
    std::uint64_t misses(Direction direction) const { return of(direction).misses.banks; }
    /// By bank: the sequence number of its oldest hit, and of its oldest miss; kNone if there is none.
    const std::int64_t* hits_by_age(Direction direction) const { return of(direction).hits.sequences.data(); }
    const std::int64_t* misses_by_age(Direction direction) const {
        return of(direction).misses.sequences.data();
    }
    std::int64_t oldest_hit(Direction direction, int bank) const { return hits_by_age(direction)[bank]; }
    std::int64_t oldest_miss(Direction direction, int bank) const { return misses_by_age(direction)[bank]; }
    const Burst& first_miss(Direction direction, int bank) const {
        return slots_[static_cast<std::size_t>(of(direction).misses.of(bank).head)].burst;
    }
    /// More than one burst of the direction hits the open row of `bank`.
    bool hits_follow(Direction direction, int bank) const {
        const List& hits = of(direction).hits.of(bank);
        return hits.head != hits.tail;
    }
    /// The oldest burst of a direction that has some.
    const Burst& oldest(Direction direction) const {
        return slots_[static_cast<std::size_t>(of(direction).oldest)].burst;
    }
    const Burst& youngest(Direction direction) const {
        return slots_[static_cast<std::size_t>(of(direction).youngest)].burst;
    }
    std::int64_t oldest_sequence(Direction direction) const {
        return size(direction) == 0 ? kNone : oldest(direction).sequence;
    }
    /// All bursts of a direction leave; calls `see(burst)` for each of them, youngest first.
    template <class See>
    void clear(Direction direction, See&& see) {
        Side& side = of(direction);
        for (std::int32_t at = side.youngest; at != kEnd; at = slot(at).older) {
            see(slot(at).burst);
            slot(at).next = free_;
            free_ = at;
        }
        forget_all(side);
    }
    /// Calls `see(burst)` for each burst of a direction, oldest first, until it answers false.
    template <class See>
    void for_each(Direction direction, See&& see) const {
        std::int32_t at = of(direction).oldest;
        while (at != kEnd && see(slots_[static_cast<std::size_t>(at)].burst))
            at = slots_[static_cast<std::size_t>(at)].younger;
    }

private:
    static constexpr std::int32_t kEnd = -1;
    struct alignas(64) Slot {
        Burst burst;
        std::int32_t next = kEnd;                   // in the list of its bank
        std::int32_t older = kEnd, younger = kEnd;  // in its direction
    };
    struct List {
        std::int32_t head = kEnd, tail = kEnd;
    };
    /// One list for each bank, and the sequence numbers of the heads.
    struct Lists {
        std::vector<List> lists;
        std::vector<std::int64_t> sequences;
        std::uint64_t banks = 0;  // that are not empty
        List& of(int bank) { return lists[static_cast<std::size_t>(bank)]; }
        const List& of(int bank) const { return lists[static_cast<std::size_t>(bank)]; }
    };
    struct Side {
        int size = 0;
        std::int32_t oldest = kEnd, youngest = kEnd;
        Lists hits, misses;
    };

    Side& of(Direction direction) { return sides_[static_cast<std::size_t>(direction)]; }
    const Side& of(Direction direction) const { return sides_[static_cast<std::size_t>(direction)]; }
    Slot& slot(std::int32_t at) { return slots_[static_cast<std::size_t>(at)]; }
    void append(Lists& lists, int bank, std::int32_t at);
    void drop_all(Lists& lists, int bank);
    void forget_all(Side& side);
    void unlink(Side& side, std::int32_t slot);
    void sort_out(Side& side, int bank, std::int64_t row);
    void merge(Side& side, int bank);

    const int depth_;
    std::vector<Slot> slots_;
    std::int32_t free_ = kEnd;
    std::array<Side, 2> sides_;
    std::vector<std::int64_t> rows_;  // open row of each bank
    std::uint64_t open_ = 0;
};

// Inline, so that a burst is put together in its slot, and read there.
inline void Window::append(Lists& lists, int bank, std::int32_t at) {
    List& list = lists.of(bank);
    slot(at).next = kEnd;
    if (list.head == kEnd) {
        list.head = at;
        lists.sequences[static_cast<std::size_t>(bank)] = slot(at).burst.sequence;
        lists.banks |= bank_bit(bank);
    } else {
        slot(list.tail).next = at;
    }
    list.tail = at;
}

inline bool Window::enter(Direction direction, const Burst& burst) {
    Side& side = of(direction);
    const std::int32_t at = free_;
    Slot& entry = slot(at);
    free_ = entry.next;
    entry.burst.sequence = burst.sequence;  // one by one: two at once, as vectors, wait until all are stored
    entry.burst.row = burst.row;
    entry.burst.local = burst.local;
    entry.burst.entered = burst.entered;
    entry.burst.request = burst.request;
    entry.burst.bank = burst.bank;
    entry.older = side.youngest;
    entry.younger = kEnd;
    (side.youngest == kEnd ? side.oldest : slot(side.youngest).younger) = at;
    side.youngest = at;
    ++side.size;
    Lists& lists = open_row(burst.bank) == burst.row ? side.hits : side.misses;
    const bool first = !(lists.banks & bank_bit(burst.bank));
    append(lists, burst.bank, at);
    return first;
}

inline void Window::drop_all(Lists& lists, int bank) {
    lists.of(bank) = {};
    lists.sequences[static_cast<std::size_t>(bank)] = kNone;
    lists.banks &= ~bank_bit(bank);
}

inline void Window::unlink(Side& side, std::int32_t at) {
    Slot& entry = slot(at);
    (entry.older == kEnd ? side.oldest : slot(entry.older).younger) = entry.younger;
    (entry.younger == kEnd ? side.youngest : slot(entry.younger).older) = entry.older;
    entry.next = free_;
    free_ = at;
    --side.size;
}

inline Window::Burst Window::take(Direction direction, int bank) {
    Side& side = of(direction);
    List& list = side.hits.of(bank);
    const std::int32_t at = list.head;
    list.head = slot(at).next;
    if (list.head == kEnd)
        drop_all(side.hits, bank);
    else
        side.hits.sequences[static_cast<std::size_t>(bank)] = slot(list.head).burst.sequence;
    unlink(side, at);
    return slot(at).burst;
}

}  // namespace systole
