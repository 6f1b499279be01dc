// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/time_gemv.h"

#include <algorithm>
#include <vector>

#include "models/devices/simt/kernels/gemv_program.h"
#include "models/devices/simt/sm/sm.h"

namespace systole::simt {
namespace {

constexpr std::int64_t kSteps = 24, kMiddle = 8;
// Later than all loads of a step have left.
constexpr std::int64_t kFar = 20'000;
constexpr std::int64_t kAnyRate = 1;  // of tensor cores, which stand still

/// When a CTA's loads of a step left.
struct Leaving {
    std::int64_t first = Sm::kNever, last = 0;
};

/// A CTA alone whose data come `kFar` after they were asked for. What its epilogue reads is waited for
/// outside.
void take_alone(const CtaTile& tile, const CtaProgram& program, const SmSpec& sm, CtaTiming& timing) {
    std::vector<Leaving> steps(kSteps);
    Sm alone(sm, kAnyRate, [&](const Sm::Access& access) {
        const std::int64_t step = access.number / gemv_loads(tile);
        if (access.op != Op::GlobalLoad || step >= kSteps) return access.at;
        Leaving& leaving = steps[static_cast<std::size_t>(step)];
        leaving = {std::min(leaving.first, access.at), std::max(leaving.last, access.at)};
        return access.at + kFar;
    });
    alone.launch(program, 0);
    alone.run();
    const Leaving &middle = steps[kMiddle], &next = steps[kMiddle + 1];
    const std::int64_t interval = std::max<std::int64_t>(0, next.first - (middle.last + kFar));
    timing.interval_alone = static_cast<double>(interval);
    timing.spread = Cycles(middle.last - middle.first);
    timing.prologue = Cycles(alone.trace(0).first_request);
    timing.epilogue =
        Cycles(std::max<std::int64_t>(0, alone.trace(0).end - (steps.back().last + kFar) - interval));
}

/// All CTAs that an SM holds, through all of their steps.
double full_interval(const CtaProgram& program, const SmSpec& sm, int resident) {
    Sm full(sm, kAnyRate, [](Op, std::int64_t, std::int64_t at) { return at; });
    for (int i = 0; i < resident; ++i) full.launch(program, 0);
    full.run();
    std::int64_t begin = Sm::kNever, end = 0;
    for (int i = 0; i < resident; ++i) {
        const Sm::CtaTrace& trace = full.trace(static_cast<std::size_t>(i));
        begin = std::min(begin, trace.first_request);
        end = std::max(end, trace.steps.back());
    }
    return static_cast<double>(end - begin) / static_cast<double>(kSteps);
}

}  // namespace

std::optional<CtaTiming> time_gemv(const CtaTile& tile, const GemmFormats& formats, const SmSpec& sm) {
    const CtaProgram program = gemv_program(tile, formats, kSteps);
    CtaTiming timing;
    timing.resident = occupancy(program, sm);
    if (timing.resident == 0) return std::nullopt;
    // Registers that wait for a step's data are free for the next one's when the step is over.
    timing.ahead = 1;
    take_alone(tile, program, sm, timing);
    timing.interval_full = full_interval(program, sm, timing.resident);
    timing.lost_alone.vector = timing.interval_alone;
    timing.lost_full.vector = timing.interval_full;
    timing.unstored = timing.epilogue;  // of a sector or less
    timing.epilogue_vector = 1;
    return timing;
}

}  // namespace systole::simt
