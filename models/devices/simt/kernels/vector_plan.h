// SPDX-License-Identifier: Apache-2.0
// From layers to kernels that no tensor core works in.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/workload/allocation.h"
#include "sim/workload/graph.h"

namespace systole::simt {

/// Whether such a kernel can do the layer, and if not, what about it is not run yet: "softmax's gradient".
/// Nothing: it can.
std::optional<std::string> what_no_vector_kernel_does(const Layer& layer);

/// Keeps how kernels go: layers that are alike are timed once. Not for several threads.
class VectorPlanner {
public:
    /// All must outlive it.
    VectorPlanner(const Graph& graph, const SimtSpec& spec, const std::vector<Placement>& placements)
        : graph_(graph), spec_(spec), placements_(placements) {}

    /// Of a layer that such a kernel does. Throws UserError at its mark if no kernel for it fits an SM.
    VectorPlan plan(const Layer& layer);

private:
    MatrixPlace place(TensorId id, Operand operand) const {
        return {placements_[id].address, operand, placements_[id].bytes, Bytes(0)};
    }
    VectorKernel kernel_of(const Layer& layer) const;
    void add_operands(const Layer& layer, VectorPlan& plan) const;

    struct Timed {
        VectorKernel kernel;
        std::optional<CtaTiming> timing;
    };
    const Graph& graph_;
    const SimtSpec& spec_;
    const std::vector<Placement>& placements_;
    std::map<VectorKernel, Timed> known_;
};

/// "elementwise, 128 threads x 4, 2048 CTAs, 108 of 108 SMs, 1.2 waves".
std::string mapping_of(const VectorPlan& plan, const SimtSpec& spec);

}  // namespace systole::simt
