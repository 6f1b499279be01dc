// SPDX-License-Identifier: Apache-2.0
// What the patterns of a program cost in the banks of the scratchpad: accesses by bank of every read and
// write, each looked up once for a pattern and its place among the banks. Shared by all units of a machine.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "models/devices/systolic/mxu/port_schedule.h"
#include "models/devices/systolic/program/program.h"
#include "models/memory/scratchpad/scratchpad_banks.h"
#include "sim/kernel/turns.h"

namespace systole::systolic {

/// How lines pass a client's port.
enum class Passing : std::uint8_t {
    ByVector,  ///< vector by vector: a line once for every vector that has bytes in it
    Buffered   ///< through a buffer: each line once
};

class PatternLoads {
public:
    PatternLoads(const ScratchpadSpec& spec, const Program& program);

    /// Of `fold` of what `edge` reads or writes; only a whole pattern passes vector by vector. Valid until
    /// the next call.
    const BankLoad& of(const EdgeRead& edge, Passing passing, std::int32_t fold = 0);

private:
    using Key = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::int64_t, Passing>;

    /// Counts kept at most, banks times patterns and places: 64 MB. Then all are looked up anew.
    static constexpr std::size_t kMostKept = std::size_t{1} << 22;

    const BankedPort port_;
    const Program& program_;
    std::map<Key, BankLoad> known_;  // by pattern, place, window
};

/// How a unit gets at the banks: it asks for its turn, then for a promise.
struct BankSeat {
    ScratchpadBanks& banks;
    PatternLoads& loads;
    Turns& turns;
};

}  // namespace systole::systolic
