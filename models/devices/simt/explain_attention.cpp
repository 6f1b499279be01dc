// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/explain_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/devices/simt/explain_time.h"
#include "sim/base/text.h"

namespace systole::simt {
namespace {

/// Over all CTAs.
struct Totals {
    std::int64_t steps = 0, masked = 0, least = 0, most = 0;
};

Totals totals_of(const AttentionKernel& kernel) {
    Totals totals;
    totals.least = kernel.blocks();
    for (std::int64_t part = 0; part < kernel.splits; ++part)
        for (std::int64_t tile = 0; tile < kernel.tiles(); ++tile) {
            const AttentionPlace place{0, tile, part};
            const std::int64_t steps = steps_of(kernel, place);
            totals.steps += steps * kernel.items();
            totals.masked += masked_steps_of(kernel, place) * kernel.items();
            totals.least = std::min(totals.least, steps);
            totals.most = std::max(totals.most, steps);
        }
    return totals;
}

std::string question(const AttentionKernel& kernel, const SimtSpec& spec) {
    const Attention& s = kernel.shape;
    std::string text = fmt::format(
        "softmax(Q K^T) V of {} heads, Q [{} x {}], K and V [{} x {}], {} of them, in {}, {} SMs at up to {} "
        "MHz\n",
        s.heads, with_thousands(s.q_len), s.head_dim, with_thousands(s.kv_len), s.value_dim(),
        with_thousands(s.batch), to_string(kernel.dtype), spec.sm.count,
        static_cast<double>(spec.core_clock.value()) / 1e6);
    if (s.group() > 1)
        text += fmt::format("{} heads of queries share a head of keys and values\n", s.group());
    if (s.causal) text += "causal: blocks of keys that no row of a tile sees are left out\n";
    return text;
}

std::string grid(const AttentionPlan& plan, const SimtSpec& spec) {
    const AttentionKernel& kernel = plan.kernel;
    const std::int64_t places = std::int64_t{spec.sm.count} * plan.timing.resident;
    std::string text = fmt::format("Grid: {} tiles of rows x {} heads x {} items", kernel.tiles(),
                                   kernel.heads(), with_thousands(kernel.shape.batch));
    if (kernel.splits > 1) text += fmt::format(" x {} parts of the keys", kernel.splits);
    text +=
        fmt::format(" = {} CTAs; an SM holds {}, so {:.2f} waves.\n", with_thousands(kernel.ctas()),
                    plan.timing.resident, static_cast<double>(kernel.ctas()) / static_cast<double>(places));
    if (kernel.panel > 0)
        text += fmt::format("{} heads at a time, the tiles that see most keys first.\n", kernel.panel);
    else if (kernel.shape.causal && kernel.tiles() > 1)
        text += "One head behind the other, the tiles that see fewest keys first.\n";
    if (kernel.splits > 1)
        text += kernel.tile.design == AttentionDesign::Tiled
                    ? "Results of the parts go to memory in fp32; a second kernel joins them.\n"
                    : "Results of the parts go to memory; the last CTA of a sequence joins them.\n";
    return text;
}

std::string cta(const AttentionPlan& plan, const Totals& totals) {
    const CtaTiming& timing = plan.timing;
    const std::string count = totals.least == totals.most
                                  ? with_thousands(totals.most)
                                  : fmt::format("{} to {}", totals.least, with_thousands(totals.most));
    std::string text = fmt::format(
        "A CTA on its SM, warp instruction by warp instruction, when its data are there in time:\n"
        "  {} blocks of {} keys{}, {} asked for ahead; {} % of all have a mask\n"
        "  start to first request {} cycles, first data to first product, with masks, {}, last product to "
        "last "
        "store {}\n"
        "  a block takes {:.1f} cycles alone",
        count, plan.kernel.tile.n,
        plan.kernel.in_two_passes() ? " and then as many of values, each a step" : "", timing.ahead,
        format_percent(static_cast<double>(totals.masked) /
                       static_cast<double>(std::max<std::int64_t>(1, totals.steps))),
        timing.prologue.value(), timing.fill.value(), timing.epilogue.value(), timing.interval_alone);
    if (timing.resident > 1)
        text += fmt::format(", {:.1f} of the SM's with {} CTAs on it", timing.interval_full / timing.resident,
                            timing.resident);
    text += fmt::format("; tensor cores need {:.1f}\n", timing.busy);
    const LostCycles& lost = timing.lost_full;
    const double all = std::max(1.0, timing.interval_full);
    return text + fmt::format("  what else it takes: {} % softmax's pipes, {} % shared memory, {} % waits\n",
                              format_percent(lost.vector / all), format_percent(lost.on_chip / all),
                              format_percent(lost.dependency / all));
}

std::string bounds(const AttentionPlan& plan, const LayerPlan& layer, const Totals& totals,
                   const SimtSpec& spec) {
    const AttentionKernel& kernel = plan.kernel;
    const double macs =
        static_cast<double>(layer.macs.value()) / static_cast<double>(spec.macs_per_cycle(kernel.dtype));
    const double memory = static_cast<double>(layer.compulsory_dram.value()) /
                          static_cast<double>(spec.memory.peak().value()) *
                          static_cast<double>(spec.core_clock.value());
    const double of_block = static_cast<double>(kernel.tile.n * bits_of(kernel.dtype).value()) / 8 *
                            static_cast<double>(kernel.shape.head_dim + kernel.shape.value_dim());
    const double l2 =
        of_block * static_cast<double>(totals.steps) / static_cast<double>(spec.l2_bytes_per_cycle().value());
    const double sms = static_cast<double>(totals.steps) * plan.timing.interval_full / plan.timing.resident /
                       static_cast<double>(spec.sm.count);
    return fmt::format(
        "At peak rates: {} for the MACs, {} for Q, K, V and the result once by the memory,\n"
        "{} for the blocks that all CTAs load at the L2's ports, {} for all blocks on full SMs.\n"
        "The estimate for this kernel: {}.\n",
        time_of(macs, spec), time_of(memory, spec), time_of(l2, spec), time_of(sms, spec),
        time_of(plan.estimate, spec));
}

}  // namespace

std::string explain_attention(const AttentionPlan& plan, const LayerPlan& layer, const SimtSpec& spec) {
    const Totals totals = totals_of(plan.kernel);
    return question(plan.kernel, spec) + "\nKernel: " + to_string(plan.kernel) + '\n' + grid(plan, spec) +
           '\n' + cta(plan, totals) + '\n' + bounds(plan, layer, totals, spec);
}

}  // namespace systole::simt
