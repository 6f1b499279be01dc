// SPDX-License-Identifier: Apache-2.0
// The entries of a scheduler's queues, so many for reads and so many for writes: of one pseudo-channel, or of
// all pseudo-channels of a channel together. Only counted; the bursts are in each one's window.
#pragma once

#include <array>
#include <cstddef>

#include "models/memory/standards/dram_command.h"

namespace systole {

class QueueEntries {
public:
    explicit QueueEntries(int depth) : depth_(depth) {}

    int depth() const { return depth_; }
    int used(Direction direction) const { return used_[index(direction)]; }
    int free(Direction direction) const { return depth_ - used(direction); }
    void take(Direction direction) { ++used_[index(direction)]; }
    void give(Direction direction) { --used_[index(direction)]; }

private:
    static std::size_t index(Direction direction) { return static_cast<std::size_t>(direction); }

    int depth_;
    std::array<int, 2> used_{};
};

}  // namespace systole
