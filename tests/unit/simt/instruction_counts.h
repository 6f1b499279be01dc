// SPDX-License-Identifier: Apache-2.0
// What a CTA's program does, counted: by one warp of its first role, or by all of its warps.
#pragma once

#include <cstdint>

#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt::test {

/// One warp's instructions of a kind.
inline std::int64_t count_of(const CtaProgram& program, Op op) {
    std::int64_t count = 0;
    for (const Section& section : program.roles.at(0).program)
        for (const Instruction& instruction : section.body)
            if (instruction.op == op) count += section.trips;
    return count;
}

/// Bytes of one warp's instructions of a kind.
inline std::int64_t bytes_of(const CtaProgram& program, Op op) {
    std::int64_t bytes = 0;
    for (const Section& section : program.roles.at(0).program)
        for (const Instruction& instruction : section.body)
            if (instruction.op == op) bytes += section.trips * instruction.bytes;
    return bytes;
}

/// `amount`s or `bytes` of instructions of a kind, of all warps of a CTA; nothing: how many there are.
inline std::int64_t sum_of(const CtaProgram& program, Op op, std::int64_t Instruction::*what = nullptr) {
    std::int64_t sum = 0;
    for (const Role& role : program.roles)
        for (const Section& section : role.program)
            for (const Instruction& instruction : section.body)
                if (instruction.op == op)
                    sum += role.warps * section.trips * (what == nullptr ? 1 : instruction.*what);
    return sum;
}

}  // namespace systole::simt::test
