// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/time_cta.h"

#include <algorithm>
#include <cmath>

#include "models/devices/simt/kernels/gemm_program.h"
#include "models/devices/simt/kernels/staged_program.h"
#include "models/devices/simt/kernels/steady_steps.h"
#include "models/devices/simt/kernels/thread_mma_program.h"
#include "models/devices/simt/kernels/time_gemv.h"
#include "models/devices/simt/kernels/wmma_program.h"
#include "models/devices/simt/sm/sm.h"
#include "sim/base/check.h"

namespace systole::simt {
namespace {

// Data that come so late let a CTA ask for all it may before it starts.
constexpr std::int64_t kFar = 20'000;

// What the epilogue reads is waited for outside: it begins when that is there.
Sm::Memory memory_of(std::int64_t latency) {
    return
        [latency](Op op, std::int64_t, std::int64_t at) { return op == Op::GlobalLoad ? at : at + latency; };
}

/// What a CTA does before its first step and behind its last one.
void take_ends(const Sm::CtaTrace& trace, CtaTiming& timing) {
    timing.prologue = Cycles(trace.first_request);
    const auto ahead = static_cast<std::size_t>(timing.ahead);
    SYSTOLE_CHECK(trace.requests.size() >= ahead, "{} steps were asked for", trace.requests.size());
    timing.request =
        Cycles((trace.requests[ahead - 1] - trace.requests[0]) / std::max<std::int64_t>(1, timing.ahead - 1));
    timing.fill = Cycles(std::max<std::int64_t>(0, trace.first_mma - trace.first_data));
    timing.epilogue = Cycles(trace.end - trace.last_mma_end);
}

/// What an instruction of a warp keeps the load/store unit, or the shared memory behind it.
std::int64_t lsu_of(const Instruction& instruction, const SmSpec& sm) {
    switch (instruction.op) {
        case Op::GlobalStore:
            return ceil_div(instruction.bytes, sm.store_bytes_per_cycle.value());
        case Op::AsyncCopy:
        case Op::StepLoad:
            return ceil_div(instruction.bytes, sm.l1_bytes_per_cycle.value());
        case Op::SharedLoad:
        case Op::SharedStore:
            return ceil_div(instruction.bytes, sm.shared.bytes_per_cycle.value());
        default:
            return 0;
    }
}

/// What keeps the load/store unit in a step, and behind the last one.
void take_lsu(const CtaProgram& program, const SmSpec& sm, CtaTiming& timing) {
    std::int64_t held = 0, epilogue = 0, step = 0;
    for (const Role& role : program.roles) {
        bool behind = false;
        for (const Section& section : role.program) {
            behind = behind || section.steps;
            for (const Instruction& instruction : section.body) {
                const std::int64_t cycles = role.warps * lsu_of(instruction, sm);
                if (section.steps) step += cycles;
                if (behind && !section.steps) epilogue += cycles * section.trips;
                if (instruction.op == Op::GlobalStore) held += cycles * section.trips;
            }
        }
    }
    timing.held = Cycles(held);
    timing.lsu = Cycles(held > 0 ? epilogue : 0);
    timing.step_lsu = Cycles(held > 0 ? step : 0);
}

/// Epilogues of all CTAs that an SM holds, at once: none keeps the load/store unit less than its part of
/// them.
void take_crowd(const CtaProgram& program, const SmSpec& sm, std::int64_t macs, CtaTiming& timing) {
    if (timing.lsu == Cycles(0) || timing.resident == 1) return;
    Sm crowd(sm, macs, memory_of(kFar));
    for (int i = 0; i < timing.resident; ++i) crowd.launch(program, 0);
    crowd.run();
    std::int64_t begin = Sm::kNever, end = 0;
    for (int i = 0; i < timing.resident; ++i) {
        const Sm::CtaTrace& trace = crowd.trace(static_cast<std::size_t>(i));
        begin = std::min(begin, trace.last_mma_end);
        end = std::max(end, trace.end);
    }
    timing.lsu = std::max(timing.lsu, Cycles((end - begin) / timing.resident));
}

/// How much less the epilogue is where threads store nothing.
void take_unstored(const CtaProgram& program, const SmSpec& sm, std::int64_t macs, CtaTiming& timing) {
    timing.unstored = timing.epilogue;
    if (timing.held == Cycles(0)) return;
    const CtaProgram silent_program = storing(program, 0);
    Sm silent(sm, macs, memory_of(kFar));
    silent.launch(silent_program, 0);
    silent.run();
    timing.unstored = std::min(timing.epilogue, Cycles(silent.trace(0).end - silent.trace(0).last_mma_end));
}

}  // namespace

CtaTiming storing(CtaTiming timing, double share) {
    const Cycles saved(std::llround((1 - share) * static_cast<double>(timing.held.value())));
    timing.epilogue = std::max(timing.unstored, timing.epilogue - saved);
    timing.stores = std::min(timing.stores, timing.epilogue);
    timing.lsu = timing.lsu - saved;
    timing.held = timing.held - saved;
    return timing;
}

std::optional<CtaTiming> time_cta(const CtaTile& tile, const GemmFormats& formats, const SmSpec& sm) {
    if (tile.pipes == Pipes::Fp32) return time_gemv(tile, formats, sm);
    const TensorIssue issue = sm.issue_of(formats.in);
    if (!divides(tile, formats, issue)) return std::nullopt;
    const std::int64_t most = sm.shared.most_of_cta.value();
    if ((tile.shared_below > 0 && most >= tile.shared_below) || most < tile.shared_from) return std::nullopt;
    const CtaProgram program = gemm_program(tile, formats, kSteadySteps, sm);
    CtaTiming timing;
    timing.resident = occupancy(program, sm, is_wmma(tile, issue));
    if (timing.resident == 0) return std::nullopt;
    timing.ahead = steps_ahead(tile, issue);
    if (issue == TensorIssue::Thread) timing.accumulators = accumulators_of(tile);
    const std::int64_t macs = sm.macs(formats.in);

    const CtaProgram short_program = gemm_program(tile, formats, timing.ahead + 1, sm);
    std::int64_t first_store = Sm::kNever;
    Sm far(sm, macs, [&](Op op, std::int64_t bytes, std::int64_t at) {
        if (op == Op::GlobalStore || op == Op::BulkStore) first_store = std::min(first_store, at);
        return memory_of(kFar)(op, bytes, at);
    });
    far.launch(short_program, 0);
    far.run();
    take_ends(far.trace(0), timing);
    timing.stores = Cycles(std::max<std::int64_t>(0, far.trace(0).end - first_store));
    take_lsu(short_program, sm, timing);
    take_crowd(short_program, sm, macs, timing);
    take_unstored(short_program, sm, macs, timing);
    const Sm::CtaTrace& trace = far.trace(0);
    const auto epilogue = static_cast<double>(sm.sub_cores * (trace.end - trace.last_mma_end));
    timing.epilogue_vector =
        static_cast<double>(far.lost(trace.last_mma_end, trace.end)[static_cast<std::size_t>(Loss::Vector)]) /
        std::max(1.0, epilogue);

    Sm alone(sm, macs, memory_of(0));
    alone.launch(program, 0);
    run_steady(alone, 1);
    take_alone(alone, sm.sub_cores, timing);
    if (is_wmma(tile, issue))
        take_wmma_turns(tile, formats, sm, timing);
    else if (issue == TensorIssue::Warp)
        timing.meet = timing.interval_alone * before_last_part(tile, formats);
    if (is_staged(issue)) {
        const StepShares shares = staged_step_shares(tile, formats, issue);
        timing.meet = timing.interval_alone * shares.stored;
        timing.loaded = timing.interval_alone * shares.loaded;
    }

    Sm full(sm, macs, memory_of(0));
    for (int i = 0; i < timing.resident; ++i) full.launch(program, 0);
    run_steady(full, timing.resident);
    take_full(full, sm.sub_cores, timing);
    return timing;
}

}  // namespace systole::simt
