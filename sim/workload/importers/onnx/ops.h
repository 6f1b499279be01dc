// SPDX-License-Identifier: Apache-2.0
// What operators mean, by family. Each puts the outputs of its node, or throws Unsayable.
#pragma once

#include "sim/workload/importers/onnx/node.h"

namespace systole {

// element_ops.cpp
void map_pairwise(Node& node);  ///< Add, Sub, …, and Sum, Min, Max of any number
void map_test(Node& node);      ///< comparisons and logic
void map_function(Node& node);  ///< functions of one element
void map_power(Node& node);
void map_clip(Node& node);
void map_where(Node& node);
void map_cast(Node& node);
void map_same(Node& node);             ///< Identity, Dropout, …
void map_scaled_function(Node& node);  ///< Selu, Celu, Softsign, Mean, Gelu with a bias

// product_ops.cpp
void map_matmul(Node& node);
void map_gemm(Node& node);
void map_einsum(Node& node);
void map_attention(Node& node);  ///< com.microsoft.Attention

// conv_ops.cpp
void map_conv(Node& node);
void map_conv_transpose(Node& node);
void map_pool(Node& node);
void map_global_pool(Node& node);
void map_resize(Node& node);

// pad_ops.cpp
void map_pad(Node& node);

// norm_ops.cpp
void map_softmax(Node& node);
void map_batch_norm(Node& node);
void map_layer_norm(Node& node);
void map_skip_norm(Node& node);
void map_group_norm(Node& node);  ///< InstanceNormalization, GroupNormalization

// reduce_ops.cpp
void map_reduce(Node& node);
void map_arg(Node& node);
void map_top_k(Node& node);

// shape_ops.cpp
void map_reshape(Node& node);
void map_flatten(Node& node);
void map_squeeze(Node& node);
void map_unsqueeze(Node& node);
void map_transpose(Node& node);
void map_expand(Node& node);
void map_depth(Node& node);  ///< DepthToSpace, SpaceToDepth

// movement_ops.cpp
void map_gather(Node& node);
void map_gather_elements(Node& node);
void map_concat(Node& node);
void map_split(Node& node);
void map_slice(Node& node);
void map_tile(Node& node);

// quantized_ops.cpp
void map_quantize(Node& node);
void map_dequantize(Node& node);
void map_dynamic_quantize(Node& node);
void map_quantized_conv(Node& node);    ///< QLinearConv, ConvInteger
void map_quantized_matmul(Node& node);  ///< QLinearMatMul, MatMulInteger, MatMulNBits

// recurrent_ops.cpp
void map_recurrent(Node& node);  ///< LSTM, GRU, RNN

// control_ops.cpp
void map_if(Node& node);
void map_loop(Node& node);
void map_scan(Node& node);
void map_function_call(Node& node);

/// Axes of a reduction, Squeeze or Unsqueeze: an attribute, or an input since opset 13 (18).
std::vector<std::int64_t> axes_of(Node& node, std::size_t input);
/// Windows and their padding of a convolution or pool over `kernel`.
struct Windows;
Windows windows_of(Node& node, const Shape& kernel, const Shape& spatial);
/// That of a convolution with such weights, which the node may repeat.
Shape kernel_of(Node& node, const Shape& weights);
/// `x` with rows in front and behind along each dimension: copies of some of its own stand for them.
Value materialized(Network& network, const std::string& name, Value x, const Shape& before,
                   const Shape& behind);
/// Adds the padding of a Pad before, and answers what it pads.
Value padded_input(Node& node, std::size_t input, Windows& windows);

}  // namespace systole
