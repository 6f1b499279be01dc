// SPDX-License-Identifier: Apache-2.0
// Programs so small that their cycles on an SM can be counted by hand.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/devices/simt/sm/sm.h"
#include "tests/unit/simt/sm_specs.h"

namespace systole::simt::test {

/// A memory that answers so late.
inline Sm::Memory after(std::int64_t latency) {
    return [latency](Op, std::int64_t, std::int64_t at) { return at + latency; };
}

inline CtaProgram program_of(int warps, std::vector<Instruction> body, std::int64_t trips = 1) {
    CtaProgram program;
    program.roles = {{warps, {{std::move(body), trips, true}}}};
    return program;
}

/// Cycles of one CTA by itself.
inline std::int64_t cycles_of(const CtaProgram& program, const SmSpec& spec = warp_mma_sm(),
                              std::int64_t latency = 0) {
    Sm sm(spec, *spec.tensor.macs[static_cast<std::size_t>(DType::Bf16)], after(latency));
    sm.launch(program, 0);
    sm.run();
    return sm.trace(0).end;
}

}  // namespace systole::simt::test
