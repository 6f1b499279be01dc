// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/attention_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/devices/simt/kernels/decode_kernel.h"
#include "models/devices/simt/kernels/specialized_attention_program.h"
#include "sim/base/checked.h"
#include "sim/base/error.h"

namespace systole::simt {
namespace {

// Of a CTA that joins parts, and of each of its threads (flash_fwd_splitkv_combine_kernel: as few rows as
// threads have loads of 16 bytes for).
constexpr std::int64_t kThreads = 128, kSums = kThreadBytes / 4;

/// Heads of a causal kernel of MFMA whose tiles are taken together, those that see most keys first: as many
/// as fill a wave, or whose keys and values take half of what the L2 keeps, whichever are more (assumed).
std::int64_t panel_of(const AttentionKernel& kernel, int resident, const SimtSpec& spec) {
    const Attention& shape = kernel.shape;
    const std::int64_t of_wave = ceil_div(std::int64_t{spec.sm.count} * resident, kernel.tiles());
    const std::int64_t head =
        shape.kv_len * (shape.head_dim + shape.value_dim()) * bits_of(kernel.dtype).value() / 8;
    const std::int64_t shared = kernel.heads() / shape.kv_heads;
    const std::int64_t in_l2 = spec.l2.usable.value() / 2 / std::max<std::int64_t>(1, head) * shared;
    return std::min(kernel.items(), std::max(of_wave, in_l2));
}

/// wgmma's CTAs take tiles by number, all heads' last ones first where rows do not lie in pages and keys and
/// values, counted as if each head of queries had its own, fit the L2 (fmhaRunner.cpp,
/// use_balanced_scheduling; dma.h, run_packed_qkv).
bool last_tiles_first(const AttentionKernel& kernel, const SimtSpec& spec) {
    if (!by_groups(kernel.tile, spec.sm) || kernel.tile.paged) return false;
    const Attention& shape = kernel.shape;
    const Int128 elements = Int128{shape.batch} * shape.heads * shape.q_len * shape.head_dim * 2;
    return elements * bits_of(kernel.dtype).value() / 8 <= spec.l2.capacity.value();
}

/// Otherwise fmha_v2 has tiles for the first index of its grid, then heads, then items (setup.py, launchers
/// of tiled kernels; wgmma's tiles are numbered so, too: run_separate_q_and_kv), so that a head's tile that
/// sees all keys is its last.
void take_order(AttentionKernel& kernel, int resident, const SimtSpec& spec) {
    if (!kernel.shape.causal || kernel.tiles() == 1) return;
    if (spec.sm.tensor.issue == TensorIssue::Wave) {
        kernel.panel = panel_of(kernel, resident, spec);
    } else if (last_tiles_first(kernel, spec)) {
        kernel.panel = kernel.items();
        kernel.items_first = true;
    }
}

}  // namespace

const AttentionTiming* AttentionPlanner::timing_of(const AttentionKernel& kernel) {
    const AttentionFormats formats{kernel.dtype, kernel.stored()};
    const std::int64_t blocks = kernel.in_two_passes() ? kernel.blocks_of_part() : 1;
    const auto [known, added] =
        kept_.attentions.try_emplace({kernel.tile, formats, kernel.stored_share(), blocks});
    if (added) known->second = time_attention(kernel.tile, formats, kernel.stored_share(), blocks, spec_.sm);
    return known->second ? &*known->second : nullptr;
}

AttentionPlan AttentionPlanner::plan(const Layer& layer, DType dtype, DType output, bool cached) {
    const auto& shape = std::get<Attention>(layer.op);
    std::optional<AttentionKernel> kernel = attention_kernel(shape, dtype, output, spec_.sm);
    if (!kernel)
        throw UserError(layer.where,
                        fmt::format("'{}': no attention kernel has heads of {} elements; the longest "
                                    "are of 256",
                                    layer.name, std::max(shape.head_dim, shape.value_dim())));
    if (spec_.sm.tensor.issue != TensorIssue::Wave) kernel->tile.table = spec_.l2.latency.value();
    kernel->tile.paged = cached && kernel->tile.table > 0 && kernel->tile.design == AttentionDesign::Tiled;
    // The last parts have blocks, too; not of XQA, whose parts the library does not bound by its tiles.
    // MMHA's are shorter than blocks.
    if (kernel->tile.design == AttentionDesign::Tiled)
        kernel->splits = ceil_div(kernel->blocks(), kernel->blocks_of_part());
    if (kernel->in_two_passes()) kernel->tile.keys = std::min(kernel->tile.n, kernel->keys_of_part());
    const AttentionTiming* timing = timing_of(*kernel);
    if (timing == nullptr)
        throw UserError(layer.where,
                        fmt::format("'{}': no attention kernel for {} fits an SM of {} ({})", layer.name,
                                    to_string(dtype), spec_.name, to_string(*kernel)));
    AttentionPlan plan;
    plan.timing = timing->cta;
    take_order(*kernel, plan.timing.resident, spec_);
    plan.kernel = *kernel;
    const std::int64_t masked = masked_steps_of(*kernel, {0, kernel->tiles() - 1, kernel->splits - 1});
    plan.timing.fill = plan.timing.fill + Cycles(static_cast<std::int64_t>(timing->masked) * masked);
    plan.estimate = estimate_of(plan);
    return plan;
}

/// Whole waves of the mean CTA.
double AttentionPlanner::estimate_of(const AttentionPlan& plan) const {
    const AttentionKernel& kernel = plan.kernel;
    double steps = 0;
    for (std::int64_t part = 0; part < kernel.splits; ++part)
        for (std::int64_t tile = 0; tile < kernel.tiles(); ++tile)
            steps += static_cast<double>(steps_of(kernel, {0, tile, part}));
    if (kernel.in_two_passes()) steps *= 2;
    const double mean = steps / static_cast<double>(kernel.tiles() * kernel.splits);
    const CtaTiming& timing = plan.timing;
    const auto ends = static_cast<double>((timing.prologue + timing.fill + timing.epilogue).value());
    const double of_cta = std::max(timing.interval_alone, timing.interval_full) / timing.resident;
    const double waves = static_cast<double>(kernel.ctas()) / static_cast<double>(spec_.sm.count);
    return std::max(1.0, waves) * (mean * of_cta + ends / timing.resident);
}

std::optional<Bytes> sums_of_attention(const AttentionKernel& kernel) {
    const auto rows = checked_mul(kernel.items() * kernel.rows(), kernel.splits);
    // Of each row its largest score and its sum, as one number; where results have 16 bits, as two.
    const bool tiled = kernel.tile.design == AttentionDesign::Tiled;
    const std::int64_t of_row =
        kernel.shape.value_dim() * bits_of(kernel.stored()).value() / 8 + (tiled ? 4 : 8);
    const auto bytes = rows ? checked_mul(*rows, of_row) : rows;
    return bytes ? std::optional(Bytes(*bytes)) : std::nullopt;
}

namespace {

/// The last CTA of a sequence's (of a head's) joins what all of them left: it looks for the largest of all,
/// eight at a time, and then reads the parts one behind the other, groups of its warps side by side, each
/// while the one before is added (mha.cu, mergeRowMax and loadBufAsync).
StreamPlan join_by_last_cta(const AttentionPlan& plan, const SimtSpec& spec) {
    constexpr std::int64_t kAtATime = 8, kMeetings = 4;
    const AttentionKernel& kernel = plan.kernel;
    const SmSpec& sm = spec.sm;
    StreamPlan join;
    join.of_last_ctas = true;
    join.elements = kernel.items() * kernel.rows() * kernel.shape.value_dim();
    join.ctas = kernel.items() * kernel.tiles();
    join.warps = kernel.tile.warps;
    join.warp_threads = sm.warp_threads;
    join.resident = plan.timing.resident;
    const bool threads = kernel.in_two_passes();
    // MMHA: as many parts at a time as threads have rows.
    const std::int64_t side_by_side =
        threads ? std::max<std::int64_t>(1, kernel.tile.n / kThreadKeys)
                : value_warps(kernel.tile) / std::max<std::int64_t>(1, kernel.tile.dim / kWarpColumns);
    const std::int64_t rounds =
        ceil_div(kernel.splits, side_by_side) - 1 + (threads ? 1 : ceil_div(kernel.splits, kAtATime));
    const Cycles meeting = sm.barrier_latency + sm.shared.latency;
    join.prologue = spec.l2.latency + meeting;  // the counter
    join.epilogue = spec.l2.latency * rounds + meeting * kMeetings +
                    (sm.fp32.latency * 2 + sm.special.interval) * kernel.splits;
    join.from = plan.sums;
    join.to = plan.out;
    return join;
}

}  // namespace

StreamPlan join_of_parts(const AttentionPlan& plan, const SimtSpec& spec) {
    const AttentionKernel& kernel = plan.kernel;
    if (kernel.tile.design != AttentionDesign::Tiled) return join_by_last_cta(plan, spec);
    const SmSpec& sm = spec.sm;
    StreamPlan join;
    join.elements = kernel.items() * kernel.rows() * kernel.shape.value_dim();
    join.ctas = ceil_div(join.elements, kThreads * kSums);
    join.warps = static_cast<int>(kThreads / sm.warp_threads);
    join.warp_threads = sm.warp_threads;
    join.resident = static_cast<int>(
        std::max<std::int64_t>(1, std::min<std::int64_t>(sm.ctas, sm.warps * sm.warp_threads / kThreads)));
    join.prologue = sm.integer.latency * 8;
    // Of each part, what its largest score is less than that of all (ex2), and a multiply-add.
    join.epilogue = (sm.fp32.latency * 2 + sm.special.interval) * kernel.splits + sm.special.latency;
    join.from = plan.sums;
    join.to = plan.out;
    return join;
}

}  // namespace systole::simt
