// SPDX-License-Identifier: Apache-2.0
// What a step takes, seen before the CTAs have ended, against what is seen of their whole run.
#include "models/devices/simt/kernels/steady_steps.h"

#include <catch2/catch.hpp>
#include <utility>

#include "models/devices/simt/kernels/attention_program.h"
#include "models/devices/simt/kernels/choose.h"
#include "models/devices/simt/kernels/gemm_program.h"
#include "models/devices/simt/kernels/wmma_program.h"
#include "tests/unit/simt/gpu_config.h"

namespace systole::simt {
namespace {

using systole::test::shipped_gpu;

struct Seen {
    CtaTiming timing;
    std::int64_t instructions = 0;
};

/// Of as many CTAs as an SM holds, and of one alone.
Seen seen(const CtaProgram& program, const SmSpec& sm, DType dtype, int resident, bool to_the_end) {
    Seen seen;
    seen.timing.resident = resident;
    for (const int ctas : {1, resident}) {
        Sm some(sm, sm.macs(dtype), [](Op, std::int64_t, std::int64_t at) { return at; });
        for (int i = 0; i < ctas; ++i) some.launch(program, 0);
        if (to_the_end)
            some.run();
        else
            run_steady(some, ctas);
        seen.instructions += some.instructions();
        if (ctas == 1) take_alone(some, sm.sub_cores, seen.timing);
        if (ctas == resident) take_full(some, sm.sub_cores, seen.timing);
    }
    return seen;
}

/// Before the CTAs have ended, and behind that.
std::pair<Seen, Seen> seen_both(const CtaProgram& program, const SmSpec& sm, DType dtype, int resident) {
    return {seen(program, sm, dtype, resident, false), seen(program, sm, dtype, resident, true)};
}

bool same(const LostCycles& a, const LostCycles& b) {
    return a.on_chip == b.on_chip && a.dependency == b.dependency && a.vector == b.vector;
}

void check_same(const CtaTiming& a, const CtaTiming& b) {
    CHECK(a.interval_alone == b.interval_alone);
    CHECK(a.interval_full == b.interval_full);
    CHECK(a.busy == b.busy);
    CHECK(same(a.lost_alone, b.lost_alone));
    CHECK(same(a.lost_full, b.lost_full));
}

}  // namespace

TEST_CASE("A step takes what it takes in a whole run, and is known before its end") {
    const std::pair<const char*, DType> chips[] = {{"v100", DType::Fp16}, {"a100", DType::Bf16},
                                                   {"l40s", DType::Bf16}, {"h100", DType::Bf16},
                                                   {"b200", DType::Bf16}, {"mi300x", DType::Bf16}};
    for (const auto& [name, dtype] : chips) {
        const SimtSpec spec = shipped_gpu(name);
        const TensorIssue issue = spec.sm.issue_of(dtype);
        const GemmFormats formats{dtype, dtype};
        std::int64_t early = 0, whole = 0;
        for (const CtaTile& tile : catalogue(issue, false, Library::PyTorch)) {
            INFO(name << ": " << tile.m << " x " << tile.n << " x " << tile.k << ", " << tile.stages
                      << " stages");
            if (!divides(tile, formats, issue)) continue;
            const CtaProgram program = gemm_program(tile, formats, kSteadySteps, spec.sm);
            const int resident = occupancy(program, spec.sm, is_wmma(tile, issue));
            if (resident == 0) continue;
            const auto [soon, late] = seen_both(program, spec.sm, dtype, resident);
            check_same(soon.timing, late.timing);
            early += soon.instructions;
            whole += late.instructions;
        }
        CAPTURE(name, early, whole);
        CHECK(whole > 0);
        CHECK(early < whole);
    }
}

TEST_CASE("So does a step of attention") {
    const AttentionTile warps{AttentionDesign::Tiled, 64, 128, 128, 4, 1, 64},
        groups{AttentionDesign::Tiled, 128, 128, 128, 8, 2, 0};
    for (const auto& [name, tile] :
         {std::pair("a100", warps), std::pair("l40s", warps), std::pair("h100", groups)})
        for (const std::int64_t masked : {std::int64_t{0}, kSteadySteps}) {
            INFO(name << ", " << masked << " steps with a mask");
            const SimtSpec spec = shipped_gpu(name);
            const CtaProgram program = attention_program(tile, {}, {kSteadySteps, masked}, spec.sm);
            const int resident = occupancy(program, spec.sm);
            REQUIRE(resident > 0);
            const auto [soon, late] = seen_both(program, spec.sm, DType::Bf16, resident);
            check_same(soon.timing, late.timing);
            CHECK(soon.instructions < late.instructions);
        }
}

}  // namespace systole::simt
