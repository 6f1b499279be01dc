// SPDX-License-Identifier: Apache-2.0
// What a step takes, seen before the CTAs have ended, against what is seen of their whole run.
#include "models/devices/simt/kernels/steady_steps.h"

#include <catch2/catch.hpp>
#include <utility>

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

bool same(const LostCycles& a, const LostCycles& b) {
    return a.on_chip == b.on_chip && a.dependency == b.dependency && a.vector == b.vector;
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
            const Seen soon = seen(program, spec.sm, dtype, resident, false),
                       late = seen(program, spec.sm, dtype, resident, true);
            CHECK(soon.timing.interval_alone == late.timing.interval_alone);
            CHECK(soon.timing.interval_full == late.timing.interval_full);
            CHECK(soon.timing.busy == late.timing.busy);
            CHECK(same(soon.timing.lost_alone, late.timing.lost_alone));
            CHECK(same(soon.timing.lost_full, late.timing.lost_full));
            early += soon.instructions;
            whole += late.instructions;
        }
        CAPTURE(name, early, whole);
        CHECK(whole > 0);
        CHECK(early < whole);
    }
}

}  // namespace systole::simt
