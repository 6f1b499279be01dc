// SPDX-License-Identifier: Apache-2.0
// What a pseudo-channel would do next, and which of two such things goes first.
#pragma once

#include <cstdint>

#include "models/memory/standards/dram_command.h"
#include "sim/base/units.h"

namespace systole {

/// `&&` and `||` of what is computed anyway, without a branch.
constexpr bool both(bool a, bool b) {
    return (static_cast<int>(a) & static_cast<int>(b)) != 0;
}
constexpr bool either(bool a, bool b) {
    return (static_cast<int>(a) | static_cast<int>(b)) != 0;
}

/// The greater of two clocks, as values and without a branch; neither is far from the other.
constexpr std::int64_t later(std::int64_t a, std::int64_t b) {
    const std::int64_t ahead = b - a;
    return a + (ahead & ~(ahead >> 63));
}

/// Something a pseudo-channel will do at `when` unless the other does something first. Of two at one clock
/// the lower kind goes first, then the lower sequence number.
struct Choice {
    enum class Kind : std::uint8_t {
        Change,  ///< its windows, its direction or what it owes in refreshes change
        Refresh,
        Column,
        Row
    };
    Cycles when = Cycles::max();
    std::int64_t sequence = 0;
    Kind kind = Kind::Row;
    Command command = Command::Read;
    Direction direction = Direction::Read;  ///< of the burst it serves
    std::int16_t bank = 0;

    /// Which of two comes first cannot be predicted, so there is no branch to be mispredicted.
    bool before(const Choice& other) const {
        const bool first_of_kind = both(kind == other.kind, sequence < other.sequence);
        const bool first_at_once = either(kind < other.kind, first_of_kind);
        return (when - other.when).value() < static_cast<std::int64_t>(first_at_once);
    }
};

}  // namespace systole
