// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/few_turns.h"

#include <algorithm>

#include "models/devices/simt/kernels/qkv_kernel.h"
#include "models/devices/simt/machine/chip.h"
#include "models/devices/simt/machine/results.h"
#include "sim/device/reuse.h"
#include "sim/kernel/kernel.h"
#include "sim/workload/elementwise_chains.h"

namespace systole::simt {
namespace {

/// A layer of the network is a layer of the plan, whose rows turns are counted in.
bool layer_by_layer(const Graph& fused, const KernelsSpec& kernels) {
    for (std::size_t i = 0; i < fused.layers.size(); ++i)
        if (prepares_attention(fused, i, kernels) > 0) return false;
    return std::ranges::all_of(elementwise_chains(fused),
                               [](const ElementwiseChain& chain) { return chain.layers == 1; });
}

/// The turns that are left lie where they do in the whole network.
PlacedTensors placed_as(const PlacedTensors& whole, const ShorterGraph& shorter) {
    PlacedTensors placed{{}, whole.end};
    for (const TensorId tensor : shorter.whole) placed.placements.push_back(whole.placements[tensor]);
    return placed;
}

}  // namespace

std::optional<DeviceResult> run_few_turns(const Graph& fused, const PlacedTensors& placed,
                                          const SimtSpec& spec, const RunOptions& options,
                                          KernelChooser& chooser) {
    const Protocol& protocol = options.protocol;
    if (!protocol.reuse || !protocol.runs_once() || options.timeline == WantTimeline::Yes ||
        !layer_by_layer(fused, spec.kernels))
        return std::nullopt;
    const auto plan_of = [&](const ShorterGraph& shorter) {
        return plan_at(placed_as(placed, shorter), shorter.graph, spec, protocol, chooser);
    };
    std::optional<DeviceResult> of_all;
    const auto run_one = [&](const ShorterGraph& shorter, std::vector<std::size_t> marks,
                             const GoOnWith& go_on_with) -> std::optional<MarkedRun> {
        const ChipPlan plan = plan_of(shorter);
        std::optional<ChipPlan> other, all;
        const FreshKernel kernel;
        RunOptions untraced = options;
        untraced.timeline = WantTimeline::No;
        Chip chip(instance_name(spec.name).c_str(), spec, plan, untraced);
        chip.mark_after(marks, [&](const std::vector<Mark>& met) -> std::optional<Chip::Other> {
            // Its turns stand for no others: it may as well go on with all of them.
            if (!chip.sms.at_ease() && options.timeline == WantTimeline::No) {
                marks.resize(met.size());
                return Chip::Other{&all.emplace(plan_at(placed, fused, spec, protocol, chooser)), marks};
            }
            const auto go_on = go_on_with(met);
            if (!go_on) return std::nullopt;
            marks = go_on->marks;
            return Chip::Other{&other.emplace(plan_of(go_on->shorter)), marks};
        });
        chip.run();
        if (all) of_all = result_of(chip, spec, *all, protocol);
        if (!chip.sms.at_ease()) return std::nullopt;
        return marked_run(chip, spec, other ? *other : plan, protocol, marks);
    };
    std::optional<DeviceResult> result = run_sampling(fused, run_one);
    if (!result) return of_all;
    result->tensors = places(fused, placed.placements);
    return result;
}

}  // namespace systole::simt
