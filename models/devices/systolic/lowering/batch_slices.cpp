// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/batch_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "models/devices/systolic/lowering/extents.h"
#include "models/devices/systolic/lowering/tiling.h"
#include "models/devices/systolic/lowering/vector_cost.h"

namespace systole::systolic {
namespace {

/// Longest run that is looked at; behind it the next one begins.
constexpr std::size_t kLongestRun = 64;
/// Turns of a repeated block from which on one stands for others (sim/device/reuse.h): those stay as they
/// are.
constexpr std::size_t kManyTurns = 16;
/// Each part has commands of its own, and every layer of every part is mapped and placed.
constexpr std::int64_t kMostSlices = 64;
/// The share of the memory's peak that layers bound by it reach here.
constexpr double kReached = 0.8;
/// Savings below this share of the time are within what the estimate may be off.
constexpr double kWorthIt = 0.02;

bool repeated(const Graph& graph, std::size_t layer) {
    return std::ranges::any_of(graph.blocks, [&](const RepeatedBlock& block) {
        return block.turns >= kManyTurns && layer >= block.first_layer &&
               layer < block.first_layer + block.layers * block.turns;
    });
}

/// What a layer costs however its run is cut, in cycles and bytes; per tensor of its own where that differs.
class Estimate {
public:
    Estimate(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol)
        : graph_(graph), spec_(spec), inputs_from_host_(protocol.inputs_at == Protocol::Where::Host) {
        const auto clock = static_cast<double>(spec.core_clock.value());
        bytes_per_cycle_ = kReached * static_cast<double>(spec.memory.peak().value()) / clock;
        host_bytes_per_cycle_ = static_cast<double>(spec.host.peak().value()) / clock;
        for (const Layer& layer : graph.layers) batches_.push_back(batch_of(graph, layer));
        last_read_.resize(graph.tensors.size());
        for (std::size_t i = 0; i < graph.layers.size(); ++i)
            for (const TensorId input : graph.layers[i].inputs) last_read_[root(input)] = i;
        for (const TensorId output : graph.outputs) last_read_[root(output)] = graph.layers.size();
    }

    std::optional<std::int64_t> batch(std::size_t layer) const { return batches_[layer]; }
    bool has_batches() const {
        return std::ranges::any_of(batches_, [](const auto& batch) { return batch.has_value(); });
    }
    TensorId root(TensorId tensor) const { return graph_.tensors[tensor].view_of.value_or(tensor); }
    std::int64_t bytes(TensorId tensor) const { return stored_bytes(graph_.tensors[tensor]).value(); }
    std::size_t last_read(TensorId tensor) const { return last_read_[tensor]; }
    double bus_cycles(double bytes) const { return bytes / bytes_per_cycle_; }
    /// That a tensor takes to come from the host.
    double host_cycles(TensorId tensor) const {
        if (!inputs_from_host_ || std::ranges::find(graph_.inputs, tensor) == graph_.inputs.end()) return 0;
        return static_cast<double>(bytes(tensor)) / host_bytes_per_cycle_;
    }

    std::int64_t weight_bytes(const Layer& layer) const {
        std::int64_t sum = 0;
        for (const std::optional<TensorId>& stored : {layer.weights, layer.bias, layer.scales})
            if (stored) sum += bytes(*stored);
        return sum;
    }

    /// Of a layer that is done in `count` parts, all of them, on every core. Between layers that wait for
    /// each other arrays fill and drain.
    double unit_cycles(const Layer& layer, std::int64_t count) const {
        const MxuSpec& mxu = spec_.mxu;
        const Extents e = extents_of(layer.op);
        const double lanes =
            static_cast<double>(lane_work(layer)) / static_cast<double>(spec_.cores * spec_.vector.lanes);
        const Cycles start = spec_.vector.startup + spec_.dma.setup_cycles + spec_.sequencer.issue_cycles;
        if (e.m == 0) return lanes + static_cast<double>(count * start.value());
        const double passes = static_cast<double>(e.items * ceil_div(e.k, mxu.rows)) *
                              static_cast<double>(ceil_div(e.n, mxu.cols));
        const double vectors =
            static_cast<double>(std::max<std::int64_t>(mxu.rows, ceil_div(e.m, count * spec_.cores)));
        const double parts = static_cast<double>(count);
        return parts * (2 * mxu.rows + mxu.cols) + std::max(parts * passes * vectors / mxu.count, lanes);
    }

private:
    /// Lane-cycles of a layer on the vector unit: of a matrix product, those of its drains.
    std::int64_t lane_work(const Layer& layer) const {
        const VectorSpec::Cost& cost = spec_.vector.cost;
        const std::int64_t out = elements(graph_.tensors[layer.output].shape);
        const auto post = [&](const auto& op) {
            const auto joined = layer.joined ? std::optional(layer.joined->post) : std::nullopt;
            return out * drain_cost(spec_.vector, op.bias ? 1 : 0, op.post, joined);
        };
        if (const auto* conv = std::get_if<Conv2d>(&layer.op))
            return conv->depthwise() ? out * conv->taps() * cost.mac : post(*conv);
        if (const auto* matmul = std::get_if<MatMul>(&layer.op)) return post(*matmul);
        if (const auto* pool = std::get_if<Pool>(&layer.op)) return out * pool->window_h * pool->window_w;
        if (const auto* norm = std::get_if<Norm>(&layer.op)) return out * norm_cost(cost, norm->kind);
        if (std::holds_alternative<Softmax>(layer.op)) return out * softmax_cost(cost);
        if (const auto* activation = std::get_if<Activation>(&layer.op))
            return out * std::max<std::int64_t>(1, function_cost(cost, activation->function));
        return out;
    }

    const Graph& graph_;
    const SystolicSpec& spec_;
    bool inputs_from_host_;
    double bytes_per_cycle_ = 1, host_bytes_per_cycle_ = 1;
    std::vector<std::optional<std::int64_t>> batches_;
    std::vector<std::size_t> last_read_;  // by root tensor: the layer; behind the last one for outputs
};

/// A run that grows layer by layer, for one number of parts.
class GrowingRun {
public:
    GrowingRun(const Graph& graph, const SystolicSpec& spec, const Estimate& estimate, std::size_t first,
               std::int64_t count)
        : graph_(graph), spec_(spec), estimate_(estimate), run_{first, 0, count} {}

    void add_layer() {
        const Layer& layer = graph_.layers[run_.first + run_.layers];
        Work work;
        work.units = estimate_.unit_cycles(layer, run_.count);
        work.bytes = static_cast<double>(estimate_.weight_bytes(layer) * run_.count * spec_.cores);
        for (const TensorId input : layer.inputs) {
            const TensorId tensor = estimate_.root(input);
            const auto born = std::ranges::find(born_, tensor);
            if (born != born_.end())
                work.reads.push_back(static_cast<std::size_t>(born - born_.begin()));
            else
                work.bytes += static_cast<double>(estimate_.bytes(tensor));
            host_ += estimate_.host_cycles(tensor);
        }
        work_.push_back(std::move(work));
        born_.push_back(layer.output);
        ++run_.layers;
    }

    /// Whether what lives at once between its layers fits into the scratchpad.
    bool fits() const {
        const std::int64_t stripe =
            std::max<std::int64_t>(1, spec_.scratchpad.bank_bytes.value() * spec_.scratchpad.banks);
        std::vector<std::int64_t> change(run_.layers + 1);
        for (std::size_t i = 0; i < born_.size(); ++i) {
            if (!inner(born_[i])) continue;
            const std::size_t last = estimate_.last_read(born_[i]);
            const std::int64_t bytes =
                round_up(ceil_div(estimate_.bytes(born_[i]), run_.count * spec_.cores), stripe);
            change[i] += bytes;
            change[std::max(i, last - run_.first) + 1] -= bytes;
        }
        std::int64_t live = 0;
        for (const std::int64_t step : change) {
            live += step;
            if (live > room()) return false;
        }
        return true;
    }

    /// Estimate, with all inner tensors on chip. Memory is busy beside the units in each layer, but hardly
    /// ahead of it; the host sends while all layers of the run go on.
    double cycles() const {
        double sum = 0;
        for (std::size_t i = 0; i < work_.size(); ++i) {
            double bytes = work_[i].bytes;
            if (!inner(born_[i])) bytes += static_cast<double>(estimate_.bytes(born_[i]));
            for (const std::size_t read : work_[i].reads)
                if (!inner(born_[read])) bytes += static_cast<double>(estimate_.bytes(born_[read]));
            const double bus = estimate_.bus_cycles(bytes);
            sum += std::max(work_[i].units, bus) + kExposed * std::min(work_[i].units, bus);
        }
        return std::max(sum, host_);
    }

    const SlicedRun& run() const { return run_; }

private:
    /// Of a layer: work of its units, traffic that certainly is, and which layers of the run it reads from.
    struct Work {
        double units = 0, bytes = 0;
        std::vector<std::size_t> reads = {};
    };
    bool inner(TensorId tensor) const { return estimate_.last_read(tensor) < run_.first + run_.layers; }
    /// A part of the space is left for what zero padding reaches, and for gaps between tensors.
    std::int64_t room() const { return spec_.placement.activation_bytes.value() / 8 * 7; }

    const Graph& graph_;
    const SystolicSpec& spec_;
    const Estimate& estimate_;
    SlicedRun run_;
    std::vector<TensorId> born_;  // by layer of the run
    std::vector<Work> work_;      // the same
    double host_ = 0;             // cycles for inputs
};

/// Parts that a batch can be cut into, of up to kMostSlices those that lie well apart.
std::vector<std::int64_t> divisors(std::int64_t batch) {
    std::vector<std::int64_t> all{1};
    for (std::int64_t count = 2; count <= std::min(batch, kMostSlices); ++count)
        if (batch % count == 0 && 2 * count >= 3 * all.back()) all.push_back(count);
    return all;
}

/// Whether a layer may be in a run of so many parts that begins with `first`.
bool may_join(const Graph& graph, const Estimate& estimate, std::size_t first, std::size_t layer,
              std::int64_t count) {
    return count == 1 || (estimate.batch(layer) == estimate.batch(first) && !repeated(graph, layer));
}

/// The best way to run all layers before one: the last run of it.
struct Plan {
    double cycles = std::numeric_limits<double>::infinity();
    SlicedRun last;
};

/// By layer, and one for the end: the runs before it, found from front to back.
std::vector<Plan> best_plans(const Graph& graph, const SystolicSpec& spec, const Estimate& estimate,
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
    const Estimate estimate(graph, spec, protocol);
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
