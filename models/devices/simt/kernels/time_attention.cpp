// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/time_attention.h"

#include <algorithm>

#include "models/devices/simt/kernels/decode_kernel.h"
#include "models/devices/simt/kernels/gemm_program.h"
#include "models/devices/simt/kernels/steady_steps.h"
#include "models/devices/simt/kernels/thread_attention_program.h"
#include "models/devices/simt/sm/sm.h"
#include "sim/base/check.h"

namespace systole::simt {
namespace {

// Data that come so late let a CTA ask for all it may before it starts.
constexpr std::int64_t kFar = 20'000;

Sm::Memory memory_of(std::int64_t latency) {
    return [latency](Op, std::int64_t, std::int64_t at) { return at + latency; };
}

/// What a CTA does before its first step and behind its last one, of three.
void take_ends(const CtaProgram& program, const SmSpec& sm, std::int64_t macs, CtaTiming& timing) {
    std::int64_t first_store = Sm::kNever;
    Sm far(sm, macs, [&](Op op, std::int64_t, std::int64_t at) {
        const bool stores = op == Op::GlobalStore || op == Op::BulkStore;
        if (stores) first_store = std::min(first_store, at);
        return stores ? at : at + kFar;
    });
    far.launch(program, 0);
    far.run();
    const Sm::CtaTrace& trace = far.trace(0);
    timing.prologue = Cycles(trace.first_request);
    if (timing.ahead > 1) timing.request = Cycles(trace.requests[1] - trace.requests[0]);
    timing.fill = Cycles(std::max<std::int64_t>(0, trace.first_mma - trace.first_data));
    timing.epilogue = Cycles(trace.end - trace.last_mma_end);
    timing.stores = Cycles(std::max<std::int64_t>(0, trace.end - first_store));
    const LostTime lost = far.lost(trace.last_mma_end, trace.end);
    timing.epilogue_vector = static_cast<double>(lost[static_cast<std::size_t>(Loss::Vector)]) /
                             std::max(1.0, static_cast<double>(sm.sub_cores * timing.epilogue.value()));
}

/// Of warps that copy and compute: from a step's begin until the last copies of data of the next block are
/// asked for.
double asks_in_step(const AttentionTile& tile, const Sm::CtaTrace& trace) {
    const bool specialized = tile.design == AttentionDesign::Specialized;
    const std::int64_t of_step = specialized      ? tile.dim / kWarpColumns
                                 : tile.slice > 0 ? (tile.dim + tile.n) / tile.slice
                                                  : 2;
    const auto last = static_cast<std::size_t>((specialized ? 1 : 2) + of_step * (kSteadyWarmUp + 1) - 1);
    SYSTOLE_CHECK(trace.requests.size() > last, "{} groups of copies", trace.requests.size());
    return static_cast<double>(trace.requests[last] -
                               trace.steps[static_cast<std::size_t>(kSteadyWarmUp - 1)]);
}

// Later than all loads of a step have left, and of how many blocks more would tell no more of one.
constexpr std::int64_t kLate = 100'000, kFewBlocks = 4;

/// A CTA on FP32 pipes, with data that come late: what it does besides waiting, shared out among its steps.
void take_alone_in_threads(const CtaProgram& program, const AttentionTile& tile, const WarpsOfRows& rows,
                           std::int64_t blocks, const SmSpec& sm, CtaTiming& timing) {
    std::int64_t first = Sm::kNever, waits = 0;
    Sm alone(sm, 1, [&](const Sm::Access& access) {
        if (access.op != Op::GlobalLoad) return access.at;
        const std::int64_t load = load_of_steps(access.role, access.number);
        if (load < 0) return access.at + tile.table;
        first = std::min(first, access.at);
        const auto [step, number] = load_of_step(rows, blocks, load);
        const std::int64_t of_keys = rows.loads_of_keys / kKeysAtOnce;
        waits = std::max(waits, step < blocks ? step * of_keys + number / kKeysAtOnce + 1
                                              : blocks * of_keys + step - blocks + 1);
        return access.at + kLate;
    });
    alone.launch(program, 0);
    alone.run();
    const Sm::CtaTrace& trace = alone.trace(0);
    timing.prologue = Cycles(first);
    timing.epilogue = Cycles(std::max<std::int64_t>(0, trace.end - trace.steps.back()));
    const std::int64_t work = trace.steps.back() - first - waits * kLate;
    timing.interval_alone =
        static_cast<double>(std::max<std::int64_t>(0, work)) / static_cast<double>(2 * blocks);
}

/// Cycles of an SM's pipes for one CTA more than as many as it holds.
double each_more(const CtaProgram& program, int resident, const SmSpec& sm) {
    const auto together = [&](int ctas) {
        Sm full(sm, 1, memory_of(0));
        for (int i = 0; i < ctas; ++i) full.launch(program, 0);
        full.run();
        std::int64_t end = 0;
        for (int i = 0; i < ctas; ++i) end = std::max(end, full.trace(static_cast<std::size_t>(i)).end);
        return end;
    };
    return static_cast<double>(together(2 * resident) - together(resident)) / resident;
}

/// What warps do before their first keys.
CtaProgram ahead_of_keys(CtaProgram program) {
    for (Role& role : program.roles) role.program.resize(1);
    return program;
}

std::optional<AttentionTiming> time_in_threads(const AttentionTile& tile, const AttentionFormats& formats,
                                               std::int64_t blocks, const SmSpec& sm) {
    const auto program_of = [&](std::int64_t number) {
        return attention_program(tile, formats, {2 * number, 0}, sm);
    };
    AttentionTiming timing;
    CtaTiming& cta = timing.cta;
    cta.resident = occupancy(program_of(blocks), sm);
    if (cta.resident == 0) return std::nullopt;
    cta.ahead = 1;
    const std::int64_t few = std::min(blocks, kFewBlocks), fewer = few / 2;
    take_alone_in_threads(program_of(few), tile, warps_of_rows(tile, formats.in, sm.warp_threads), few, sm,
                          cta);
    const double of_few = each_more(program_of(few), cta.resident, sm);
    double of_cta = of_few;
    if (blocks > few)
        of_cta += (of_few - each_more(program_of(fewer), cta.resident, sm)) /
                  static_cast<double>(few - fewer) * static_cast<double>(blocks - few);
    cta.interval_full = of_cta * cta.resident / static_cast<double>(2 * blocks);
    // What pipes take for it ahead of its keys is in its intervals already.
    const double ahead = each_more(ahead_of_keys(program_of(few)), cta.resident, sm);
    cta.prologue = std::max(Cycles(0), cta.prologue - Cycles(static_cast<std::int64_t>(ahead)));
    cta.lost_alone.vector = cta.interval_alone;
    cta.lost_full.vector = cta.interval_full;
    cta.epilogue_vector = 1;
    return timing;
}

/// Keys are asked for when the number of their page is there. What a CTA takes besides its steps' intervals,
/// as one of a single step does whose data the L2 has: warps of values are a step behind those of scores, and
/// parts of long heads are asked for one by one.
void take_rest(const CtaProgram& of_one, std::int64_t latency, const SmSpec& sm, std::int64_t macs,
               CtaTiming& timing) {
    Sm one(sm, macs, memory_of(latency));
    one.launch(of_one, 0);
    one.run();
    const Sm::CtaTrace& trace = one.trace(0);
    timing.prologue = Cycles(trace.requests.front());
    timing.epilogue = Cycles(std::max<std::int64_t>(
        timing.stores.value(),
        trace.end - trace.first_mma - static_cast<std::int64_t>(timing.interval_alone)));
}

}  // namespace

std::optional<AttentionTiming> time_attention(const AttentionTile& tile, const AttentionFormats& formats,
                                              double stored, std::int64_t blocks, const SmSpec& sm) {
    if (tile.design == AttentionDesign::Threads) return time_in_threads(tile, formats, blocks, sm);
    const bool groups = by_groups(tile, sm);
    const auto program_of = [&](AttentionWork work) {
        return storing(attention_program(tile, formats, work, sm), stored);
    };
    const CtaProgram program = program_of({kSteadySteps, 0});
    AttentionTiming timing;
    CtaTiming& cta = timing.cta;
    cta.resident = occupancy(program, sm);
    if (cta.resident == 0) return std::nullopt;
    cta.ahead = groups ? tile.stages : 1;
    const std::int64_t macs = sm.tensor.macs[static_cast<std::size_t>(formats.in)].value();
    const CtaProgram shorter = program_of({cta.ahead + 1, 0});
    take_ends(shorter, sm, macs, cta);

    Sm alone(sm, macs, memory_of(0));
    alone.launch(program, 0);
    run_steady(alone, 1);
    take_alone(alone, sm.sub_cores, cta);
    if (!groups) cta.meet = asks_in_step(tile, alone.trace(0));
    if (tile.design == AttentionDesign::Specialized)
        take_rest(program_of({1, 0}), tile.dim > 2 * kWarpColumns ? tile.table : kFar, sm, macs, cta);

    Sm full(sm, macs, memory_of(0));
    for (int i = 0; i < cta.resident; ++i) full.launch(program, 0);
    run_steady(full, cta.resident);
    take_full(full, sm.sub_cores, cta);

    CtaTiming of_masked = cta;
    const CtaProgram masked_program = program_of({kSteadySteps, kSteadySteps});
    Sm masked(sm, macs, memory_of(0));
    masked.launch(masked_program, 0);
    run_steady(masked, 1);
    take_alone(masked, sm.sub_cores, of_masked);
    timing.masked = std::max(0.0, of_masked.interval_alone - cta.interval_alone);
    return timing;
}

}  // namespace systole::simt
