// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/sliced_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/base/check.h"

namespace systole {
namespace {

constexpr TensorId kNone = ~TensorId{0};

TensorId root(const Graph& graph, TensorId tensor) {
    return graph.tensors[tensor].view_of.value_or(tensor);
}

std::string part_name(const std::string& whole, std::int64_t index, std::int64_t count) {
    return fmt::format("{}[{}/{}]", whole, index + 1, count);
}

/// Whether a run has one of a block's layers.
bool touches(const SlicedRun& run, const RepeatedBlock& block) {
    return run.first < block.first_layer + block.layers * block.turns &&
           block.first_layer < run.first + run.layers;
}

/// Builds the sliced network from front to back.
class Slicing {
public:
    Slicing(const Graph& graph, const std::vector<SlicedRun>& runs)
        : graph_(graph), runs_(runs), places_(graph.tensors.size(), kNone) {}

    Graph take() {
        keep_tensors();
        for (const SlicedRun& run : runs_) {
            keep_layers(run.first);
            cut(run);
            next_ = run.first + run.layers;
        }
        keep_layers(graph_.layers.size());
        keep_the_rest();
        return std::move(sliced_);
    }

private:
    void keep_tensors();
    void keep_layers(std::size_t end);
    void cut(const SlicedRun& run);
    TensorId part_of(TensorId tensor, const SlicedRun& run, std::int64_t index);
    void keep_the_rest();

    const Graph& graph_;
    const std::vector<SlicedRun>& runs_;
    Graph sliced_;
    std::vector<TensorId> places_;         // by tensor: its new number
    std::vector<std::size_t> new_layers_;  // by layer: where it begins now
    std::map<TensorId, TensorId> parts_;   // of the part that is being built
    std::vector<bool> inner_;              // of the run that is being built
    std::size_t next_ = 0;                 // layer
};

/// All that is not replaced by parts; weights keep their order.
void Slicing::keep_tensors() {
    std::vector<bool> gone(graph_.tensors.size());
    for (const SlicedRun& run : runs_) {
        const std::vector<bool> inner = inner_tensors(graph_, run);
        for (TensorId id = 0; id < gone.size(); ++id) gone[id] = gone[id] || inner[root(graph_, id)];
    }
    for (TensorId id = 0; id < gone.size(); ++id) {
        if (gone[id]) continue;
        places_[id] = sliced_.tensors.size();
        sliced_.tensors.push_back(graph_.tensors[id]);
    }
    for (Tensor& tensor : sliced_.tensors)
        if (tensor.view_of) tensor.view_of = places_[*tensor.view_of];
}

void Slicing::keep_layers(std::size_t end) {
    for (; next_ < end; ++next_) {
        new_layers_.push_back(sliced_.layers.size());
        Layer layer = graph_.layers[next_];
        for (TensorId& input : layer.inputs) input = places_[input];
        for (std::optional<TensorId>* stored : {&layer.weights, &layer.bias, &layer.scales})
            if (*stored) *stored = places_[**stored];
        layer.output = places_[layer.output];
        sliced_.layers.push_back(std::move(layer));
    }
}

/// A part of an inner tensor lies by itself; of any other tensor it is a view.
TensorId Slicing::part_of(TensorId id, const SlicedRun& run, std::int64_t index) {
    if (const auto known = parts_.find(id); known != parts_.end()) return known->second;
    const Tensor& whole = graph_.tensors[id];
    const TensorId behind = root(graph_, id);
    Tensor part = whole;
    part.name = part_name(whole.name, index, run.count);
    part.role = TensorRole::Activation;
    part.shape[0] /= run.count;
    part.slice = BatchSlice{whole.name, index, run.count};
    if (!inner_[behind]) {
        part.view_of = places_[behind];
        part.view_offset = whole.view_offset + stored_bytes(part) * index;
    } else if (whole.view_of) {
        part.view_of = part_of(behind, run, index);
    }
    const TensorId place = sliced_.tensors.size();
    sliced_.tensors.push_back(std::move(part));
    parts_.emplace(id, place);
    return place;
}

void Slicing::cut(const SlicedRun& run) {
    inner_ = inner_tensors(graph_, run);
    new_layers_.insert(new_layers_.end(), run.layers, sliced_.layers.size());
    for (std::int64_t index = 0; index < run.count; ++index) {
        parts_.clear();
        for (std::size_t i = run.first; i < run.first + run.layers; ++i) {
            const Layer& whole = graph_.layers[i];
            const std::optional<std::int64_t> batch = batch_of(graph_, whole);
            SYSTOLE_CHECK(batch && *batch % run.count == 0, "'{}' has no {} equal parts", whole.name,
                          run.count);
            Layer part = whole;
            part.name = part_name(whole.name, index, run.count);
            part.slice = BatchSlice{whole.name, index, run.count};
            part.op = *slice_of(whole.op, *batch, run.count);
            for (TensorId& input : part.inputs) input = part_of(input, run, index);
            for (std::optional<TensorId>* stored : {&part.weights, &part.bias, &part.scales})
                if (*stored) *stored = places_[**stored];
            part.output = part_of(whole.output, run, index);
            sliced_.layers.push_back(std::move(part));
        }
    }
}

void Slicing::keep_the_rest() {
    sliced_.name = graph_.name;
    for (const TensorId input : graph_.inputs) sliced_.inputs.push_back(places_[input]);
    for (const TensorId output : graph_.outputs) sliced_.outputs.push_back(places_[output]);
    for (RepeatedBlock block : graph_.blocks) {
        if (std::ranges::any_of(runs_, [&](const SlicedRun& run) { return touches(run, block); })) continue;
        block.first_layer = new_layers_[block.first_layer];
        block.first_tensor = places_[block.first_tensor];
        sliced_.blocks.push_back(std::move(block));
    }
}

}  // namespace

std::optional<std::int64_t> batch_of(const Graph& graph, const Layer& layer) {
    const Shape& shape = graph.tensors[layer.output].shape;
    const std::int64_t batch = shape.front();
    const auto has_it = [&](TensorId id) {
        const Tensor& tensor = graph.tensors[id];
        const TensorRole role = graph.tensors[root(graph, id)].role;
        const bool whole_bytes = bits_of(tensor.dtype).value() * tensor.shape.back() % 8 == 0;
        return (role == TensorRole::Activation || role == TensorRole::Input) && tensor.shape.size() > 1 &&
               tensor.shape.front() == batch && whole_bytes;
    };
    if (layer.inputs.empty() || batch < 2 || !has_it(layer.output) ||
        !std::ranges::all_of(layer.inputs, has_it) || !slice_of(layer.op, batch, batch))
        return std::nullopt;
    return batch;
}

std::vector<bool> inner_tensors(const Graph& graph, const SlicedRun& run) {
    std::vector<bool> inner(graph.tensors.size());
    for (std::size_t i = run.first; i < run.first + run.layers; ++i)
        inner[root(graph, graph.layers[i].output)] = true;
    const auto needed = [&](TensorId id) { inner[root(graph, id)] = false; };
    std::ranges::for_each(graph.outputs, needed);
    for (std::size_t i = 0; i < graph.layers.size(); ++i)
        if (i < run.first || i >= run.first + run.layers)
            std::ranges::for_each(graph.layers[i].inputs, needed);
    return inner;
}

Graph slice_batch(const Graph& graph, const std::vector<SlicedRun>& runs) {
    return Slicing(graph, runs).take();
}

}  // namespace systole
