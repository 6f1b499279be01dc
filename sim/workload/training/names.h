// SPDX-License-Identifier: Apache-2.0
// Names of a graph's layers and tensors, each once.
#pragma once

#include <fmt/format.h>

#include <string>
#include <unordered_map>

#include "sim/workload/graph.h"

namespace systole {

class Names {
public:
    explicit Names(const Graph& graph) {
        for (const Tensor& tensor : graph.tensors) taken_.emplace(tensor.name, 1);
        for (const Layer& layer : graph.layers) taken_.emplace(layer.name, 1);
    }

    /// `wanted`, or with "_2", "_3", … behind it, if it is taken; it is from now on.
    std::string take(const std::string& wanted) {
        if (taken_.emplace(wanted, 1).second) return wanted;
        while (true) {
            std::string name = fmt::format("{}_{}", wanted, ++taken_[wanted]);
            if (taken_.emplace(name, 1).second) return name;
        }
    }

private:
    std::unordered_map<std::string, int> taken_;  // and how many were made of each
};

}  // namespace systole
