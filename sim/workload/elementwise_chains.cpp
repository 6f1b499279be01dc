// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/elementwise_chains.h"

#include <algorithm>

namespace systole {
namespace {

bool is_elementwise(const Layer& layer) {
    const auto* elementwise = std::get_if<Elementwise>(&layer.op);
    return std::holds_alternative<Activation>(layer.op) ||
           (elementwise != nullptr && elementwise->slope == Function::None);
}

/// Tensors that a layer reads.
int operands(const Layer& layer) {
    return std::holds_alternative<Activation>(layer.op) ? 1 : 2;
}

/// By tensor: readers, views and the outside.
std::vector<int> readers(const Graph& graph) {
    std::vector<int> reads(graph.tensors.size());
    for (const Layer& layer : graph.layers)
        for (const TensorId input : layer.inputs) ++reads[input];
    for (const TensorId output : graph.outputs) ++reads[output];
    for (const Tensor& tensor : graph.tensors)
        if (tensor.view_of) ++reads[*tensor.view_of];
    return reads;
}

bool follows(const Graph& graph, const std::vector<int>& reads, const Layer& layer, const Layer& next) {
    if (!is_elementwise(next) || reads[layer.output] != 1) return false;
    const Tensor &between = graph.tensors[layer.output], &result = graph.tensors[next.output];
    return std::ranges::count(next.inputs, layer.output) == 1 && !between.view_of &&
           between.dtype == graph.tensors[layer.inputs.at(0)].dtype &&
           elements(between.shape) == elements(result.shape);
}

}  // namespace

std::vector<ElementwiseChain> elementwise_chains(const Graph& graph) {
    const std::vector<int> reads = readers(graph);
    std::vector<ElementwiseChain> chains;
    for (std::size_t first = 0; first < graph.layers.size();) {
        std::size_t end = first + 1;
        if (is_elementwise(graph.layers[first])) {
            int from_outside = operands(graph.layers[first]);
            for (; end < graph.layers.size(); ++end) {
                from_outside += operands(graph.layers[end]) - 1;
                if (from_outside > kMostChainOperands ||
                    !follows(graph, reads, graph.layers[end - 1], graph.layers[end]))
                    break;
            }
        }
        if (end > first + 1) chains.push_back({first, end - first});
        first = end;
    }
    return chains;
}

}  // namespace systole
