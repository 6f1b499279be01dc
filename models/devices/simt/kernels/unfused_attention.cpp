// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/unfused_attention.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace systole::simt {
namespace {

Layer part_of(const Layer& whole, Attention::Part part, std::vector<TensorId> inputs, TensorId output) {
    Layer layer = whole;
    std::get<Attention>(layer.op).part = part;
    std::get<Attention>(layer.op).causal = false;
    layer.inputs = std::move(inputs);
    layer.output = output;
    return layer;
}

/// The layers that stand for it; tensors between them are added to the graph.
std::vector<Layer> parts_of(const Layer& whole, Graph& graph) {
    const auto& shape = std::get<Attention>(whole.op);
    const Shape scores{shape.batch, shape.kv_heads, shape.q_len, shape.group(), shape.kv_len};
    const auto add = [&](const std::string& name) {
        graph.tensors.push_back({name, scores, graph.tensors[whole.inputs[0]].dtype});
        return graph.tensors.size() - 1;
    };
    const std::vector<std::string> names = parts_of_attention(whole);
    const TensorId products = add(names[0]), shares = add(names[1]);
    Layer first = part_of(whole, Attention::Part::Scores, {whole.inputs[0], whole.inputs[1]}, products);
    first.name = names[0];
    Layer softmax = part_of(whole, Attention::Part::Scores, {products}, shares);
    softmax.name = names[1];
    softmax.op = Softmax{elements(scores) / shape.kv_len, shape.kv_len};
    return {first, softmax,
            part_of(whole, Attention::Part::Context, {shares, whole.inputs[2]}, whole.output)};
}

}  // namespace

std::vector<std::string> parts_of_attention(const Layer& layer) {
    const auto* attention = std::get_if<Attention>(&layer.op);
    if (attention == nullptr || attention->part != Attention::Part::Whole) return {};
    return {layer.name + ".scores", layer.name + ".softmax"};
}

bool has_attention_kernel(DType dtype, const SmSpec& sm) {
    return sm.tensor.macs[static_cast<std::size_t>(dtype)].has_value() &&
           sm.tensor.issue != TensorIssue::QuadPair;
}

Graph unfuse_attention(Graph graph, const SmSpec& sm) {
    const std::size_t count = graph.layers.size();
    std::vector<Layer> layers;
    for (Layer& layer : std::exchange(graph.layers, {})) {
        auto* attention = std::get_if<Attention>(&layer.op);
        if (attention != nullptr && attention->part != Attention::Part::Whole) attention->causal = false;
        const DType dtype = graph.tensors[layer.inputs.empty() ? layer.output : layer.inputs[0]].dtype;
        if (attention == nullptr || attention->part != Attention::Part::Whole || sm.macs(dtype) == 0 ||
            has_attention_kernel(dtype, sm)) {
            layers.push_back(std::move(layer));
            continue;
        }
        for (Layer& part : parts_of(layer, graph)) layers.push_back(std::move(part));
    }
    if (layers.size() > count) graph.blocks.clear();
    graph.layers = std::move(layers);
    return graph;
}

}  // namespace systole::simt
