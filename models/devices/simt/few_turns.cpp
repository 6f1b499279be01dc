// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/few_turns.h"

#include <deque>

#include "models/devices/simt/kernels/plan_rows.h"
#include "models/devices/simt/machine/chip.h"
#include "models/devices/simt/machine/results.h"
#include "sim/device/reuse.h"
#include "sim/kernel/kernel.h"

namespace systole::simt {
namespace {

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
    if (!protocol.reuses() || !protocol.runs_once() || options.timeline == WantTimeline::Yes)
        return std::nullopt;
    const auto plan_of = [&](const ShorterGraph& shorter) {
        return plan_at(placed_as(placed, shorter), shorter.graph, spec, protocol, chooser);
    };
    const auto run_one = [&](const ShorterGraph& shorter, std::vector<std::size_t> marks,
                             const GoOnWith& go_on_with) -> std::optional<MarkedRun> {
        std::deque<ChipPlan> plans{plan_of(shorter)};  // the last one runs
        const FreshKernel kernel;
        RunOptions untraced = options;
        untraced.timeline = WantTimeline::No;
        Chip chip(instance_name(spec.name).c_str(), spec, plans.front(), untraced);
        chip.mark_after(marks, [&](const std::vector<Mark>& met) -> std::optional<Chip::Other> {
            const auto go_on = go_on_with(met, chip.sms.at_ease());
            // A run of all turns is to have its timeline, where that is wanted.
            const bool whole = go_on && go_on->shorter.graph.layers.size() == fused.layers.size();
            if (!go_on || (whole && options.timeline != WantTimeline::No)) return std::nullopt;
            marks = go_on->marks;
            return Chip::Other{&plans.emplace_back(plan_of(go_on->shorter)), marks};
        });
        chip.run();
        MarkedRun run = marked_run(chip, spec, plans.back(), protocol, marks);
        run.alike = chip.sms.at_ease();
        return run;
    };
    std::optional<DeviceResult> result =
        run_sampling(fused, layers_of_rows(fused, spec.kernels), run_one,
                     protocol.reuse == Protocol::Reuse::Rough ? kRoughly : kByChance);
    if (result) result->tensors = places(fused, placed.placements);
    return result;
}

}  // namespace systole::simt
