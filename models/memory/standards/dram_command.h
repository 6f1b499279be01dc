// SPDX-License-Identifier: Apache-2.0
// The commands of a DRAM, under their short JEDEC names, and one as it was given.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/base/units.h"

namespace systole {

enum class Direction : std::uint8_t { Read, Write };
constexpr Direction opposite(Direction direction) {
    return direction == Direction::Read ? Direction::Write : Direction::Read;
}

enum class Command : std::uint8_t {
    Act,
    Pre,
    PreAll,
    Read,
    Write,
    ReadAp,   ///< with auto-precharge: the bank closes by itself
    WriteAp,  ///< as above
    Refresh,
    RefreshBank
};
inline constexpr int kCommands = 9;
std::string_view to_string(Command command);

constexpr bool is_column(Command command) {
    return command >= Command::Read && command <= Command::WriteAp;
}
constexpr bool is_read(Command command) {
    return command == Command::Read || command == Command::ReadAp;
}
/// A column that leaves its bank closed.
constexpr bool closes_bank(Command command) {
    return command == Command::ReadAp || command == Command::WriteAp;
}
/// The command concerns one bank, not all of a pseudo-channel.
constexpr bool names_bank(Command command) {
    return command != Command::PreAll && command != Command::Refresh;
}

/// A command on a channel's bus; `clock` is the first that it takes there.
struct GivenCommand {
    Command command = Command::Act;
    int pseudo_channel = 0;
    int bank = 0;          ///< group-major; says nothing where !names_bank()
    std::int64_t row = 0;  ///< that Act opens, that a column is of, that Pre closes; else says nothing
    Cycles clock;
    friend bool operator==(const GivenCommand&, const GivenCommand&) = default;
};

}  // namespace systole
