// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/training/split_activations.h"

#include <algorithm>
#include <utility>

namespace systole {
namespace {

bool is_split(const Layer& layer, const GradientPath& path) {
    const Function post = post_of(layer.op);
    return post != Function::None && !slope_from_output(post) &&
           !std::holds_alternative<Activation>(layer.op) && path.has(layer);
}

void drop_post(Operator& op) {
    if (auto* matmul = std::get_if<MatMul>(&op)) matmul->post = Function::None;
    if (auto* elementwise = std::get_if<Elementwise>(&op)) elementwise->post = Function::None;
}

/// How many stand before each place, and where things that stood there go.
class Shift {
public:
    explicit Shift(const std::vector<bool>& doubled) : before_(doubled.size() + 1) {
        for (std::size_t i = 0; i < doubled.size(); ++i) before_[i + 1] = before_[i] + (doubled[i] ? 1 : 0);
    }
    /// Of the first of two where there are two now.
    std::size_t first(std::size_t old) const { return old + before_[old]; }
    std::size_t last(std::size_t old) const { return old + before_[old + 1]; }
    std::size_t more_in(std::size_t first, std::size_t count) const {
        return before_[first + count] - before_[first];
    }

private:
    std::vector<std::size_t> before_;
};

/// The blocks whose turns are still equal.
std::vector<RepeatedBlock> shifted(const std::vector<RepeatedBlock>& blocks, const Shift& layers,
                                   const Shift& tensors) {
    std::vector<RepeatedBlock> all;
    for (RepeatedBlock block : blocks) {
        const std::size_t more = layers.more_in(block.first_layer, block.layers);
        bool even = true;
        for (std::size_t turn = 0; turn < block.turns; ++turn)
            even = even && layers.more_in(block.first_layer + turn * block.layers, block.layers) == more &&
                   tensors.more_in(block.first_tensor + turn * block.tensors, block.tensors) == more;
        if (!even) continue;
        block.first_layer = layers.first(block.first_layer);
        block.first_tensor = tensors.first(block.first_tensor);
        block.layers += more, block.tensors += more;
        all.push_back(std::move(block));
    }
    return all;
}

}  // namespace

Graph split_activations(Graph graph, const GradientPath& path, Names& names) {
    std::vector<bool> split_layers(graph.layers.size()), split_tensors(graph.tensors.size());
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
        if (!is_split(graph.layers[i], path)) continue;
        split_layers[i] = true;
        split_tensors[graph.layers[i].output] = true;
    }
    const Shift layers(split_layers), tensors(split_tensors);
    const auto place = [&](TensorId id) { return tensors.last(id); };
    const auto place_some = [&](std::optional<TensorId>& id) {
        if (id) id = place(*id);
    };
    const auto place_all = [&](std::vector<TensorId>& ids) {
        std::ranges::transform(ids, ids.begin(), place);
    };
    std::vector<Tensor> all_tensors;
    for (TensorId id = 0; id < graph.tensors.size(); ++id) {
        Tensor& tensor = graph.tensors[id];
        place_some(tensor.view_of);
        if (tensor.replica)
            tensor.replica->view = place(tensor.replica->view),
            tensor.replica->of = place(tensor.replica->of);
        if (split_tensors[id]) all_tensors.push_back(tensor);
        all_tensors.push_back(std::move(tensor));
    }
    std::vector<Layer> all_layers;
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
        Layer& layer = all_layers.emplace_back(std::move(graph.layers[i]));
        place_all(layer.inputs);
        place_some(layer.weights), place_some(layer.bias), place_some(layer.scales);
        layer.output = place(layer.output);
        if (!split_layers[i]) continue;
        const TensorId whole = layer.output--;
        const std::string name = names.take(layer.name + ".activation");
        all_tensors[whole].name = name;
        Layer function{name,
                       Activation{post_of(layer.op), elements(all_tensors[whole].shape)},
                       {layer.output},
                       {},
                       {},
                       whole,
                       layer.where};
        drop_post(layer.op);
        all_layers.push_back(std::move(function));
    }
    graph.blocks = shifted(graph.blocks, layers, tensors);
    graph.tensors = std::move(all_tensors);
    graph.layers = std::move(all_layers);
    place_all(graph.inputs);
    place_all(graph.outputs);
    return graph;
}

}  // namespace systole
