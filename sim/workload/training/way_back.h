// SPDX-License-Identifier: Apache-2.0
// The way back: gradients of tensors, summed where several layers read them, and of stored numbers, summed
// over the chips that have the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/workload/training/appended_graph.h"
#include "sim/workload/training/computed_again.h"
#include "sim/workload/training/gradient_path.h"
#include "sim/workload/training/relatives.h"

namespace systole {

class WayBack {
public:
    /// `again`: the blocks whose turns are computed again.
    WayBack(AppendedGraph& graph, const GradientPath& path, const Training& how,
            const std::vector<RepeatedBlock>& again);

    /// Begins with the loss: the shares of the network's only output, which stand for their gradient.
    void begin();
    /// The gradients of what a layer of the network reads and stores, if it has some. Call it for all of
    /// them, last first.
    void pass(std::size_t layer);
    /// Of a stored tensor, summed; nothing for one that is not trained.
    std::optional<TensorId> of_stored(TensorId tensor) const { return gradients_[tensor]; }

    // For the rules (gradient_rules.h), about a layer of the network.
    const AppendedGraph& graph() const { return graph_; }
    bool wants(TensorId tensor) const { return path_.wants(tensor); }
    const Relatives& relatives() const { return relatives_; }
    /// What has come back to what a layer made.
    std::optional<TensorId> of_output(TensorId tensor) const { return gradients_[tensor]; }
    DType dtype_of_stored() const { return how_.gradients; }
    /// The layer "NAME.`part`"; makes `output` of `dtype`. Of what the turn made it reads what is computed
    /// again.
    TensorId add(const Layer& of, const std::string& part, Operator op, std::vector<TensorId> inputs,
                 Shape output, DType dtype, std::optional<TensorId> weights = {});
    /// What comes back to a tensor from one of its readers.
    void give(const Layer& from, TensorId tensor, TensorId gradient);
    /// The layer "NAME.`part`", which makes the gradient of a stored tensor.
    void add_stored(const Layer& of, const std::string& part, TensorId stored, Operator op,
                    std::vector<TensorId> inputs);

private:
    TensorId node(TensorId tensor) const;
    void find_first_readers();
    void leave_replicas(std::size_t layer);

    AppendedGraph& graph_;
    const GradientPath& path_;
    const Training& how_;
    ComputedAgain again_;
    Relatives relatives_;
    std::vector<std::optional<TensorId>> gradients_;    // by tensor of the network
    std::vector<std::vector<TensorId>> replicas_left_;  // by layer: those that no layer before it reads
};

}  // namespace systole
