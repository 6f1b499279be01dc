// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/plan_rows.h"

#include <algorithm>

#include "models/devices/simt/kernels/qkv_kernel.h"
#include "models/devices/simt/kernels/top_k.h"
#include "models/devices/simt/kernels/unfused_attention.h"
#include "sim/device/fusion_joins.h"
#include "sim/workload/elementwise_chains.h"

namespace systole::simt {

std::vector<std::size_t> layers_of_rows(const Graph& fused, const KernelsSpec& kernels) {
    const std::vector<ElementwiseChain> chains = elementwise_chains(fused);
    auto chain = chains.begin();
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < fused.layers.size(); i += rows.back()) {
        if (chain != chains.end() && chain->first == i)
            rows.push_back((chain++)->layers);
        else if (top_k_of_both(fused, i))
            rows.push_back(2);
        else
            rows.push_back(std::max<std::size_t>(1, prepares_attention(fused, i, kernels)));
    }
    return rows;
}

Joins joins_of(const Graph& graph, const Graph& fused, const KernelsSpec& kernels) {
    Joins joins = fusion_joins(graph);
    for (const Layer& layer : graph.layers)
        for (const std::string& part : parts_of_attention(layer)) joins.push_back({part, layer.name});
    std::size_t first = 0;
    for (const std::size_t count : layers_of_rows(fused, kernels)) {
        for (std::size_t i = 1; i < count; ++i)
            joins.push_back({fused.layers[first + i].name, fused.layers[first].name});
        first += count;
    }
    return joins;
}

}  // namespace systole::simt
