// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/shorter_graph.h"

#include <algorithm>
#include <optional>

#include "sim/base/check.h"

namespace systole {
namespace {

bool within(const RepeatedBlock& block, TensorId tensor) {
    return tensor >= block.first_tensor && tensor < block.first_tensor + block.tensors * block.turns;
}

std::size_t turn_of(const RepeatedBlock& block, TensorId tensor) {
    return (tensor - block.first_tensor) / block.tensors;
}

/// Compares a turn with the first that has another before it.
class Twin {
public:
    Twin(const RepeatedBlock& block, std::size_t turn) : block_(block), turn_(turn) {}

    /// `own` stands where `other` does in turn 1: it is a turn's own tensor, or one of the turn before, so
    /// many places further; or it is the same tensor from before the block.
    bool same(TensorId own, TensorId other) const {
        if (!within(block_, own)) return own == other && own < block_.first_tensor;
        return own == other + (turn_ - 1) * block_.tensors && turn_of(block_, own) + 1 >= turn_;
    }
    bool same(const std::optional<TensorId>& own, const std::optional<TensorId>& other) const {
        return own.has_value() == other.has_value() && (!own || same(*own, *other));
    }

    static bool same(const std::optional<Joined>& own, const std::optional<Joined>& other) {
        if (!own || !other) return own.has_value() == other.has_value();
        return own->kind == other->kind && own->post == other->post;
    }
    bool same(const Layer& own, const Layer& other) const {
        return own.op == other.op && same(own.joined, other.joined) && same(own.weights, other.weights) &&
               same(own.bias, other.bias) && same(own.scales, other.scales) &&
               same(own.output, other.output) &&
               std::equal(own.inputs.begin(), own.inputs.end(), other.inputs.begin(), other.inputs.end(),
                          [&](TensorId a, TensorId b) { return same(a, b); });
    }
    bool same(const Tensor& own, const Tensor& other) const {
        return own.shape == other.shape && own.dtype == other.dtype && own.role == other.role &&
               own.format == other.format && same(own.view_of, other.view_of);
    }

private:
    const RepeatedBlock& block_;
    const std::size_t turn_;
};

/// Nobody behind the block reads another turn than the last.
bool only_last_is_read(const Graph& graph, const RepeatedBlock& block) {
    const auto inner = [&](TensorId tensor) {
        const TensorId read = graph.tensors[tensor].view_of.value_or(tensor);
        return (within(block, tensor) && turn_of(block, tensor) + 1 < block.turns) ||
               (within(block, read) && turn_of(block, read) + 1 < block.turns);
    };
    const auto first_behind =
        graph.layers.begin() + static_cast<std::ptrdiff_t>(block.first_layer + block.layers * block.turns);
    return std::ranges::none_of(graph.outputs, inner) &&
           std::none_of(first_behind, graph.layers.end(), [&](const Layer& layer) {
               const auto stored = [&](const std::optional<TensorId>& id) { return id && inner(*id); };
               return std::ranges::any_of(layer.inputs, inner) || stored(layer.weights) ||
                      stored(layer.bias) || stored(layer.scales);
           });
}

/// Where the parts of a graph go when turns are left out.
class Removal {
public:
    Removal(const Graph& graph, const std::vector<std::size_t>& turns) : graph_(graph), turns_(turns) {
        SYSTOLE_CHECK(turns.size() == graph.blocks.size(), "{} numbers of turns for {} blocks", turns.size(),
                      graph.blocks.size());
        std::vector<bool> removed(graph.tensors.size());
        for (std::size_t b = 0; b < turns.size(); ++b) {
            const RepeatedBlock& block = graph.blocks[b];
            SYSTOLE_CHECK(turns[b] == block.turns || (turns[b] > kLastTurns && turns[b] < block.turns),
                          "{} of {} turns of '{}'", turns[b], block.turns, block.name);
            for (TensorId t = first_removed(b) * block.tensors; t < end_removed(b) * block.tensors; ++t)
                removed[block.first_tensor + t] = true;
        }
        TensorId next = 0;
        for (const bool gone : removed) places_.push_back(gone ? kRemoved : next++);
    }

    bool has_layer(std::size_t layer) const {
        for (std::size_t b = 0; b < turns_.size(); ++b) {
            const RepeatedBlock& block = graph_.blocks[b];
            if (layer < block.first_layer) continue;
            const std::size_t turn = (layer - block.first_layer) / block.layers;
            if (turn >= first_removed(b) && turn < end_removed(b)) return false;
        }
        return true;
    }
    bool has_tensor(TensorId tensor) const { return places_[tensor] != kRemoved; }

    /// The tensor's new number; of one that is left out, that of the last turn before it.
    TensorId place(TensorId tensor) const {
        if (has_tensor(tensor)) return places_[tensor];
        const auto block = std::ranges::find_if(
            graph_.blocks, [&](const RepeatedBlock& candidate) { return within(candidate, tensor); });
        const auto b = static_cast<std::size_t>(block - graph_.blocks.begin());
        return places_[tensor - (turn_of(*block, tensor) + 1 - first_removed(b)) * block->tensors];
    }
    std::size_t removed_layers_before(std::size_t layer) const {
        std::size_t removed = 0;
        for (std::size_t b = 0; b < turns_.size(); ++b)
            if (graph_.blocks[b].first_layer < layer)
                removed += (end_removed(b) - first_removed(b)) * graph_.blocks[b].layers;
        return removed;
    }

private:
    static constexpr TensorId kRemoved = ~TensorId{0};
    std::size_t first_removed(std::size_t block) const { return turns_[block] - kLastTurns; }
    std::size_t end_removed(std::size_t block) const { return graph_.blocks[block].turns - kLastTurns; }

    const Graph& graph_;
    const std::vector<std::size_t>& turns_;
    std::vector<TensorId> places_;  // by tensor
};

}  // namespace

bool turns_alike(const Graph& graph, const RepeatedBlock& block) {
    for (std::size_t turn = 2; turn < block.turns; ++turn) {
        const Twin twin(block, turn);
        for (std::size_t i = 0; i < block.layers; ++i) {
            const std::size_t other = block.first_layer + block.layers + i;
            if (!twin.same(graph.layers[other + (turn - 1) * block.layers], graph.layers[other]))
                return false;
        }
        for (std::size_t i = 0; i < block.tensors; ++i) {
            const TensorId other = block.first_tensor + block.tensors + i;
            if (!twin.same(graph.tensors[other + (turn - 1) * block.tensors], graph.tensors[other]))
                return false;
        }
    }
    return only_last_is_read(graph, block);
}

ShorterGraph shorten(const Graph& graph, const std::vector<std::size_t>& turns) {
    const Removal removal(graph, turns);
    const auto place = [&](TensorId tensor) { return removal.place(tensor); };
    const auto place_each = [&](std::vector<TensorId>& tensors) {
        std::ranges::transform(tensors, tensors.begin(), place);
    };
    ShorterGraph shorter{{graph.name, {}, {}, graph.inputs, graph.outputs}, {}};
    for (TensorId id = 0; id < graph.tensors.size(); ++id) {
        if (!removal.has_tensor(id)) continue;
        Tensor& tensor = shorter.graph.tensors.emplace_back(graph.tensors[id]);
        if (tensor.view_of) tensor.view_of = place(*tensor.view_of);
        shorter.whole.push_back(id);
    }
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
        if (!removal.has_layer(i)) continue;
        Layer& layer = shorter.graph.layers.emplace_back(graph.layers[i]);
        place_each(layer.inputs);
        if (layer.weights) layer.weights = place(*layer.weights);
        if (layer.bias) layer.bias = place(*layer.bias);
        if (layer.scales) layer.scales = place(*layer.scales);
        layer.output = place(layer.output);
    }
    place_each(shorter.graph.inputs);
    place_each(shorter.graph.outputs);
    for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
        RepeatedBlock& block = shorter.graph.blocks.emplace_back(graph.blocks[b]);
        block.first_layer -= removal.removed_layers_before(block.first_layer);
        block.first_tensor = place(block.first_tensor);
        block.turns = turns[b];
    }
    return shorter;
}

}  // namespace systole
