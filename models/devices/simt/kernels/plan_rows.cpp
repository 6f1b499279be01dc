// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/plan_rows.h"

#include <algorithm>

#include "models/devices/simt/kernels/qkv_kernel.h"
#include "models/devices/simt/kernels/top_k.h"
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

}  // namespace systole::simt
