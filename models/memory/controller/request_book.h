// SPDX-License-Identifier: Apache-2.0
// The requests of a pseudo-channel that are not yet answered: how many bursts each still waits for, and which
// are finished at what time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/memory/controller/fifo.h"
#include "models/memory/standards/dram_command.h"
#include "sim/base/units.h"

namespace systole {

class RequestBook {
public:
    /// A request of `bursts` bursts, the youngest of its direction; answers the number under which it is kept
    /// until they, and those of all older ones, are served.
    std::int32_t enter(std::int64_t id, std::int64_t bursts, Direction direction) {
        if (free_.empty()) {
            free_.push_back(static_cast<std::int32_t>(entries_.size()));
            entries_.emplace_back();
        }
        const std::int32_t number = free_.back();
        free_.pop_back();
        entries_[static_cast<std::size_t>(number)] = {id, bursts};
        by_age_[static_cast<std::size_t>(direction)].push(number);
        return number;
    }

    /// `bursts` of them are served; the last one's data ends at `end`. Ends of one direction never decrease.
    void serve(std::int32_t number, std::int64_t bursts, Direction direction, Cycles end) {
        Entry& entry = entries_[static_cast<std::size_t>(number)];
        if ((entry.left -= bursts) > 0) return;
        const auto side = static_cast<std::size_t>(direction);
        if (finished_[side].empty()) first_[side] = end;
        finished_[side].push({entry.id, end});
        for (Fifo<std::int32_t>& oldest = by_age_[side]; !oldest.empty() && left(oldest.front()) == 0;
             oldest.pop())
            free_.push_back(oldest.front());
    }

    static constexpr std::int32_t kNobody = -1;
    /// The fewest bursts that one of the direction's requests waits for, of those before the request `end`.
    std::int64_t least_left(Direction direction, std::int32_t end) const {
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        const Fifo<std::int32_t>& numbers = by_age_[static_cast<std::size_t>(direction)];
        for (std::size_t i = 0; i < numbers.size() && least > 1; ++i) {
            if (numbers[i] == end) break;
            const std::int64_t left = this->left(numbers[i]);
            if (left > 0) least = std::min(least, left);
        }
        return least;
    }

    std::int64_t left(std::int32_t number) const { return entries_[static_cast<std::size_t>(number)].left; }

    bool nothing_finished() const { return finished_[0].empty() && finished_[1].empty(); }
    /// When the first finished request is finished; Cycles::max() if there is none.
    Cycles first_end() const { return std::min(first_[0], first_[1]); }
    /// That request leaves; answers its id.
    std::int64_t collect_first() {
        const std::size_t side = first_[0] <= first_[1] ? 0 : 1;
        Fifo<Finished>& queue = finished_[side];
        const std::int64_t id = queue.front().id;
        queue.pop();
        first_[side] = queue.empty() ? Cycles::max() : queue.front().end;
        return id;
    }

private:
    struct Entry {
        std::int64_t id = 0, left = 0;
    };
    struct Finished {
        std::int64_t id = 0;
        Cycles end;
    };

    std::vector<Entry> entries_;
    std::vector<std::int32_t> free_;
    std::array<Fifo<std::int32_t>, 2> by_age_;                   // by direction; some are served
    std::array<Fifo<Finished>, 2> finished_;                     // by direction
    std::array<Cycles, 2> first_{Cycles::max(), Cycles::max()};  // end of the first of each
};

}  // namespace systole
