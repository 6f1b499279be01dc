// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/fused_graph.h"

#include <algorithm>
#include <map>
#include <optional>

#include "sim/base/check.h"

namespace systole {
namespace {

constexpr std::size_t kNowhere = ~std::size_t{0};

/// Who writes and reads what.
class Uses {
public:
    explicit Uses(const Graph& graph)
        : graph_(graph), writer_(graph.tensors.size(), kNowhere), reads_(graph.tensors.size()) {
        for (std::size_t i = 0; i < graph.layers.size(); ++i) {
            writer_[graph.layers[i].output] = i;
            for (const TensorId input : graph.layers[i].inputs) ++reads_[input];
        }
        for (const TensorId output : graph.outputs) ++reads_[output];
        for (const Tensor& tensor : graph.tensors)
            if (tensor.view_of) ++reads_[*tensor.view_of];
    }

    /// The layer that writes its bytes; kNowhere if they come from outside.
    std::size_t writer(TensorId tensor) const {
        return writer_[graph_.tensors[tensor].view_of.value_or(tensor)];
    }
    bool written_by_a_layer(TensorId tensor) const { return writer_[tensor] != kNowhere; }
    bool read_once(TensorId tensor) const { return reads_[tensor] == 1; }

private:
    const Graph& graph_;
    std::vector<std::size_t> writer_;  // by tensor
    std::vector<int> reads_;           // by tensor: readers, views and the outside
};

bool is_matrix_product(const Layer& layer) {
    if (layer.joined) return false;
    if (const auto* conv = std::get_if<Conv2d>(&layer.op)) return !conv->depthwise();
    return std::holds_alternative<MatMul>(layer.op);
}

/// Whether `product`, an operand of the layer, need not be written; `other` is there before it is.
bool can_join(const Graph& graph, const Uses& uses, const Layer& layer, TensorId product, TensorId other) {
    if (!uses.written_by_a_layer(product) || !uses.read_once(product)) return false;
    const std::size_t producer = uses.writer(product);
    if (!is_matrix_product(graph.layers[producer])) return false;
    const std::size_t before = uses.writer(other);
    return (before == kNowhere || before < producer) &&
           graph.tensors[product].shape == graph.tensors[layer.output].shape &&
           graph.tensors[other].dtype == graph.tensors[layer.output].dtype &&
           elements(graph.tensors[other].shape) == elements(graph.tensors[product].shape);
}

/// What one stage of a drain does: others take several, or make another type.
bool is_a_stage(Elementwise::Kind kind) {
    return kind == Elementwise::Kind::Add || kind == Elementwise::Kind::Sub ||
           kind == Elementwise::Kind::Mul || kind == Elementwise::Kind::Max || kind == Elementwise::Kind::Min;
}

std::optional<Fusion> fusion_of(const Graph& graph, const Uses& uses, std::size_t index) {
    const Layer& layer = graph.layers[index];
    const auto* elementwise = std::get_if<Elementwise>(&layer.op);
    if (!elementwise || elementwise->stored || elementwise->times > 1 || elementwise->items > 1 ||
        elementwise->slope != Function::None || !is_a_stage(elementwise->kind))
        return std::nullopt;
    const TensorId a = layer.inputs.at(0), b = layer.inputs.at(1);
    if (a == b) return std::nullopt;
    for (const auto& [product, other] : {std::pair(a, b), std::pair(b, a)})
        if (can_join(graph, uses, layer, product, other)) return Fusion{uses.writer(product), index};
    return std::nullopt;
}

/// The block whose turns both layers of a fusion are in the same of; nothing if they are in none. False if
/// one of them is outside, or in another turn.
bool in_one_turn(const Graph& graph, const Fusion& fusion, const RepeatedBlock*& block) {
    block = nullptr;
    for (const RepeatedBlock& candidate : graph.blocks) {
        const auto turn = [&](std::size_t layer) {
            const bool inside = layer >= candidate.first_layer &&
                                layer < candidate.first_layer + candidate.layers * candidate.turns;
            return inside ? (layer - candidate.first_layer) / candidate.layers : kNowhere;
        };
        if (turn(fusion.producer) != turn(fusion.elementwise)) return false;
        if (turn(fusion.producer) != kNowhere) block = &candidate;
    }
    return true;
}

/// Where in a turn of a block a fusion stands.
using Offsets = std::pair<std::size_t, std::size_t>;

Offsets offsets_in(const RepeatedBlock& block, const Fusion& fusion) {
    return {(fusion.producer - block.first_layer) % block.layers,
            (fusion.elementwise - block.first_layer) % block.layers};
}

/// Where layers and tensors go when some of both are left out.
class Renumbering {
public:
    explicit Renumbering(const std::vector<bool>& removed) : before_(removed.size() + 1) {
        for (std::size_t i = 0; i < removed.size(); ++i) before_[i + 1] = before_[i] + (removed[i] ? 1 : 0);
    }
    std::size_t operator()(std::size_t old) const { return old - before_[old]; }
    std::size_t removed_in(std::size_t first, std::size_t count) const {
        return before_[first + count] - before_[first];
    }

private:
    std::vector<std::size_t> before_;
};

}  // namespace

std::vector<Fusion> possible_fusions(const Graph& graph) {
    const Uses uses(graph);
    std::vector<Fusion> all;
    std::vector<const RepeatedBlock*> blocks;  // by fusion
    std::map<std::pair<const RepeatedBlock*, Offsets>, std::size_t> turns;
    std::vector<bool> joined(graph.layers.size());
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
        const std::optional<Fusion> fusion = fusion_of(graph, uses, i);
        const RepeatedBlock* block = nullptr;
        if (!fusion || joined[fusion->producer] || !in_one_turn(graph, *fusion, block)) continue;
        joined[fusion->producer] = true;
        all.push_back(*fusion);
        blocks.push_back(block);
        if (block) ++turns[{block, offsets_in(*block, *fusion)}];
    }
    std::vector<Fusion> alike;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (!blocks[i] || turns[{blocks[i], offsets_in(*blocks[i], all[i])}] == blocks[i]->turns)
            alike.push_back(all[i]);
    std::ranges::sort(alike, {}, &Fusion::producer);
    return alike;
}

Graph fuse(const Graph& graph, const std::vector<Fusion>& fusions) {
    std::vector<bool> no_layer(graph.layers.size()), no_tensor(graph.tensors.size());
    Graph fused = graph;
    for (const Fusion& fusion : fusions) {
        Layer& producer = fused.layers[fusion.producer];
        const Layer& layer = graph.layers[fusion.elementwise];
        const auto& elementwise = std::get<Elementwise>(layer.op);
        const bool first = layer.inputs[0] == producer.output;
        SYSTOLE_CHECK(!producer.joined && (first || layer.inputs[1] == producer.output),
                      "'{}' cannot join '{}'", layer.name, producer.name);
        no_layer[fusion.elementwise] = true;
        no_tensor[producer.output] = true;
        producer.joined = Joined{layer.name, elementwise.kind, elementwise.post};
        producer.inputs.push_back(layer.inputs[first ? 1 : 0]);
        producer.output = layer.output;
    }
    const Renumbering layers(no_layer), tensors(no_tensor);
    const auto renumber = [&](TensorId& tensor) { tensor = tensors(tensor); };
    for (Layer& layer : fused.layers) {
        std::ranges::for_each(layer.inputs, renumber);
        if (layer.weights) renumber(*layer.weights);
        if (layer.bias) renumber(*layer.bias);
        if (layer.scales) renumber(*layer.scales);
        renumber(layer.output);
    }
    for (Tensor& tensor : fused.tensors)
        if (tensor.view_of) renumber(*tensor.view_of);
    std::ranges::for_each(fused.inputs, renumber);
    std::ranges::for_each(fused.outputs, renumber);
    for (RepeatedBlock& block : fused.blocks) {
        const std::size_t first_layer = block.first_layer, first_tensor = block.first_tensor;
        block.layers -= layers.removed_in(first_layer, block.layers);
        block.tensors -= tensors.removed_in(first_tensor, block.tensors);
        block.first_layer = layers(first_layer);
        block.first_tensor = tensors(first_tensor);
    }
    std::size_t index = 0;
    std::erase_if(fused.layers, [&](const Layer&) { return no_layer[index++]; });
    index = 0;
    std::erase_if(fused.tensors, [&](const Tensor&) { return no_tensor[index++]; });
    return fused;
}

}  // namespace systole
