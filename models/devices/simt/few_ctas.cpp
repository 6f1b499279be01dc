// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/few_ctas.h"

#include <algorithm>

#include "models/devices/simt/machine/chip.h"
#include "models/devices/simt/machine/cta_times.h"
#include "models/devices/simt/machine/cta_work.h"
#include "models/devices/simt/machine/results.h"
#include "sim/kernel/kernel.h"

namespace systole::simt {
namespace {

/// A turn is so many times all CTAs that SMs hold at a time, at least.
constexpr std::int64_t kWavesOfTurn = 4;
/// Of fewer turns behind those that fill the caches most would be looked at.
constexpr std::int64_t kFewestTurns = 16;

/// All CTAs of the kernel have as many steps, and none waits for others.
bool all_alike(const CtaWork& work) {
    const std::int64_t steps = work.steps(0);
    for (std::int64_t cta = 0; cta < work.ctas(); ++cta)
        if (work.alone(cta) || work.steps(cta) != steps) return false;
    return true;
}

std::int64_t bytes_of_caches(const SimtSpec& spec) {
    const std::int64_t behind = spec.memory_side_cache ? spec.memory_side_cache->capacity.value() : 0;
    return spec.l2.capacity.value() * spec.chiplets.count + behind;
}

/// Tiles come panel by panel: the last one may be narrower, or its tiles, and of A it finds what the caches
/// keep.
bool meets_the_same(const GemmPlan& plan, std::int64_t turn, const SimtSpec& spec) {
    const GemmKernel& kernel = plan.kernel;
    const std::int64_t grid = kernel.grid_m() * kernel.grid_n(), panel = kernel.columns_of_panel();
    if (kernel.streams > 0) return false;
    if (panel == kernel.grid_n() || grid <= turn) return true;
    return kernel.grid_n() % panel == 0 && kernel.shape.n % kernel.tile.n == 0 &&
           plan.a.bytes.value() / kernel.shape.batch > bytes_of_caches(spec);
}

/// Operands lie element by element as results do, or row by row.
bool meets_the_same(const VectorPlan& plan) {
    using Kind = VectorKernel::Kind;
    switch (plan.kernel.kind) {
        case Kind::WarpSoftmax:
        case Kind::BlockSoftmax:
        case Kind::LayerNorm:
        case Kind::RmsNorm:
            return true;
        case Kind::Elementwise:
            return std::ranges::all_of(plan.in, [](const VectorOperand& in) { return in.map.plain(); });
        default:
            return false;
    }
}

/// No CTA of the kernel meets other data than those before it, once caches are filled. Others (lookups,
/// transposes, ...) may, and are few.
bool meets_the_same(const KernelPlan& kernel, std::int64_t turn, const SimtSpec& spec) {
    if (const auto* gemm = std::get_if<GemmPlan>(&kernel)) return meets_the_same(*gemm, turn, spec);
    const auto* vector = std::get_if<VectorPlan>(&kernel);
    return vector != nullptr && meets_the_same(*vector);
}

/// Before so many have begun, what CTAs store is still in the caches: nothing is written back. More than
/// there are where they store too little ever to be.
std::int64_t ctas_to_fill_caches(const CtaWork& work, const SimtSpec& spec) {
    std::int64_t bytes = 0;
    for (const TileAccess::Block& block : work.writes({0, 1}).blocks) bytes += block.bytes;
    return bytes == 0 ? work.ctas() + 1 : ceil_div(bytes_of_caches(spec), bytes);
}

/// Turns of a kernel; nothing if it is short, or its CTAs differ.
std::optional<CtaTurns> turns_of(const LayerPlan& layer, std::size_t number, const SimtSpec& spec) {
    const KernelPlan& kernel = layer.kernels[number];
    if (std::holds_alternative<CollectivePlan>(kernel)) return std::nullopt;
    const std::unique_ptr<CtaWork> work = work_of(kernel);
    const std::int64_t ctas = work->ctas();
    const std::int64_t wave =
        spec.sm.for_clusters(work->cluster()) * times_of(kernel, spec, spec.core_clock).resident;
    const std::int64_t turn = kWavesOfTurn * wave;
    if (ctas < kFewestTurns * turn || !meets_the_same(kernel, turn, spec)) return std::nullopt;
    const std::int64_t first = ceil_div(ctas_to_fill_caches(*work, spec), turn) * turn;
    if (ctas - first < kFewestTurns * turn || !all_alike(*work)) return std::nullopt;
    return CtaTurns{number, ctas, first, turn, spec.chiplets.count};
}

}  // namespace

std::optional<CtaTurns> cta_turns(const LayerPlan& layer, const SimtSpec& spec) {
    std::optional<CtaTurns> longest;
    for (std::size_t i = 0; i < layer.kernels.size(); ++i)
        if (const auto turns = turns_of(layer, i, spec); turns && (!longest || turns->ctas > longest->ctas))
            longest = turns;
    return longest;
}

std::optional<DeviceResult> run_few_ctas(const ChipPlan& plan, const SimtSpec& spec,
                                         const RunOptions& options) {
    const Protocol& protocol = options.protocol;
    if (!protocol.reuses() || !protocol.runs_once() || options.timeline == WantTimeline::Yes ||
        spec.sm.engine == SmEngine::Warps || plan.layers.size() != 1)
        return std::nullopt;
    const std::optional<CtaTurns> turns = cta_turns(plan.layers.front(), spec);
    if (!turns) return std::nullopt;
    CtaSample sample(*turns);
    RunOptions untraced = options;
    untraced.timeline = WantTimeline::No;
    const FreshKernel kernel;
    Chip chip(instance_name(spec.name).c_str(), spec, plan, untraced);
    chip.sample_ctas(sample);
    chip.run();
    if (!sample.borne_out()) return std::nullopt;
    if (!sample.left_out() && options.timeline != WantTimeline::No) return std::nullopt;
    return sampled_result(chip, spec, plan, protocol, sample);
}

}  // namespace systole::simt
