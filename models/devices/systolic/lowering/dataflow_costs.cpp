// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/dataflow_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "models/devices/systolic/lowering/cores_at_work.h"
#include "models/devices/systolic/lowering/dataflow_specs.h"
#include "models/devices/systolic/lowering/layer_plan.h"
#include "models/devices/systolic/lowering/placement.h"
#include "models/devices/systolic/lowering/workspace.h"
#include "sim/base/error.h"

namespace systole::systolic {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Layers of the graph that stand several times: the first turn begins at `first`.
struct Repeated {
    std::size_t first = 0, layers = 1, turns = 1;
};

/// What begins at a layer: turns of a block, parts of the batch, or the layer alone.
Repeated repeated_at(const Graph& graph, std::size_t first) {
    for (const RepeatedBlock& block : graph.blocks)
        if (block.first_layer == first) return {first, block.layers, block.turns};
    const auto part = [&](std::size_t layer) {
        return layer < graph.layers.size() && graph.layers[layer].slice ? graph.layers[layer].slice->index
                                                                        : -1;
    };
    if (part(first) < 0) return {first, 1, 1};
    std::size_t layers = 1;
    while (part(first + layers) == 0) ++layers;
    return {first, layers, static_cast<std::size_t>(graph.layers[first].slice->count)};
}

std::vector<Repeated> repeated(const Graph& graph) {
    std::vector<Repeated> all;
    for (std::size_t layer = 0; layer < graph.layers.size(); layer += all.back().layers * all.back().turns)
        all.push_back(repeated_at(graph, layer));
    return all;
}

/// Of a turn of each run, those whose costs are asked for: the second turn's, where the first one's inputs
/// may come from elsewhere.
std::vector<std::size_t> asked_layers(const Graph& graph) {
    std::vector<std::size_t> asked;
    for (const Repeated& run : repeated(graph))
        for (std::size_t layer = 0; layer < run.layers; ++layer)
            if (uses_arrays(graph.layers[run.first + layer].op))
                asked.push_back(run.first + (run.turns > 1 ? run.layers : 0) + layer);
    return asked;
}

/// Estimates of layers with all arrays in the dataflow of `spec`. What stays in the scratchpad is not taken
/// from `mapping`: it may fit only with the dataflows that are to be found.
std::vector<double> cycles_of(const std::vector<std::size_t>& layers, const Graph& graph,
                              const SystolicSpec& spec, const Protocol& protocol, const Mapping* mapping) {
    Mapping cut;
    if (mapping) cut = *mapping, cut.resident.reset();
    const Mapping* const by_hand = mapping ? &cut : nullptr;
    const int cores = mapping ? cores_at_work(graph, spec, protocol, mapping) : spec.cores;
    std::vector<double> cycles(layers.size(), kNever);
    const DataflowSpecs specs(graph, spec);
    std::vector<Placement> placements;
    try {
        placements = place_tensors(graph, specs, protocol, by_hand, cores);
    } catch (const UserError&) {
        return cycles;
    }
    ChipWorkspace chip(graph, spec, protocol, placements, cores);
    chip.mapping = by_hand;
    CoreStorage storage(spec);
    Workspace workspace(chip, 0, spec, storage);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        try {
            cycles[i] = plan(workspace, static_cast<std::int32_t>(layers[i])).cycles;
        } catch (const UserError&) {
            continue;  // not in this dataflow
        }
    }
    return cycles;
}

}  // namespace

LayerCosts layer_runs(const Graph& graph) {
    LayerCosts costs;
    for (const Repeated& repeats : repeated(graph)) {
        LayerRun run;
        run.turns = static_cast<std::int64_t>(repeats.turns);
        for (std::size_t layer = repeats.first; layer < repeats.first + repeats.layers; ++layer) {
            if (!uses_arrays(graph.layers[layer].op)) continue;
            run.layers.push_back({});
            costs.names.push_back(whole_name(graph.layers[layer]));
            costs.alike.emplace_back();
            for (std::size_t turn = 0; turn < repeats.turns; ++turn)
                costs.alike.back().push_back(whole_name(graph.layers[layer + turn * repeats.layers]));
        }
        if (!run.layers.empty()) costs.runs.push_back(std::move(run));
    }
    return costs;
}

LayerCosts estimated_costs(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol,
                           const Mapping* mapping) {
    LayerCosts costs = layer_runs(graph);
    const std::vector<std::size_t> layers = asked_layers(graph);
    for (std::size_t d = 0; d < kDataflows.size(); ++d) {
        SystolicSpec own = spec;
        own.mxu.dataflow = kDataflows[d];
        const std::vector<double> cycles = cycles_of(layers, graph, own, protocol, mapping);
        auto next = cycles.begin();
        for (LayerRun& run : costs.runs)
            for (DataflowCycles& layer : run.layers) layer[d] = static_cast<double>(run.turns) * *next++;
    }
    return costs;
}

void expect_turns_alike(const Mapping& mapping, const LayerCosts& costs) {
    for (const std::vector<std::string>& alike : costs.alike) {
        const auto first = mapping.dataflows.find(alike.front());
        for (const std::string& name : alike) {
            const auto named = mapping.dataflows.find(name);
            if (named == mapping.dataflows.end()) continue;
            if (first != mapping.dataflows.end() && first->second == named->second) continue;
            throw UserError(mapping.dataflow_marks.at(name),
                            fmt::format("all turns of a block have the dataflow of its first: name one for "
                                        "'{}', and no other for "
                                        "'{}'",
                                        alike.front(), name));
        }
    }
}

void keep_to(const Mapping& mapping, LayerCosts& costs) {
    auto name = costs.names.begin();
    for (LayerRun& run : costs.runs)
        for (DataflowCycles& layer : run.layers) {
            const auto found = mapping.dataflows.find(*name++);
            const std::optional<Dataflow> named =
                found == mapping.dataflows.end() ? mapping.dataflow : std::optional(found->second);
            if (!named) continue;
            // Whether it can run so is for the machine to say, with what stays where.
            for (std::size_t d = 0; d < kDataflows.size(); ++d)
                layer[d] = kDataflows[d] != *named ? kNever : layer[d] == kNever ? 0 : layer[d];
        }
}

double change_cycles(const MxuSpec& mxu) {
    const Cycles drain = Cycles(mxu.rows + mxu.cols - 2) + mxu.accumulator_latency;
    return static_cast<double>((drain + mxu.dataflow_switch + Cycles(mxu.rows)).value());
}

LayerDataflows dataflows_of(const LayerCosts& costs, double change) {
    const std::vector<Dataflow> chosen = least_cycles(costs.runs, change);
    LayerDataflows dataflows;
    for (std::size_t i = 0; i < chosen.size(); ++i)
        for (const std::string& name : costs.alike[i]) dataflows.emplace(name, chosen[i]);
    return dataflows;
}

}  // namespace systole::systolic
