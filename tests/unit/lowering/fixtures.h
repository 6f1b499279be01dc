// SPDX-License-Identifier: Apache-2.0
// Machines and graphs for the tests of lowering, built by hand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/devices/systolic/lowering/lower.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/workload/graph.h"

namespace systole::systolic::test {

/// An array of 4x4 with small buffers: everything is cut, everything is reused.
SystolicSpec small_machine(int mxus = 2);
/// Four arrays of 128x128 beside HBM: the size of a TPU v4 core.
SystolicSpec large_machine();
/// Activations on chip, weights from DRAM straight into the FIFO: the manner of TPU v1.
SystolicSpec resident_machine();
/// Operands straight out of the scratchpad, folds in runs.
SystolicSpec direct_machine(Dataflow dataflow, bool resident);
/// Small machines of every kind: activations in DRAM and on chip, every dataflow, with and without a FIFO.
std::vector<SystolicSpec> machines();

/// Lowers and replays; every broken promise fails the test.
Lowered check(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol = Protocol::of_run());

/// With what words a graph is refused, or "fine".
std::string message_of(const Graph& graph, const SystolicSpec& spec,
                       const Protocol& protocol = Protocol::of_op());

/// Bytes of weights and their scales on their way out of DRAM.
std::int64_t weights_read(const Program& program);

/// Builds a graph layer by layer; every call answers the tensor it makes.
class GraphOf {
public:
    Graph graph;

    TensorId input(Shape shape, DType dtype, TensorRole role = TensorRole::Input);
    TensorId conv(TensorId in, Conv2d op);
    TensorId matmul(TensorId in, std::int64_t m, std::int64_t n, std::int64_t k, bool bias = false);
    TensorId batched(TensorId a, TensorId b, MatMul op);
    /// Any operator without stored operands.
    TensorId vector(std::vector<TensorId> in, Operator op, Shape shape);
    /// With a stored second operand.
    TensorId stored(TensorId in, Elementwise op, Shape shape);
    /// With a stored table of the input's dtype.
    TensorId rotary(TensorId in, Rotary op);
    TensorId embedding(TensorId indices, Embedding op, DType dtype);
    TensorId view(TensorId of, Shape shape);
    Graph finish(TensorId output);

private:
    TensorId tensor(Shape shape, DType dtype, TensorRole role);
    TensorId layer(Operator op, std::vector<TensorId> in, std::optional<Shape> weights, bool bias, Shape out);
    DType dtype(TensorId id) const { return graph.tensors[id].dtype; }
};

}  // namespace systole::systolic::test
