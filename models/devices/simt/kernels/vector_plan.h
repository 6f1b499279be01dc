// SPDX-License-Identifier: Apache-2.0
// From layers to kernels that no tensor core works in.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/devices/simt/kernels/kept_timings.h"
#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/kernels/moves.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/workload/allocation.h"
#include "sim/workload/graph.h"

namespace systole::simt {

/// Whether such a kernel can do the layer, and if not, what about it is not run yet: "softmax's gradient".
/// Nothing: it can.
std::optional<std::string> what_no_vector_kernel_does(const Layer& layer);

/// Whose slots a layer's time is counted in where no tensor core works: those that these have for its format,
/// or, where they take none such, for the first that they do; of FP32 pipelines where there are no tensor
/// cores.
DType slots_of(DType dtype, const SmSpec& sm);

/// Layers that are alike are timed once.
class VectorPlanner {
public:
    /// All must outlive it.
    VectorPlanner(const Graph& graph, const SimtSpec& spec, const std::vector<Placement>& placements,
                  KeptTimings& kept)
        : graph_(graph), spec_(spec), placements_(placements), kept_(kept) {}

    /// Of a layer that such a kernel does, or of a chain (sim/workload/elementwise_chains.h), which one does.
    /// Throws UserError at the first one's mark if no kernel for it fits an SM.
    /// Values and indices of one top-k are one kernel's, too. What kernels leave for each other lies in
    /// `room`.
    using Room = std::function<MatrixPlace(Bytes bytes, const std::string& what)>;
    LayerPlan layer_plan(std::span<const Layer> layers, const Room& room);

private:
    VectorPlan plan(std::span<const Layer> layers);
    VectorPlan qkv_plan(std::span<const Layer> layers);
    VectorPlan rotary_plan(std::span<const Layer> layers);
    /// All of a tensor.
    VectorOperand operand(TensorId id, Operand kind) const;
    /// Without operands.
    VectorPlan timed(const Layer& layer, const VectorKernel& kernel);
    void add_top_k(std::span<const Layer> layers, const Room& room, VectorPlan& plan) const;
    VectorPlan sort_plan(const Layer& layer, const VectorPlan& found);
    MatrixPlace place(TensorId id, Operand operand) const {
        return {placements_[id].address, operand, placements_[id].bytes, Bytes(0)};
    }
    bool is_gate(std::span<const Layer> layers, int operands, std::int64_t results) const;
    VectorKernel kernel_of(std::span<const Layer> layers) const;
    /// Of one layer, but for what the one before has made.
    void add_operands(const Layer& layer, std::optional<TensorId> made, VectorPlan& plan) const;
    void add_operands(const Layer& layer, const Move& move, VectorPlan& plan) const;

    const Graph& graph_;
    const SimtSpec& spec_;
    const std::vector<Placement>& placements_;
    KeptTimings& kept_;
};

}  // namespace systole::simt
