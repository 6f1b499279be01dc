// SPDX-License-Identifier: Apache-2.0
// The requests of a pseudo-channel that are not yet answered: how many bursts each still waits for, and which
// are finished at what time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "models/memory/controller/fifo.h"
#include "models/memory/standards/dram_command.h"
#include "sim/base/units.h"

namespace systole {

class RequestBook {
public:
    /// A request of `bursts` bursts; answers the number under which it is kept until they are served.
    std::int32_t enter(std::int64_t id, std::int64_t bursts) {
        if (free_.empty()) {
            free_.push_back(static_cast<std::int32_t>(entries_.size()));
            entries_.emplace_back();
        }
        const std::int32_t number = free_.back();
        free_.pop_back();
        entries_[static_cast<std::size_t>(number)] = {id, bursts};
        return number;
    }

    /// `bursts` of them are served; the last one's data ends at `end`. Ends of one direction never decrease.
    void serve(std::int32_t number, std::int64_t bursts, Direction direction, Cycles end) {
        Entry& entry = entries_[static_cast<std::size_t>(number)];
        if ((entry.left -= bursts) > 0) return;
        const auto side = static_cast<std::size_t>(direction);
        if (finished_[side].empty()) first_[side] = end;
        finished_[side].push({entry.id, end});
        free_.push_back(number);
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
    std::array<Fifo<Finished>, 2> finished_;                     // by direction
    std::array<Cycles, 2> first_{Cycles::max(), Cycles::max()};  // end of the first of each
};

}  // namespace systole
