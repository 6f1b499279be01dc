// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/time_vector.h"

#include <algorithm>
#include <vector>

#include "models/devices/simt/kernels/gemm_program.h"
#include "models/devices/simt/kernels/vector_program.h"
#include "models/devices/simt/sm/sm.h"

namespace systole::simt {
namespace {

// Later than all loads of a step have left.
constexpr std::int64_t kFar = 100'000;
constexpr std::int64_t kAnyRate = 1;  // of tensor cores, which stand still
// Of long rows: more would tell no more of one.
constexpr std::int64_t kMostTrips = 16;

/// When a CTA's loads of a step left.
struct Leaving {
    std::int64_t first = Sm::kNever, last = 0;
};

/// What columns have, which is read behind the last step, is waited for outside.
void take_alone(const VectorKernel& kernel, const CtaProgram& program, const SmSpec& sm, CtaTiming& timing) {
    std::vector<Leaving> steps(static_cast<std::size_t>(kernel.steps()));
    Sm alone(sm, kAnyRate, [&](const Sm::Access& access) {
        const std::int64_t step = access.number / kernel.loads_of_step();
        if (access.op != Op::GlobalLoad || step >= kernel.steps()) return access.at;
        Leaving& leaving = steps[static_cast<std::size_t>(step)];
        leaving = {std::min(leaving.first, access.at), std::max(leaving.last, access.at)};
        return access.at + kFar;
    });
    alone.launch(program, 0);
    alone.run();
    const Sm::CtaTrace& trace = alone.trace(0);
    std::int64_t spread = 0, work = 0;
    for (std::size_t step = 0; step < steps.size(); ++step) {
        const std::int64_t end = step + 1 < steps.size() ? steps[step + 1].first : trace.end;
        const std::int64_t all = end - (steps[step].first + kFar);
        std::int64_t leaving = steps[step].last - steps[step].first;
        // A warp that has its data goes on while others' loads leave: that is no time of a step.
        if (kernel.warps_go_on()) leaving = std::min(leaving, all);
        spread += leaving;
        work += std::max<std::int64_t>(0, all - leaving);
        timing.stores = Cycles(std::max<std::int64_t>(0, all - leaving));
    }
    const auto count = static_cast<double>(steps.size());
    timing.prologue = Cycles(trace.first_request);
    timing.spread = Cycles(spread / static_cast<std::int64_t>(steps.size()));
    timing.interval_alone = static_cast<double>(work) / count;
}

/// From the first request of so many CTAs to their end.
std::int64_t together(const CtaProgram& program, const SmSpec& sm, int ctas) {
    Sm full(sm, kAnyRate, [](Op, std::int64_t, std::int64_t at) { return at; });
    for (int i = 0; i < ctas; ++i) full.launch(program, 0);
    full.run();
    std::int64_t begin = Sm::kNever, end = 0;
    for (int i = 0; i < ctas; ++i) {
        const Sm::CtaTrace& trace = full.trace(static_cast<std::size_t>(i));
        begin = std::min(begin, trace.first_request);
        end = std::max(end, trace.end);
    }
    return end - begin;
}

/// What its warps do until the loads of the first step have left.
CtaProgram until_data(const CtaProgram& program) {
    CtaProgram beginning = program;
    for (Role& role : beginning.roles) {
        WarpProgram& sections = role.program;
        const auto first = std::find_if(sections.begin(), sections.end(),
                                        [](const Section& section) { return section.steps; });
        first->trips = 1;
        const auto last = std::find_if(first->body.rbegin(), first->body.rend(),
                                       [](const Instruction& one) { return one.op == Op::GlobalLoad; });
        first->body.erase(last.base(), first->body.end());
        sections.erase(first + 1, sections.end());
    }
    return beginning;
}

/// By how much longer twice as many CTAs as an SM holds take than these.
double each_more(const CtaProgram& program, const SmSpec& sm, int resident) {
    return static_cast<double>(together(program, sm, 2 * resident) - together(program, sm, resident)) /
           resident;
}

}  // namespace

std::optional<CtaTiming> time_vector(VectorKernel& kernel, const SmSpec& sm) {
    CtaTiming timing;
    timing.resident = occupancy(vector_program(kernel), sm);
    if (timing.resident == 0) return std::nullopt;
    if (kernel.most_resident > 0) timing.resident = std::min(timing.resident, kernel.most_resident);
    kernel.rereads_l1 = kernel.passes() == 1 || rows_stay(kernel, timing.resident, sm);
    VectorKernel shorter = kernel;
    if (kernel.row_of_cta() && !kernel.rereads_l1)
        shorter.cols = std::min(kernel.cols, kMostTrips * kernel.threads() * kernel.vector);
    const CtaProgram program = vector_program(shorter);
    timing.ahead = 1;
    take_alone(shorter, program, sm, timing);
    timing.interval_full =
        each_more(program, sm, timing.resident) * timing.resident / static_cast<double>(shorter.steps());
    timing.before_data = each_more(until_data(program), sm, timing.resident);
    timing.lost_alone.vector = timing.interval_alone;
    timing.lost_full.vector = timing.interval_full;
    return timing;
}

}  // namespace systole::simt
