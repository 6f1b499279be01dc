// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/batch_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "models/devices/systolic/lowering/slice_estimate.h"
#include "sim/device/reuse.h"

namespace systole::systolic {
namespace {

/// Longest run that is looked at; behind it the next one begins.
constexpr std::size_t kLongestRun = 64;
/// Each part has commands of its own, and every layer of every part is mapped and placed.
constexpr std::int64_t kMostSlices = 64;
/// Savings below this share of the time are within what the estimate may be off.
constexpr double kWorthIt = 0.02;

/// Of turns of which one stands for others: those stay as they are.
bool repeated(const Graph& graph, std::size_t layer) {
    return std::ranges::any_of(graph.blocks, [&](const RepeatedBlock& block) {
        return block.turns >= kTurnsWorthReuse && layer >= block.first_layer &&
               layer < block.first_layer + block.layers * block.turns;
    });
}

/// Parts that a batch can be cut into, of up to kMostSlices those that lie well apart.
std::vector<std::int64_t> divisors(std::int64_t batch) {
    std::vector<std::int64_t> all{1};
    for (std::int64_t count = 2; count <= std::min(batch, kMostSlices); ++count)
        if (batch % count == 0 && 2 * count >= 3 * all.back()) all.push_back(count);
    return all;
}

/// Whether a layer may be in a run of so many parts that begins with `first`.
bool may_join(const Graph& graph, const SliceEstimate& estimate, std::size_t first, std::size_t layer,
              std::int64_t count) {
    return count == 1 || (estimate.batch(layer) == estimate.batch(first) && !repeated(graph, layer));
}

/// The best way to run all layers before one: the last run of it.
struct Plan {
    double cycles = std::numeric_limits<double>::infinity();
    SlicedRun last;
};

/// By layer, and one for the end: the runs before it, found from front to back.
std::vector<Plan> best_plans(const Graph& graph, const SystolicSpec& spec, const SliceEstimate& estimate,
                             bool sliced) {
    std::vector<Plan> plans(graph.layers.size() + 1);
    plans[0].cycles = 0;
    for (std::size_t first = 0; first < graph.layers.size(); ++first) {
        const std::optional<std::int64_t> batch = estimate.batch(first);
        for (const std::int64_t count : divisors(sliced && batch ? *batch : 1)) {
            if (count > 1 && *batch / count % spec.cores != 0) continue;  // of a part each core has as much
            GrowingRun run(graph, spec, estimate, first, count);
            const std::size_t end = std::min(graph.layers.size(), first + kLongestRun);
            for (std::size_t i = first; i < end && may_join(graph, estimate, first, i, count); ++i) {
                run.add_layer();
                if (!run.fits()) break;
                const double cycles = plans[first].cycles + run.cycles();
                if (cycles < plans[i + 1].cycles) plans[i + 1] = {cycles, run.run()};
            }
        }
    }
    return plans;
}

[[noreturn]] void refuse_slices(const NamedSlices& wanted, const std::string& why) {
    throw UserError(wanted.where, fmt::format("'{}' to '{}' cannot run in {} slices of the batch: {}",
                                              wanted.first, wanted.last, wanted.count, why));
}

/// The runs that a mapping names, each checked.
std::vector<SlicedRun> by_hand(const Graph& graph, const std::vector<NamedSlices>& named) {
    std::vector<SlicedRun> runs;
    for (const NamedSlices& wanted : named) {
        const auto first = std::ranges::find(graph.layers, wanted.first, &Layer::name);
        const auto last = std::ranges::find(graph.layers, wanted.last, &Layer::name);
        for (const auto& [found, name] : {std::pair(first, wanted.first), std::pair(last, wanted.last)})
            if (found == graph.layers.end())
                refuse_slices(wanted, fmt::format("'{}' is no layer of its own, it joins another", name));
        if (wanted.count > kMostSlices)
            refuse_slices(wanted, fmt::format("at most {} are simulated", kMostSlices));
        if (last < first) refuse_slices(wanted, "the last layer comes before the first");
        const SlicedRun run{static_cast<std::size_t>(first - graph.layers.begin()),
                            static_cast<std::size_t>(last - first) + 1, wanted.count};
        if (!runs.empty() && run.first < runs.back().first + runs.back().layers)
            refuse_slices(wanted, "the runs before it reach further; they must follow each other");
        for (auto layer = first; layer <= last; ++layer) {
            const std::optional<std::int64_t> batch = batch_of(graph, *layer);
            if (!batch)
                refuse_slices(wanted,
                              fmt::format("'{}' has no batch whose items it does one by one", layer->name));
            if (batch != batch_of(graph, *first) || *batch % wanted.count != 0)
                refuse_slices(wanted, fmt::format("'{}' has a batch of {}", layer->name, *batch));
        }
        runs.push_back(run);
    }
    return runs;
}

}  // namespace

std::vector<SlicedRun> choose_slices(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol) {
    if (spec.memory.kind != DramSpec::Kind::Dram || graph.layers.empty()) return {};
    const SliceEstimate estimate(graph, spec, protocol);
    if (!estimate.has_batches()) return {};
    const std::vector<Plan> plans = best_plans(graph, spec, estimate, true);
    const double whole = best_plans(graph, spec, estimate, false).back().cycles;
    if (plans.back().cycles > (1 - kWorthIt) * whole) return {};
    std::vector<SlicedRun> runs;
    for (std::size_t end = graph.layers.size(); end > 0; end = plans[end].last.first)
        if (plans[end].last.count > 1) runs.push_back(plans[end].last);
    std::ranges::reverse(runs);
    return runs;
}

Graph sliced_graph(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol,
                   const Mapping* mapping) {
    const bool named = mapping && mapping->slices;
    if (named && !spec.placement.slice && !mapping->slices->empty())
        throw UserError(mapping->slices->front().where,
                        "'slices' needs a machine with placement.slice: on and placement.activations: auto");
    std::vector<SlicedRun> runs;
    if (named)
        runs = by_hand(graph, *mapping->slices);
    else if (spec.placement.slice)
        runs = choose_slices(graph, spec, protocol);
    return runs.empty() ? graph : slice_batch(graph, runs);
}

std::vector<NamedSlices> slices_of(const Graph& sliced) {
    std::vector<NamedSlices> runs;
    for (std::size_t i = 0; i < sliced.layers.size(); ++i) {
        const auto& slice = sliced.layers[i].slice;
        if (!slice || slice->index > 0) continue;
        const bool begins = i == 0 || !sliced.layers[i - 1].slice || sliced.layers[i - 1].slice->index > 0;
        if (begins) runs.push_back({slice->whole, slice->whole, slice->count, {}});
        runs.back().last = slice->whole;
    }
    return runs;
}

}  // namespace systole::systolic
