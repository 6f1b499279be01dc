// SPDX-License-Identifier: Apache-2.0
// When the registers of a warp have their values: by group, and by what is on its way to them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

/// What an instruction waits for when it waits for a register.
enum class Producer : std::uint8_t {
    Pipe,    ///< arithmetic, of known latency
    Shared,  ///< shared memory: the short scoreboard
    Memory   ///< global memory: the long scoreboard
};

class Scoreboard {
public:
    struct Wait {
        std::int64_t until = 0;
        Producer producer = Producer::Pipe;
    };

    /// The groups get their values at `at`.
    void write(RegisterGroups groups, std::int64_t at, Producer producer) {
        for (RegisterGroups left = groups; left != 0; left &= left - 1)
            ready_[static_cast<std::size_t>(std::countr_zero(left))] = {at, producer};
    }
    /// Until when the last of the groups is on its way; 0 if none ever was.
    Wait wait_for(RegisterGroups groups) const {
        Wait last;
        for (RegisterGroups left = groups; left != 0; left &= left - 1) {
            const Wait& one = ready_[static_cast<std::size_t>(std::countr_zero(left))];
            if (one.until > last.until) last = one;
        }
        return last;
    }

private:
    std::array<Wait, 64> ready_{};
};

}  // namespace systole::simt
