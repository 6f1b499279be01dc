// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/devices/simt/explain_attention.h"
#include "models/devices/simt/explain_collective.h"
#include "models/devices/simt/explain_time.h"
#include "models/devices/simt/explain_vector.h"
#include "models/devices/simt/kernels/choose.h"
#include "models/devices/simt/kernels/stream_k.h"
#include "models/devices/simt/kernels/thread_mma_program.h"
#include "sim/base/check.h"
#include "sim/base/text.h"
#include "sim/base/text_table.h"

namespace systole::simt {
namespace {

constexpr std::size_t kShown = 6;    // kernels that were weighed
constexpr std::int64_t kDrawn = 66;  // marks of a line of SMs
constexpr std::int64_t kWaves = 4;   // drawn at most; the last is one of them

const GemmPlan& product_of(const LayerPlan& layer) {
    const auto found = std::ranges::find_if(
        layer.kernels, [](const KernelPlan& kernel) { return std::holds_alternative<GemmPlan>(kernel); });
    SYSTOLE_CHECK(found != layer.kernels.end(), "no product");
    return std::get<GemmPlan>(*found);
}

std::string cycles(double count) {
    return with_thousands(std::llround(count));
}

/// How a convolution is a product.
std::string gathered(const GemmPlan& gemm) {
    const ConvGather& gather = *gemm.kernel.shape.gather;
    const std::int64_t tile_k = gemm.kernel.tile.k;
    std::string text = fmt::format(
        "Implicit GEMM: rows of A are {} x {} x {} output pixels, gathered out of {} x {} x {} pixels of {} "
        "channels;\na step along K takes ",
        gather.images, gather.out_h, gather.out_w, gather.images, gather.in_h, gather.in_w, gather.channels);
    if (gather.packed)
        text += fmt::format("{} of {} x {} taps.\n", gather.step(0, tile_k).taps, gather.kernel_h,
                            gather.kernel_w);
    else
        text += fmt::format("one of {} x {} taps of up to {} channels.\n", gather.kernel_h, gather.kernel_w,
                            std::min(tile_k, gather.channels));
    if (gather.stored > gather.channels)
        text += fmt::format(
            "A kernel ahead pads pixels to {} channels, so that loads of 16 bytes hold whole ones.\n",
            gather.stored);
    return text;
}

std::string product(const GemmPlan& gemm, const SimtSpec& spec) {
    const GemmShape& s = gemm.kernel.shape;
    std::string text =
        fmt::format("C[{} x {}] = A[{} x {}] B[{} x {}] in {}, {} SMs at up to {} MHz\n", with_thousands(s.m),
                    with_thousands(s.n), with_thousands(s.m), with_thousands(s.k), with_thousands(s.k),
                    with_thousands(s.n), to_string(s.dtype), spec.sm.count,
                    static_cast<double>(spec.core_clock.value()) / 1e6);
    if (s.batch > 1) text += fmt::format("{} of them\n", with_thousands(s.batch));
    if (s.gather) text += gathered(gemm);
    if (gemm.kernel.swapped) text += "computed as its transpose: rows of A are columns here\n";
    return text;
}

/// CTAs that all SMs hold.
std::int64_t places_of(const GemmKernel& kernel, const CtaTiming& timing, const SimtSpec& spec) {
    return spec.sm.for_clusters(kernel.tile.cluster()) * timing.resident;
}

/// What clusters keep from SMs, if anything.
std::string clusters(const GemmKernel& kernel, const SimtSpec& spec) {
    const CtaTile& tile = kernel.tile;
    if (tile.cluster() == 1) return "";
    const std::int64_t sms = spec.sm.for_clusters(tile.cluster()), without = spec.sm.count - sms;
    std::string text =
        fmt::format("Clusters of {} x {} CTAs, each on SMs of one GPC, can take {} of {} SMs{}.\n",
                    tile.cluster_m, tile.cluster_n, sms, spec.sm.count,
                    without > 0 ? fmt::format("; {} stay without work", without) : std::string());
    const std::int64_t idle = kernel.grid_m() * kernel.grid_n() - kernel.tiles_m() * kernel.tiles_n();
    if (idle > 0)
        text += fmt::format("CTAs without a tile that make clusters whole: {}.\n",
                            with_thousands(idle * kernel.split_k * kernel.shape.batch));
    return text;
}

/// Of tcgen05.mma: who multiplies together, and where sums lie.
std::string tensor_memory(const GemmKernel& kernel, const SimtSpec& spec) {
    if (spec.sm.issue_of(kernel.shape.dtype) != TensorIssue::Thread || !kernel.on_tensor_cores()) return "";
    std::string text;
    if (kernel.tile.pair)
        text += fmt::format(
            "CTAs multiply in pairs, {} rows together: each has its own rows of A and half of B in "
            "shared memory.\n",
            2 * kernel.tile.m);
    text +=
        fmt::format("A tile's sums take {} of {} columns of an SM's tensor memory; ",
                    tensor_columns(kernel.tile), spec.sm.tensor.memory.capacity.value() / kTensorColumnBytes);
    return text + (accumulators_of(kernel.tile) > 1
                       ? "two have a place, one of which is brought out while the next is made.\n"
                       : "two have no place, so the next is made when they are brought out.\n");
}

std::string shared_tiles(const GemmKernel& kernel) {
    if (kernel.streams == 0) return "";
    return fmt::format(
        "Stream-K: {} CTAs share the steps along K of the last {} tiles; {} of these are divided, and their "
        "sums\nare added in fp32 by the CTA with the tile's first step.\n",
        with_thousands(kernel.streams), with_thousands(kernel.shared_tiles),
        with_thousands(divided_tiles(kernel)));
}

/// A line of marks for a wave: SMs that have a CTA, and those that have none.
std::string wave_line(std::int64_t wave, std::int64_t ctas, std::int64_t places) {
    const std::int64_t marks = ctas >= places ? kDrawn : std::max<std::int64_t>(1, ctas * kDrawn / places);
    return fmt::format("  wave {:>5} |{}{}| {} of {} places\n", wave,
                       std::string(static_cast<std::size_t>(marks), '#'),
                       std::string(static_cast<std::size_t>(kDrawn - marks), '.'), ctas, places);
}

std::string waves(const GemmPlan& gemm, const SimtSpec& spec) {
    const GemmKernel& kernel = gemm.kernel;
    const std::int64_t places = places_of(kernel, gemm.timing, spec);
    const std::int64_t all = kernel.ctas(), count = ceil_div(all, places);
    std::string text = fmt::format("Grid: {} x {} tiles", kernel.grid_m(), kernel.grid_n());
    if (kernel.split_k > 1) text += fmt::format(" x {} parts of K", kernel.split_k);
    if (kernel.shape.batch > 1) text += fmt::format(" x {} products", kernel.shape.batch);
    if (kernel.streams > 0)
        text += fmt::format(", {} of them as {} shares", with_thousands(kernel.shared_tiles),
                            with_thousands(kernel.streams));
    text += fmt::format(" = {} CTAs; an SM holds {}, so {:.2f} waves.\n", with_thousands(all),
                        gemm.timing.resident, static_cast<double>(all) / static_cast<double>(places));
    for (std::int64_t wave = 1; wave <= count; ++wave) {
        if (count > kWaves && wave == kWaves - 1) {
            text += "        ...\n";
            wave = count;
        }
        text += wave_line(wave, std::min(places, all - (wave - 1) * places), places);
    }
    text += shared_tiles(kernel);
    text += clusters(kernel, spec);
    text += tensor_memory(kernel, spec);
    if (kernel.tile.persistent && all > places)
        text +=
            "CTAs of later waves are tiles of the first ones (persistent): their data are asked for in "
            "time.\n";
    if (kernel.split_k > 1) text += "Sums of the parts go to memory in fp32; a second kernel adds them.\n";
    return text;
}

/// What multiplies operands of the format.
std::string_view who_multiplies(DType dtype, const SimtSpec& spec) {
    return spec.sm.issue_of(dtype) == TensorIssue::Lanes ? "FP32 pipes" : "tensor cores";
}

std::string cta(const GemmPlan& gemm, const SimtSpec& spec) {
    const CtaTiming& timing = gemm.timing;
    const GemmKernel& kernel = gemm.kernel;
    const double alone = timing.interval_alone, shared = timing.interval_full / timing.resident;
    std::string text = fmt::format(
        "A CTA on its SM, warp instruction by warp instruction, when its data are there in time:\n"
        "  {} steps of {} along K, {} asked for ahead\n"
        "  start to first request {} cycles, first data to first product {}, last product to last store {}\n"
        "  a step takes {:.1f} cycles alone",
        with_thousands(kernel.steps_of_part()), kernel.tile.k, timing.ahead, timing.prologue.value(),
        timing.fill.value(), timing.epilogue.value(), alone);
    if (timing.resident > 1)
        text += fmt::format(", {:.1f} of the SM's with {} CTAs on it", shared, timing.resident);
    if (!kernel.on_tensor_cores()) return text + ", on FP32 pipes\n";
    text += fmt::format("; {} need {:.1f}", who_multiplies(kernel.shape.dtype, spec), timing.busy);
    if (kernel.shape.blocks.group > 0)
        text += fmt::format(
            ", and scales of blocks of {} on their way into tensor memory {}", kernel.shape.blocks.group,
            ceil_div(scale_bytes(kernel.tile, kernel.shape.blocks), spec.sm.shared.bytes_per_cycle.value()));
    return text + "\n";
}

/// What the product must take, each by itself.
std::string bounds(const GemmPlan& gemm, const LayerPlan& layer, const SimtSpec& spec) {
    const double macs = static_cast<double>(layer.macs.value()) /
                        static_cast<double>(spec.macs_per_cycle(gemm.kernel.shape.dtype));
    const double per_cycle =
        static_cast<double>(spec.memory.peak().value()) / static_cast<double>(spec.core_clock.value());
    const double memory = static_cast<double>(layer.compulsory_dram.value()) / per_cycle;
    const GemmKernel& kernel = gemm.kernel;
    const double l2 = bytes_from_l2(kernel) / static_cast<double>(spec.l2_bytes_per_cycle().value());
    return fmt::format(
        "At peak rates: {} for the MACs, {} for A, B and C once by the memory (what is written\n"
        "may stay in the L2), {} for what all CTAs load at the L2's ports.\n"
        "The estimate for this kernel: {} ({} cycles).\n",
        time_of(macs, spec), time_of(memory, spec), time_of(l2, spec), time_of(gemm.estimate, spec),
        cycles(gemm.estimate));
}

std::string weighed(const GemmPlan& gemm, const SimtSpec& spec, KernelChooser& chooser) {
    GemmShape shape = gemm.kernel.shape;
    if (gemm.kernel.swapped) std::swap(shape.m, shape.n);
    const std::vector<TimedKernel> all = chooser.weigh(shape);
    TextTable table;
    table.column("kernel", TextTable::Align::Left);
    for (const char* name : {"CTAs", "waves", "estimate", "weighed"})
        table.column(name, TextTable::Align::Right);
    for (std::size_t i = 0; i < std::min(kShown, all.size()); ++i) {
        const TimedKernel& one = all[i];
        const auto places = static_cast<double>(places_of(one.kernel, one.timing, spec));
        table.row({to_string(one.kernel) + (one.kernel.swapped ? ", transposed" : ""),
                   with_thousands(one.kernel.ctas()),
                   fmt::format("{:.2f}", static_cast<double>(one.kernel.ctas()) / places),
                   time_of(one.estimate, spec), time_of(one.weight, spec)});
    }
    const double larger = larger_tiles(spec), loads = spec.calibrated.l2_loads;
    return fmt::format(
        "Weighed by estimate{}{}, the best {} of {}:\n\n{}",
        larger > 0 ? fmt::format(" (CTAs that load four times the least for a result count {} % more: "
                                 "calibrated.larger_tiles)",
                                 format_percent(larger))
                   : "",
        loads > 0 ? fmt::format(" (and {} % of what loads take at the L2's ports: calibrated.l2_loads)",
                                format_percent(loads))
                  : "",
        std::min(kShown, all.size()), all.size(), table.str());
}

std::int64_t counter(const DeviceResult& result, const std::string& name) {
    for (const Stat& stat : result.stats)
        if (stat.name == name) return stat.value;
    return 0;
}

/// Bytes of the last run (counters are of all runs).
double moved(const ResultRow& row, Place from, Place to) {
    std::int64_t bytes = 0;
    for (const Movement& movement : row.movements)
        if (movement.from == from && movement.to == to) bytes += movement.bytes.value();
    return static_cast<double>(bytes);
}

std::string simulated(const DeviceResult& result, std::string_view whose = "tensor cores") {
    const ResultRow& total = result.total;
    std::string text = fmt::format("Simulated: {}, {} % of the {}' capacity useful",
                                   format_time(total.time()), format_percent(total.utilization()), whose);
    for (std::size_t c = 1; c < kSlotClasses; ++c) {
        const auto slot_class = static_cast<SlotClass>(c);
        if (total.fraction(slot_class) >= 0.005)
            text +=
                fmt::format(", {} % {}", format_percent(total.fraction(slot_class)), to_string(slot_class));
    }
    text += fmt::format(". Bound by {}.\n{}\n", total.bound_by, critical_path_sentence(result));
    if (const double given = moved(total, Place::L2, Place::SharedMemory); given > 0) {
        const double of_cache = moved(total, Place::MemorySideCache, Place::L2);
        if (of_cache > 0)
            text += fmt::format("The L2s gave {}, {} % without the memory-side cache; {} read from it.\n",
                                format_bytes(Bytes(std::llround(given))),
                                format_percent(std::max(0.0, 1 - of_cache / given)),
                                format_bytes(Bytes(std::llround(of_cache))));
        const Place last = of_cache > 0 ? Place::MemorySideCache : Place::L2;
        const double asked = of_cache > 0 ? of_cache : given, fetched = moved(total, Place::Dram, last);
        text += fmt::format("{} gave {}, {} % without the memory; {} read from it, {} written.\n",
                            of_cache > 0 ? "That cache" : "The L2", format_bytes(Bytes(std::llround(asked))),
                            format_percent(std::max(0.0, 1 - fetched / asked)),
                            format_bytes(Bytes(std::llround(fetched))),
                            format_bytes(Bytes(std::llround(moved(total, last, Place::Dram)))));
    }
    const std::int64_t clock = counter(result, "clock");
    if (clock > 0 && clock < result.clock.value())
        text += fmt::format("The power cap leaves the SMs {:.0f} MHz: what MACs take longer is on_chip.\n",
                            static_cast<double>(clock) / 1e6);
    return text;
}

/// Of a convolution that goes another way than by its own MACs.
std::string winograd(const LayerPlan& layer) {
    const std::size_t products = layer.mapping.find(" products");
    if (!layer.mapping.starts_with("Winograd") || products == std::string::npos) return "";
    return layer.mapping.substr(0, products) +
           " products, behind transforms of weights and map, before one of theirs:\n";
}

/// All but what was simulated.
std::string of_layer(const LayerPlan& layer, const SimtSpec& spec, KernelChooser& chooser) {
    const KernelPlan& first = layer.kernels.front();
    if (const auto* vector = std::get_if<VectorPlan>(&first)) return explain_vector(*vector, layer, spec);
    if (const auto* attention = std::get_if<AttentionPlan>(&first))
        return explain_attention(*attention, layer, spec);
    if (const auto* collective = std::get_if<CollectivePlan>(&first))
        return explain_collective(*collective, layer, spec);
    const GemmPlan& gemm = product_of(layer);
    return winograd(layer) + product(gemm, spec) + '\n' +
           fmt::format("Kernel: {}{}\n", to_string(gemm.kernel), to_string(gemm.kernel.shape.epilogue)) +
           waves(gemm, spec) + '\n' + cta(gemm, spec) + '\n' + bounds(gemm, layer, spec) + '\n' +
           weighed(gemm, spec, chooser);
}

/// Attention whose scores are a tensor: scores, their softmax, and the product with values.
std::size_t first_to_tell(const ChipPlan& plan) {
    const std::size_t last = plan.layers.size() - 1;
    return plan.layers[last].op == "attention_context" && last >= 2 ? last - 2 : last;
}

}  // namespace

std::string explain(const ChipPlan& plan, const SimtSpec& spec, const DeviceResult& result,
                    KernelChooser& chooser) {
    SYSTOLE_CHECK(!plan.layers.empty(), "nothing to explain");
    std::string text;
    const std::size_t first = first_to_tell(plan), last = plan.layers.size() - 1;
    for (std::size_t i = first; i <= last; ++i) {
        const LayerPlan& layer = plan.layers[i];
        if (first < last) text += fmt::format("{}, {}:\n", layer.name, layer.op);
        text += of_layer(layer, spec, chooser) + '\n';
    }
    const KernelPlan& kernel = plan.layers.back().kernels.front();
    const bool multiplies = !std::holds_alternative<VectorPlan>(kernel) &&
                            !std::holds_alternative<AttentionPlan>(kernel) &&
                            !std::holds_alternative<CollectivePlan>(kernel);
    if (!multiplies) return text + simulated(result);
    return text + simulated(result, who_multiplies(product_of(plan.layers.back()).kernel.shape.dtype, spec));
}

}  // namespace systole::simt
