// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/training/training_step.h"

#include <algorithm>
#include <set>
#include <utility>

#include "sim/workload/graph_builder.h"
#include "sim/workload/training/split_activations.h"
#include "sim/workload/training/way_back.h"

namespace systole {
namespace {

/// Layers and tensors so far.
struct Sizes {
    std::size_t layers = 0, tensors = 0;
};

Sizes sizes_of(const AppendedGraph& graph) {
    return {graph.layers(), graph.tensors()};
}

/// Adds the block whose turn k begins and ends as `turn` says, if all its turns are equal.
template <typename Turn>
void add_block(AppendedGraph& graph, const std::string& name, std::size_t turns, Turn turn) {
    const auto [first, end] = turn(0);
    const RepeatedBlock block{
        name, first.layers, end.layers - first.layers, first.tensors, end.tensors - first.tensors, turns};
    for (std::size_t k = 0; k < turns; ++k) {
        const auto [begins, ends] = turn(k);
        if (ends.layers - begins.layers != block.layers || ends.tensors - begins.tensors != block.tensors)
            return;
    }
    if (block.layers > 0) graph.add_block(block);
}

void expect_trainable(const Graph& graph, const GradientPath& path, const Training& how) {
    Mistakes mistakes;
    if (graph.outputs.size() != 1)
        throw UserError(how.where,
                        fmt::format("training: a loss is made of one output, but the network has {}",
                                    graph.outputs.size()));
    const Tensor& output = graph.tensors[graph.outputs[0]];
    if (!is_floating(output.dtype))
        throw UserError(how.where,
                        fmt::format("training: a loss is made of floating-point numbers, but '{}' is {}",
                                    output.name, to_string(output.dtype)));
    if (!path.wants(graph.outputs[0]))
        throw UserError(
            how.where,
            fmt::format("training: '{}' is not made of stored weights that can be trained", output.name));
    if (output.replica)
        throw UserError(how.where,
                        fmt::format("training: a loss is made of what a layer makes, but '{}' is a replica",
                                    output.name));
    if (how.recompute_blocks && graph.blocks.empty())
        throw UserError(how.where,
                        "training: 'recompute: blocks' needs a repeated block whose turns are alike");
    std::set<std::pair<int, int>> told;  // a layer of a repeated block is told once
    for (const Layer& layer : graph.layers) {
        if (!path.has(layer)) continue;
        const std::string why = why_no_gradient(graph, layer, path);
        if (why.empty()) continue;
        if (layer.where.line > 0 && !told.emplace(layer.where.line, layer.where.column).second) continue;
        mistakes.add(layer.where,
                     fmt::format("{} '{}': has no gradient here ({})", op_name(layer.op), layer.name, why));
    }
    mistakes.throw_if_any();
}

/// The way back through all layers of the network, and the blocks that its turns make.
void go_back(AppendedGraph& graph, WayBack& back, const std::vector<RepeatedBlock>& blocks) {
    const std::size_t layers = graph.layers();
    back.begin();
    std::vector<Sizes> behind(layers + 1);  // the way back through layer i begins at i + 1 and ends at i
    behind[layers] = sizes_of(graph);
    for (std::size_t i = layers; i-- > 0;) {
        back.pass(i);
        behind[i] = sizes_of(graph);
    }
    for (std::size_t b = blocks.size(); b-- > 0;) {
        const RepeatedBlock& block = blocks[b];
        add_block(graph, block.name + ".backward", block.turns, [&](std::size_t k) {
            const std::size_t first = block.first_layer + (block.turns - 1 - k) * block.layers;
            return std::pair(behind[first + block.layers], behind[first]);
        });
    }
}

/// A row for each number that is kept of a weight; of experts, whose weights may be very many, one for each.
Shape state_shape(const Optimizer& op, const Shape& stored) {
    if (stored.size() < 3) return {op.slots(), op.elements};
    return {op.slots(), stored.front(), op.elements / stored.front()};
}

void add_update(AppendedGraph& graph, const Layer& layer, TensorId stored, TensorId gradient,
                Optimizer::Kind kind) {
    const Optimizer op{kind, elements(graph.shape(stored))};
    graph.add({graph.tensor(stored).name + ".update",
               op,
               {gradient},
               state_shape(op, graph.shape(stored)),
               DType::Fp32,
               layer.where,
               stored,
               TensorRole::OptimizerState});
}

/// What the optimizer makes of the gradients, in the order of the network.
void add_updates(AppendedGraph& graph, const WayBack& back, std::size_t layers,
                 const std::vector<RepeatedBlock>& blocks, Optimizer::Kind kind) {
    std::vector<Sizes> before(layers + 1);
    for (std::size_t i = 0; i < layers; ++i) {
        before[i] = sizes_of(graph);
        const Layer layer = graph.graph().layers[i];  // a copy: layers are appended
        if (!has_trained_weights(layer)) continue;
        for (const auto& stored : {layer.weights, layer.bias})
            if (stored)
                if (const auto gradient = back.of_stored(*stored))
                    add_update(graph, layer, *stored, *gradient, kind);
    }
    before[layers] = sizes_of(graph);
    for (const RepeatedBlock& block : blocks)
        add_block(graph, block.name + ".update", block.turns, [&](std::size_t k) {
            const std::size_t first = block.first_layer + k * block.layers;
            return std::pair(before[first], before[first + block.layers]);
        });
}

}  // namespace

Graph training_step(Graph forward, const Training& how) {
    forward.training = how;
    const GradientPath before(forward);
    expect_trainable(forward, before, how);
    Names names(forward);
    Graph split = split_activations(std::move(forward), before, names);
    const GradientPath path(split);
    const std::size_t layers = split.layers.size();
    const std::vector<RepeatedBlock> blocks = split.blocks;
    AppendedGraph graph(std::move(split), std::move(names));
    WayBack back(graph, path, how, how.recompute_blocks ? blocks : std::vector<RepeatedBlock>{});
    go_back(graph, back, blocks);
    add_updates(graph, back, layers, blocks, how.optimizer);
    Graph step = graph.take();
    Mistakes mistakes;
    expect_countable(step, how.where, mistakes);
    mistakes.throw_if_any();
    return step;
}

}  // namespace systole
