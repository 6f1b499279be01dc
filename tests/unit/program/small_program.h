// SPDX-License-Identifier: Apache-2.0
// A program with a command of most kinds, for a machine of one 4x4 array, and what the reader says of others.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "models/devices/systolic/program/program_reader.h"
#include "tests/support/machines.h"

namespace systole::systolic::test {

using systole::test::small_machine;

inline const std::string kProgram = R"(systole-program 2
trace "with \"quotes\""
array dataflow=ws
layer "fc" op=matmul macs=128 compulsory_dram=80 dtype=int8 mapping="by hand"
stream levels=1*0,2*64,4*4 segments=0+2,32+2
host_in layer=0 from=host:0 to=dram:4096 rows=1 row_bytes=32 operand=activations
load layer=0 from=dram:4096 to=scratchpad:0 rows=2 row_bytes=16 from_stride=16 to_stride=64 operand=activations after=host_in:1
weights0 layer=0 from=scratchpad:24576 to=weight_fifo:0 rows=1 row_bytes=16 operand=weights
mxu0 layer=0 left=0:0 m=8 k=4 n=4 accumulator=0 mode=set tile=next dtype=int8 batch=1 m0=2 k0=3 n0=4 after=load:1,weights0:1
vector layer=0 elements=32 lane_cycles=32 read=0 written=32 macs=0 operand=outputs mxu=0 accumulator=0 rows=8 cols=4 batch=1 m0=2 n0=4 after=mxu0:1
)";

inline Program parse(const std::string& text, const SystolicSpec& spec = small_machine(4, 4)) {
    return parse_program(text, "p.txt", spec);
}

/// The program with one piece of text replaced.
inline std::string with(const std::string& what, const std::string& instead, std::string text = kProgram) {
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.replace(at, what.size(), instead);
}

inline void check_refused(const std::string& text, const std::string& message,
                          const SystolicSpec& spec = small_machine(4, 4)) {
    try {
        parse(text, spec);
        FAIL("not refused: " << message);
    } catch (const UserError& error) {
        CHECK_THAT(error.what(), Catch::Contains(message));
    }
}

}  // namespace systole::systolic::test
