// SPDX-License-Identifier: Apache-2.0
// Puts a Graph together tensor by tensor, for all readers: creates weights, biases and outputs of layers,
// refuses what cannot be stored or counted, and finds what nobody reads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/mistakes.h"
#include "sim/workload/graph.h"

namespace systole {

/// A layer before its tensors exist.
struct LayerPlan {
    std::string name;
    Operator op;
    std::vector<TensorId> inputs;  ///< at least one
    Shape output;
    DType weight_dtype = DType::Bf16, out_dtype = DType::Bf16;
    SourceMark where;
};

/// Records a mistake at `where` if the work or the bytes of the whole graph leave 63 bits.
void expect_countable(const Graph& graph, const SourceMark& where, Mistakes& mistakes);

class GraphBuilder {
public:
    GraphBuilder(std::string name, Mistakes& mistakes) : mistakes_(&mistakes) {
        graph_.name = std::move(name);
    }

    void set_serving(ServingStep step) { graph_.serving = step; }
    void set_batch_of(BatchOf batch) { graph_.batch_of = batch; }
    void set_parameters(std::vector<TraceParameter> parameters) { graph_.parameters = std::move(parameters); }
    const std::optional<ServingStep>& serving() const { return graph_.serving; }
    void set_training(Training training) { graph_.training = std::move(training); }
    void rename(std::string name) { graph_.name = std::move(name); }

    // Each answers the new tensor, or nothing after a mistake.
    std::optional<TensorId> add_input(std::string name, Shape shape, DType dtype, const SourceMark& where,
                                      TensorRole role = TensorRole::Input, const WeightFormat& format = {});
    std::optional<TensorId> add_layer(LayerPlan plan);
    /// An attention as three layers: scores, their softmax, and the product with the values. A matmul as two:
    /// its weights become a tensor of the input's dtype, which is the product's second operand.
    std::optional<TensorId> add_unfused(const LayerPlan& plan);
    /// The elements of `base` under another shape.
    std::optional<TensorId> add_view(std::string name, TensorId base, Shape shape, const SourceMark& where);
    /// `base` as each of `chips` chips reads it.
    std::optional<TensorId> add_replica(std::string name, TensorId base, std::int64_t chips,
                                        const SourceMark& where);

    void add_output(TensorId tensor);
    void add_block(RepeatedBlock block) { graph_.blocks.push_back(std::move(block)); }
    std::size_t layers() const { return graph_.layers.size(); }
    std::size_t tensors() const { return graph_.tensors.size(); }
    bool is_input(TensorId tensor) const { return graph_.tensors[tensor].role == TensorRole::Input; }
    const Tensor& tensor(TensorId tensor) const { return graph_.tensors[tensor]; }

    /// The graph; throws the mistakes, among them inputs and layers that nobody reads.
    Graph finish(const SourceMark& where);

private:
    std::optional<TensorId> add_unfused_attention(const LayerPlan& plan);
    std::optional<TensorId> add_unfused_matmul(const LayerPlan& plan);
    std::optional<TensorId> add_tensor(Tensor tensor, const SourceMark& where);
    void report_unread();

    struct Use {
        SourceMark where;   // of the tensor's layer or declaration
        bool read = false;  // by a layer, a view or the outside
    };

    Graph graph_;
    std::vector<Use> uses_;  // one per tensor
    Mistakes* mistakes_;
};

}  // namespace systole
