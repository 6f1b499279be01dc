// SPDX-License-Identifier: Apache-2.0
// Which layers have gradients: those between trained weights and the loss.
#pragma once

#include <string>
#include <vector>

#include "sim/workload/graph.h"

namespace systole {

class GradientPath {
public:
    explicit GradientPath(const Graph& graph);

    /// Whether gradients of what the layer makes come back to it.
    bool has(const Layer& layer) const { return trained_[layer.output] && matters_[layer.output]; }
    /// Whether what made this tensor, or a tensor it is a view of, wants the gradient.
    bool wants(TensorId tensor) const { return trained_[root(tensor)]; }
    TensorId root(TensorId tensor) const { return roots_[tensor]; }

private:
    std::vector<TensorId> roots_;  // by tensor: itself, or what it is a view of
    std::vector<bool> trained_;    // by tensor: made of trained weights
    std::vector<bool> matters_;    // by tensor: the loss is made of it
};

/// Whether the layer's stored numbers are learnt.
bool has_trained_weights(const Layer& layer);
/// The function that the operator applies last, where it may have one.
Function post_of(const Operator& op);
/// Whether what a function makes tells its slope there.
bool slope_from_output(Function function);
/// Why the layer, which is on the path, has no gradient here, or "".
std::string why_no_gradient(const Graph& graph, const Layer& layer, const GradientPath& path);

}  // namespace systole
