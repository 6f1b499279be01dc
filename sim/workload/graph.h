// SPDX-License-Identifier: Apache-2.0
// A workload: layers in execution order, each an operator with the tensors at its edges. Built by the trace
// readers, which check every shape and edge; whoever holds a Graph may rely on them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/batch_of.h"
#include "sim/base/error.h"
#include "sim/base/serving.h"
#include "sim/base/trace_parameter.h"
#include "sim/workload/dtype.h"
#include "sim/workload/operators.h"

namespace systole {

using Shape = std::vector<std::int64_t>;

using TensorId = std::size_t;

/// OptimizerState stays in memory as weights do, and is read and written by steps of training.
enum class TensorRole { Input, Weights, Activation, KvCache, OptimizerState };

/// Of a layer or tensor that is one of `count` equal parts of the batch of another (sliced_graph.h).
struct BatchSlice {
    std::string whole;  ///< name of the other
    std::int64_t index = 0, count = 1;
    friend bool operator==(const BatchSlice&, const BatchSlice&) = default;
};

/// A tensor under a name of its own, of which each of several chips reads a replica: gradients that come back
/// to it are summed over the chips before they go on to `of` (Shoeybi et al., 2019, section 3: f).
struct Replica {
    TensorId view = 0;  ///< the one whose readers' gradients are summed; itself, or what it is a view of
    TensorId of = 0;    ///< a tensor that is no view, or another replica
    std::int64_t chips = 2;
    friend bool operator==(const Replica&, const Replica&) = default;
};

struct Tensor {
    std::string name;  ///< "conv1.weights"; an activation has its layer's name
    Shape shape;
    DType dtype = DType::Bf16;
    TensorRole role = TensorRole::Activation;
    /// A reshape of that tensor, or of a part: the same bytes at the same address. Never names another view.
    std::optional<TensorId> view_of = std::nullopt;
    /// Of weights of a conv2d or matmul; of activations, Scales::Block or none.
    WeightFormat format = {};
    Bytes view_offset = {};  ///< of a view: where in that tensor it begins
    std::optional<BatchSlice> slice = {};
    std::optional<Replica> replica = {};  ///< of a view; only training asks
};

/// Elementwise work on the output of a matmul or conv2d before it is written (fused_graph.h), with the last
/// of the layer's inputs, which has its shape and dtype.
struct Joined {
    std::string name;  ///< of the layer that it was
    Elementwise::Kind kind = Elementwise::Kind::Add;
    Function post = Function::None;
};

struct Layer {
    std::string name;  ///< unique in the graph; blocks' names joined by '.'
    Operator op;
    std::vector<TensorId> inputs;  ///< activations (or KV cache), in the operator's order, and of `joined`
    /// Stored weights: conv2d [k,r,s,c/groups], conv3d [k,t,r,s,c/groups], conv_transpose [k,r,s,c], matmul
    /// [k,n] ([n,k] if transposed_b; [experts,k,n]), norm [cols], embedding [vocabulary,width], rotary
    /// [seq,dim], elementwise [elements/times]. Layers of gradients read those of the layer before which they
    /// stand in the way back (matmul with transposed_b: its [k,n]), and an optimizer writes those it names.
    std::optional<TensorId> weights;
    std::optional<TensorId>
        bias;  ///< conv2d [k], matmul [n] or [experts,n] (int32 or fp32), layer norm [cols]
    TensorId output = 0;
    SourceMark where;  ///< in the trace file, for errors of later stages
    /// Stored scales of weights: conv2d [k], matmul [n] or [experts,n]; of quantize and dequantize: [cols],
    /// or one row for each group. Those of a group of a conv2d's or matmul's rows lie among the weights.
    std::optional<TensorId> scales = std::nullopt;
    std::optional<Joined> joined = {};
    std::optional<BatchSlice> slice = {};
};

/// Layers that stand several times one behind the other: `turns` times so many layers, with so many tensors.
struct RepeatedBlock {
    std::string name;
    std::size_t first_layer = 0, layers = 0;
    TensorId first_tensor = 0;
    std::size_t tensors = 0, turns = 0;
};

/// How a network is trained.
struct Training {
    Optimizer::Kind optimizer = Optimizer::Kind::Adam;
    DType gradients = DType::Bf16;   ///< of weights
    std::int64_t data_parallel = 1;  ///< chips with the same weights that sum their gradients
    /// Of a repeated block only what enters each turn is kept for the way back; the rest is computed again.
    bool recompute_blocks = false;
    SourceMark where = {};  ///< in the trace file
};

struct Graph {
    std::string name;
    std::vector<Tensor> tensors;
    std::vector<Layer> layers;      ///< each after the producers of its inputs
    std::vector<TensorId> inputs;   ///< fed from outside
    std::vector<TensorId> outputs;  ///< read by the outside
    std::vector<RepeatedBlock> blocks =
        {};  ///< not those inside others, nor those whose turns differ in size
    std::optional<ServingStep> serving = {};      ///< which step of a language model it is, if it says so
    std::optional<BatchOf> batch_of = {};         ///< what it is a batch of, if it says so
    std::vector<TraceParameter> parameters = {};  ///< all that the trace has, in its order
    std::optional<Training> training = {};        ///< it is a step of training, or (training/) becomes one
};

/// The layer's name, or that of the layer of which it is a part.
const std::string& whole_name(const Layer& layer);
/// The same of a tensor.
const std::string& whole_name(const Tensor& tensor);
/// The operator's, with what joined it: "conv2d + add".
std::string op_name(const Layer& layer);
/// "[1, 56, 56, 64]".
std::string to_string(const Shape& shape);
/// Elements of a shape; the graph's readers guarantee that it does not overflow.
std::int64_t elements(const Shape& shape);
/// Stored bytes, each innermost row padded to whole bytes.
Bytes stored_bytes(const Tensor& tensor);
Macs total_macs(const Graph& graph);

}  // namespace systole
