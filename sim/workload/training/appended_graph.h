// SPDX-License-Identifier: Apache-2.0
// A graph to which layers are appended: with names that are free, tensors that can be stored, and operators
// that can be computed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/workload/graph.h"
#include "sim/workload/training/names.h"

namespace systole {

/// What a new layer is, but for its tensors.
struct NewLayer {
    std::string name;
    Operator op;
    std::vector<TensorId> inputs;
    Shape output;
    DType dtype = DType::Bf16;
    SourceMark where = {};
    std::optional<TensorId> weights = {};
    TensorRole role = TensorRole::Activation;
    std::optional<TensorId> bias = {};
};

class AppendedGraph {
public:
    AppendedGraph(Graph graph, Names names) : graph_(std::move(graph)), names_(std::move(names)) {}

    /// Answers its output. Throws UserError for what cannot be.
    TensorId add(NewLayer layer);
    /// The tensor itself, if it has that shape.
    TensorId viewed_as(TensorId tensor, const Shape& shape, const std::string& name);

    const Graph& graph() const { return graph_; }
    const Tensor& tensor(TensorId id) const { return graph_.tensors[id]; }
    const Shape& shape(TensorId id) const { return graph_.tensors[id].shape; }
    std::size_t layers() const { return graph_.layers.size(); }
    std::size_t tensors() const { return graph_.tensors.size(); }
    void add_block(RepeatedBlock block) { graph_.blocks.push_back(std::move(block)); }
    Graph take() { return std::move(graph_); }

private:
    Graph graph_;
    Names names_;
};

}  // namespace systole
