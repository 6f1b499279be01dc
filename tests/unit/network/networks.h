// SPDX-License-Identifier: Apache-2.0
// From a network to the graph that its trace is, and the layers of that in one line.
#pragma once

#include <string>

#include "sim/workload/importers/network/network.h"
#include "tests/unit/workload/graphs.h"

namespace systole::test {

constexpr DType kF = Network::kFloat;

inline Graph graph_of(Network& network) {
    return graph_of(network.finish("t", {}, "file").trace);
}

/// "transpose matmul add": operators in order, elementwise ones by their kind.
inline std::string layers_of(const Graph& graph) {
    std::string text;
    for (const Layer& layer : graph.layers) {
        const auto* two = std::get_if<Elementwise>(&layer.op);
        text += (text.empty() ? "" : " ");
        text +=
            two ? elementwise_kinds()[static_cast<std::size_t>(two->kind)] : std::string(op_name(layer.op));
    }
    return text;
}

inline Shape out_shape(const Graph& graph) {
    return graph.tensors[graph.outputs.at(0)].shape;
}

}  // namespace systole::test
