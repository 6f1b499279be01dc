// SPDX-License-Identifier: Apache-2.0
// The bursts that the scheduler of a pseudo-channel sees: for each direction at most `depth`, in fixed slots.
// Each bank has a list of those that hit its open row and one of those that miss it, both by age; so a burst
// enters, and the oldest hit of a bank leaves, in a few operations.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/memory/dram_command.h"
#include "sim/base/units.h"

namespace systole {

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
    int free_entries(Direction direction) const { return depth_ - size(direction); }

    /// `burst` joins, as the youngest of its direction. True if it is now the oldest hit, or miss, of a bank
    /// that had none in this direction.
    bool enter(Direction direction, const Burst& burst);
    /// The oldest hit of `bank`, one of hits(), leaves.
    Burst take(Direction direction, int bank);
    /// All leave, of both directions.
    void clear();

    void open(int bank, std::int64_t row);
    void close(int bank);
    std::int64_t open_row(int bank) const { return rows_[static_cast<std::size_t>(bank)]; }
    /// Bit per bank: it is open; bursts of the direction hit its open row; bursts want another of its rows.
    std::uint64_t open_banks() const { return open_; }
    std::uint64_t hits(Direction direction) const { return of(direction).hit_banks; }
    std::uint64_t misses(Direction direction) const { return of(direction).miss_banks; }
    /// Sequence number of the oldest hit and of the oldest miss of a bank; kNone if there is none.
    std::int64_t oldest_hit(Direction direction, int bank) const { return hit(direction, bank).sequence; }
    std::int64_t oldest_miss(Direction direction, int bank) const { return miss(direction, bank).sequence; }
    const Burst& first_hit(Direction direction, int bank) const {
        return slots_[static_cast<std::size_t>(hit(direction, bank).head)].burst;
    }
    const Burst& first_miss(Direction direction, int bank) const {
        return slots_[static_cast<std::size_t>(miss(direction, bank).head)].burst;
    }
    /// More than one burst of the direction hits the open row of `bank`.
    bool hits_follow(Direction direction, int bank) const {
        return hit(direction, bank).head != hit(direction, bank).tail;
    }
    /// The oldest burst of a direction that has some.
    const Burst& oldest(Direction direction) const {
        return slots_[static_cast<std::size_t>(of(direction).oldest)].burst;
    }
    std::int64_t oldest_sequence(Direction direction) const {
        return size(direction) == 0 ? kNone : oldest(direction).sequence;
    }
    /// Calls `see(burst)` for each burst of a direction, oldest first.
    template <class See>
    void for_each(Direction direction, See&& see) const {
        for (std::int32_t at = of(direction).oldest; at != kEnd;
             at = slots_[static_cast<std::size_t>(at)].younger)
            see(slots_[static_cast<std::size_t>(at)].burst);
    }

private:
    static constexpr std::int32_t kEnd = -1;
    struct Slot {
        Burst burst;
        std::int32_t next = kEnd;                   // in the list of its bank
        std::int32_t older = kEnd, younger = kEnd;  // in its direction
    };
    struct List {
        std::int64_t sequence = kNone;  // of its head
        std::int32_t head = kEnd, tail = kEnd;
    };
    struct Side {
        int size = 0;
        std::int32_t oldest = kEnd, youngest = kEnd;
        std::uint64_t hit_banks = 0, miss_banks = 0;
        std::vector<List> hits, misses;
    };

    Side& of(Direction direction) { return sides_[static_cast<std::size_t>(direction)]; }
    const Side& of(Direction direction) const { return sides_[static_cast<std::size_t>(direction)]; }
    const List& hit(Direction direction, int bank) const {
        return of(direction).hits[static_cast<std::size_t>(bank)];
    }
    const List& miss(Direction direction, int bank) const {
        return of(direction).misses[static_cast<std::size_t>(bank)];
    }
    void append(List& list, std::int32_t slot);
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

}  // namespace systole
