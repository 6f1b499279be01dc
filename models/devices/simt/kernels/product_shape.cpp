// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/product_shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "models/devices/simt/kernels/supported.h"
#include "sim/base/error.h"
#include "sim/workload/layer_dtypes.h"
#include "sim/workload/operator_shapes.h"

namespace systole::simt {
namespace {

// One B for the whole batch makes rows of all its items one matrix. Experts that are met are a batch with
// weights of their own each: one grid for all of them, as grouped GEMM has it.
void take(const MatMul& matmul, GemmShape& shape) {
    const bool one = matmul.shared_weights && matmul.experts == 0;
    shape.batch = one ? 1 : matmul.batch;
    shape.m = one ? matmul.batch * matmul.m : matmul.m;
    shape.n = matmul.n;
    shape.k = matmul.k;
    shape.shared_b = one;
    shape.epilogue.post = matmul.post;
}

// cuDNN's kernels on FP32 pipes take maps as NCHW, element by element; a step of eight takes taps of up to
// four channels together (there K goes on from tap to tap whatever the channels: so nearly no step lacks
// any). Those of Volta's tensor cores take a tap a step, whatever it has of channels: DeepBench's first
// layers take as long (tests/golden/gpu_deepbench).
GatherLoads gather_loads(DType dtype, const SmSpec& sm) {
    const TensorIssue issue = sm.issue_of(dtype);
    if (issue == TensorIssue::Lanes) return {1, 4};
    GatherLoads loads = loads_of(bits_of(dtype).value());
    if (issue == TensorIssue::QuadPair) loads.most_packed = 0;
    return loads;
}

// A product for each group, with weights of its own.
void take(const Conv2d& conv, const SmSpec& sm, GemmShape& shape) {
    shape.batch = conv.groups;
    shape.m = conv.pixels();
    shape.n = conv.out_c / conv.groups;
    shape.k = conv.taps() * (conv.in_c / conv.groups);
    shape.shared_b = conv.groups == 1;
    shape.gather = gather_of(conv, gather_loads(shape.dtype, sm));
    shape.convolution = true;
    shape.epilogue.post = conv.post;
}

// A product for each head of keys and values of a batch item: scores, or what shares of values sum up to.
void take(const Attention& attention, GemmShape& shape) {
    const bool scores = attention.part == Attention::Part::Scores;
    shape.batch = attention.items();
    shape.m = attention.q_len * attention.group();
    shape.n = scores ? attention.kv_len : attention.row_dim();
    shape.k = scores ? attention.row_dim() : attention.kv_len;
    shape.shared_b = false;
}

/// Scales of 8 bits, one for 32 numbers of 8 or 4 bits, or for 16 of 4 (PTX ISA, tcgen05.mma:
/// .kind::mxf8f6f4, .kind::mxf4 and .kind::mxf4nvf4).
void expect_blocks(const Layer& layer, DType dtype, const SimtSpec& spec) {
    const WeightFormat format = format_of(layer.op);
    if (format.scales != Scales::Block) return;
    if (!spec.sm.tensor.block_scales)
        refuse(layer,
               fmt::format("scales of blocks, which the tensor cores of {} do not multiply with", spec.name));
    const bool narrow = dtype == DType::Fp4 && format.group == 16;
    const bool wide = (dtype == DType::Fp4 || dtype == DType::Fp8) && format.group == 32;
    if ((narrow || wide) && bits_of(format.scale_dtype).value() == 8) return;
    refuse(layer,
           fmt::format("{} in blocks of {} with scales of {}; tensor cores take fp4 in blocks of 16 or 32 "
                       "and fp8 in blocks of 32, with scales of fp8",
                       to_string(dtype), format.group, to_string(format.scale_dtype)));
}

[[noreturn]] void refuse_mixed(const Layer& layer, DType dtype, DType other) {
    const bool attention = std::holds_alternative<Attention>(layer.op);
    const char* const first = attention ? "queries" : "inputs";
    const char* const second = attention ? "keys and values" : layer.weights ? "weights" : "a second operand";
    refuse_kind(layer,
                fmt::format("{} with {} of {} and {} of {}", op_name(layer), first, to_string(dtype), second,
                            to_string(other)),
                "expected one format of both");
}

}  // namespace

TensorId second_operand(const Layer& layer) {
    return layer.weights ? *layer.weights : layer.inputs.at(1);
}

DType product_dtype(const Graph& graph, const Layer& layer, const SimtSpec& spec) {
    const DType dtype = graph.tensors[layer.inputs.at(0)].dtype;
    if (const auto other = other_than(dtype, graph.tensors[second_operand(layer)].dtype))
        refuse_mixed(layer, dtype, *other);
    if (spec.macs_per_cycle(dtype) > 0) {
        expect_blocks(layer, dtype, spec);
        return dtype;
    }
    std::vector<std::string> cores, lanes;
    for (std::size_t i = 0; i < kDTypes; ++i) {
        if (spec.sm.macs(static_cast<DType>(i)) == 0) continue;
        (spec.sm.tensor.macs[i] ? cores : lanes).push_back(dtype_names()[i]);
    }
    const std::string have =
        cores.empty() ? "there are none" : fmt::format("the tensor cores have: {}", fmt::join(cores, ", "));
    // Traces of networks have a parameter for it.
    const bool as_wide = dtype == DType::Bf16 && spec.macs_per_cycle(DType::Fp16) > 0;
    throw UserError(
        layer.where,
        fmt::format("'{}': no tensor core takes dtype '{}'; {}{}{}", layer.name, to_string(dtype), have,
                    lanes.empty() ? "" : fmt::format("; FP32 pipelines: {}", fmt::join(lanes, ", ")),
                    as_wide ? " ('--set workload.dtype=fp16' asks a shipped trace for fp16)" : ""));
}

GemmShape product_shape(const Graph& graph, const Layer& layer, const SmSpec& sm) {
    GemmShape shape;
    shape.dtype = graph.tensors[layer.inputs.at(0)].dtype;
    shape.output = graph.tensors[layer.output].dtype;
    if (const auto* conv = std::get_if<Conv2d>(&layer.op))
        take(*conv, sm, shape);
    else if (const auto* attention = std::get_if<Attention>(&layer.op))
        take(*attention, shape);
    else
        take(std::get<MatMul>(layer.op), shape);
    if (const WeightFormat format = format_of(layer.op); format.scales == Scales::Block)
        shape.blocks = {format.group, bits_of(format.scale_dtype).value()};
    if (layer.scales)
        shape.epilogue.scale_bits = static_cast<int>(bits_of(graph.tensors[*layer.scales].dtype).value());
    shape.epilogue.bias = layer.bias.has_value();
    if (layer.joined) {
        shape.epilogue.join = layer.joined->kind;
        shape.epilogue.then = layer.joined->post;
    }
    return shape;
}

}  // namespace systole::simt
