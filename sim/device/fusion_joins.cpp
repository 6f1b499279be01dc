// SPDX-License-Identifier: Apache-2.0
#include "sim/device/fusion_joins.h"

#include "sim/workload/fused_graph.h"

namespace systole {

Joins fusion_joins(const Graph& graph) {
    Joins joins;
    for (const Fusion& fusion : possible_fusions(graph))
        joins.push_back({graph.layers[fusion.elementwise].name, graph.layers[fusion.producer].name});
    return joins;
}

}  // namespace systole
