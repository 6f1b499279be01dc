// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/network_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "models/devices/systolic/few_steps.h"
#include "models/devices/systolic/lowering/batch_slices.h"
#include "models/devices/systolic/lowering/cores_at_work.h"
#include "models/devices/systolic/lowering/dataflow_specs.h"
#include "models/devices/systolic/lowering/fusion.h"
#include "models/devices/systolic/lowering/mapped_turns.h"
#include "models/devices/systolic/lowering/placement.h"
#include "models/devices/systolic/machine/machine.h"
#include "models/devices/systolic/machine/results.h"
#include "models/devices/systolic/machine/run_timeline.h"
#include "models/devices/systolic/mapping_trials.h"
#include "sim/base/check.h"
#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/kernel/kernel.h"

namespace systole::systolic {
namespace {

NetworkRun run_whole(const PlacedNetwork& network, const RunOptions& options, const LoweringOptions& how) {
    Lowered lowered = lower_at(network.placements, network.graph, network.spec, options.protocol, how);
    RunOutcome outcome;
    if (std::optional<DeviceResult> few = run_few_steps(lowered.program, network.spec, options)) {
        outcome.result = std::move(*few);
    } else {
        std::optional<std::string> fault;
        outcome = execute(lowered.program, network.spec, options, fault);
        SYSTOLE_CHECK(!fault, "{}", fault.value_or(""));
    }
    return {std::move(outcome), std::move(lowered.mapping), std::move(lowered.variants)};
}

/// The turns that are left lie where they do in the whole network. `run` is told what several of these used.
MarkedRun run_shorter(const ShorterGraph& shorter, const PlacedNetwork& network, const RunOptions& options,
                      const LoweringOptions& how, const std::vector<std::size_t>& marks, NetworkRun& run) {
    std::vector<Placement> placements;
    for (const TensorId tensor : shorter.whole) placements.push_back(network.placements[tensor]);
    const SystolicSpec& spec = network.spec;
    Lowered lowered = lower_at(std::move(placements), shorter.graph, spec, options.protocol, how);
    run.used.layers.merge(lowered.mapping.layers);
    run.used.resident = std::move(lowered.mapping.resident);
    run.used.cores = lowered.mapping.cores;
    run.used.dataflows = std::move(lowered.mapping.dataflows);
    run.variants.merge(lowered.variants);
    const FreshKernel kernel;
    RunOptions untraced = options;
    untraced.timeline = WantTimeline::No;
    Machine machine(instance_name(spec.name).c_str(), spec, lowered.program, untraced);
    machine.mark_after(marks);
    machine.run();
    SYSTOLE_CHECK(!machine.value_fault, "{}", machine.value_fault.value_or(""));
    MarkedRun marked = marked_run(machine, spec, options.protocol, marks);
    for (Mark& mark : marked.marks)
        mark.compulsory_dram =
            std::accumulate(lowered.weights.begin(),
                            lowered.weights.begin() + static_cast<std::ptrdiff_t>(mark.layers), Bytes(0));
    return marked;
}

LoweringOptions how_to_lower(const PlacedNetwork& network, const LayerMappings& tried,
                             std::size_t most_variants) {
    return {.mapping = network.mapping,
            .tried = &tried,
            .most_variants = most_variants,
            .dataflows = network.dataflows,
            .cores = network.cores};
}

/// Cores that stream at the same time meet in the banks of the memory, and where the operands of a turn lie
/// decides how: on trainium1 three of 32 equal turns of a decode step take 5 to 8 % longer than all others,
/// the first of them the twelfth. Few turns tell of them roughly at best.
bool cores_meet(const PlacedNetwork& network) {
    return network.cores > 1 && network.spec.memory.is_dram();
}

/// Each turn lies elsewhere in the memory, and a layer's time may go by that: two in a row agree by chance.
constexpr std::size_t kTurnsAtFirst = 4;

/// Nothing where equal turns are not to be reused, or do not come to agree within so many layers.
std::optional<NetworkRun> run_few_turns(const PlacedNetwork& network, const RunOptions& options,
                                        const LoweringOptions& how,
                                        std::size_t most_layers = std::numeric_limits<std::size_t>::max()) {
    const Graph& graph = network.graph;
    const Protocol& protocol = options.protocol;
    const bool roughly = protocol.reuse == Protocol::Reuse::Rough;
    if (!protocol.reuses() || (cores_meet(network) && !roughly) || options.timeline == WantTimeline::Yes ||
        !turns_mapped_alike(graph, network.placements, network.mapping))
        return std::nullopt;
    NetworkRun run;
    std::size_t layers = 0;
    const auto run_one = [&](const ShorterGraph& shorter, const std::vector<std::size_t>& marks) {
        layers = std::max(layers, shorter.graph.layers.size());
        return run_shorter(shorter, network, options, how, marks, run);
    };
    const ReuseRules rules{.most_layers = most_layers, .at_first = kTurnsAtFirst};
    std::optional<Reused> few;
    if (roughly)
        few = run_reusing_or(graph, run_one, rules, kRoughly);
    else if (std::optional<DeviceResult> result = run_reusing(graph, run_one, rules))
        few = {*std::move(result), rules.rule};
    if (!few) return std::nullopt;
    run.outcome.result = std::move(few->result);
    run.rule = few->rule;
    run.few_layers = layers;
    return run;
}

/// Nothing if it is refused: it has too many passes; or its turns do not come to agree within kMoreTurns
/// times `few_layers`, with which the mapper's own did. All turns would take many times as long as all else.
std::optional<NetworkRun> run_trial(const PlacedNetwork& network, const RunOptions& options,
                                    const LayerMappings& tried, std::optional<std::size_t> few_layers) {
    constexpr std::size_t kMoreTurns = 2;
    const LoweringOptions how = how_to_lower(network, tried, 1);
    try {
        return few_layers ? run_few_turns(network, options, how, kMoreTurns * *few_layers)
                          : run_whole(network, options, how);
    } catch (const UserError&) {
        return std::nullopt;
    }
}

/// What placement.trials of 0 stands for: an operator by itself of few cycles, for which trying so many takes
/// less than a second.
constexpr int kFewTrials = 8;
constexpr std::int64_t kFewCycles = 200'000;

TrialTime time_of(const NetworkRun& run) {
    const DeviceResult& result = run.outcome.result;
    TrialTime time{result.total.cycles.value(), {}};
    for (const ResultRow& row : result.layers) time.layers.push_back(row.cycles.value());
    return time;
}

/// "7 runs simulated: 1,234 cycles with the mapper's own, 1,180 with 3 of 20 mappings changed".
std::string said_of(const Trials& trials, const std::vector<LikeLayers>& layers) {
    if (trials.runs == 1)
        return fmt::format("1 run simulated: {} cycles, no other mapping to try", with_thousands(trials.own));
    const auto changed = std::ranges::count_if(trials.choice, [](std::size_t choice) { return choice > 0; });
    const std::string refused = trials.refused > 0 ? fmt::format(", {} refused", trials.refused) : "";
    const std::string runs = fmt::format("{} runs simulated{}: {} cycles with the mapper's own", trials.runs,
                                         refused, with_thousands(trials.own));
    if (changed == 0) return runs + ", none faster";
    const std::string with = layers.size() == 1
                                 ? "another mapping"
                                 : fmt::format("{} of {} mappings changed", changed, layers.size());
    return fmt::format("{}, {} with {}", runs, with_thousands(trials.best), with);
}

}  // namespace

RunOutcome execute(const Program& program, const SystolicSpec& spec, const RunOptions& options,
                   std::optional<std::string>& fault) {
    const FreshKernel kernel;
    Machine machine(instance_name(spec.name).c_str(), spec, program, options);
    machine.run();
    fault = machine.value_fault;
    RunOutcome outcome{result_of(machine, spec, options.protocol)};
    if (options.timeline != WantTimeline::No) outcome.timeline = timeline_of(machine, outcome.result);
    return outcome;
}

Graph prepared(const Graph& asked, const SystolicSpec& spec, const Protocol& protocol,
               const Mapping* mapping) {
    return sliced_graph(fused_graph(asked, spec, mapping), spec, protocol, mapping);
}

PlacedNetwork place_network(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol,
                            const Mapping* mapping, const LayerDataflows* dataflows) {
    const int cores = cores_at_work(graph, spec, protocol, mapping, dataflows);
    const DataflowSpecs specs(graph, spec, dataflows);
    return {graph, spec, mapping, dataflows, cores, place_tensors(graph, specs, protocol, mapping, cores)};
}

NetworkRun run_network(const PlacedNetwork& network, const RunOptions& options, const LayerMappings& tried,
                       std::size_t most_variants) {
    const LoweringOptions how = how_to_lower(network, tried, most_variants);
    if (std::optional<NetworkRun> run = run_few_turns(network, options, how)) return std::move(*run);
    return run_whole(network, options, how);
}

int most_trials(const Graph& graph, const PlacementSpec& placement) {
    if (placement.trials > 0) return placement.trials;
    return graph.layers.size() == 1 ? kFewTrials : 1;
}

TriedNetwork try_network(const PlacedNetwork& network, const RunOptions& options) {
    RunOptions untraced = options;
    untraced.timeline = WantTimeline::No;
    const PlacementSpec& placement = network.spec.placement;
    const auto most = static_cast<std::size_t>(most_trials(network.graph, placement));
    TriedNetwork tried{run_network(network, untraced, {}, most), {}};
    const std::vector<LikeLayers> layers = like_layers(network.graph, tried.fastest.variants);
    if (placement.trials == 0 && (layers.empty() || time_of(tried.fastest).run > kFewCycles)) {
        if (options.timeline != WantTimeline::No) tried.fastest = run_network(network, options, {}, 1);
        return tried;
    }
    const std::optional<std::size_t> few_layers = tried.fastest.few_layers;
    // Where turns stand for others a run is known to so much, either way.
    const auto blur_of = [&](const TurnRule& rule) {
        return few_layers ? 2 * time_of(tried.fastest).run / rule.promise : 0;
    };
    const std::int64_t blur = blur_of(tried.fastest.rule);
    const auto run = [&](const std::vector<std::size_t>& choice) -> std::optional<TrialTime> {
        LayerMappings mappings = mappings_of(network.graph, layers, choice);
        std::optional<NetworkRun> next = run_trial(network, untraced, mappings, few_layers);
        if (!next) return std::nullopt;
        TrialTime time = time_of(*next);
        if (time.run + std::max(blur, blur_of(next->rule)) < time_of(tried.fastest).run)
            tried = {std::move(*next), std::move(mappings)};
        return time;
    };
    const Trials trials = try_mappings(layers, time_of(tried.fastest), most, blur, run);
    if (options.timeline != WantTimeline::No)
        tried.fastest = run_network(network, options, tried.mappings, 1);
    tried.fastest.outcome.result.choices.push_back(
        {"placement.trials", std::to_string(most), said_of(trials, layers)});
    return tried;
}

}  // namespace systole::systolic
