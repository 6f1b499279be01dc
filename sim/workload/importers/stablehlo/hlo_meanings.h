// SPDX-License-Identifier: Apache-2.0
// What operations mean, each a function of its node. All throw Unsayable for what a trace cannot say.
#pragma once

#include <string_view>

#include "sim/workload/importers/stablehlo/hlo_translator.h"

namespace systole {

/// The trace's function of a unary operation, its kind of a binary one; "" of others.
std::string_view hlo_function(std::string_view name);
std::string_view hlo_kind(std::string_view name);

// hlo_elementwise.cpp
void hlo_unary(HloNode& node);
void hlo_binary(HloNode& node);
void hlo_minus_one(HloNode& node);
void hlo_log_plus_one(HloNode& node);
void hlo_not(HloNode& node);
void hlo_xor(HloNode& node);
void hlo_clamp(HloNode& node);
void hlo_select(HloNode& node);
void hlo_convert(HloNode& node);
void hlo_batch_norm_inference(HloNode& node);
void hlo_batch_norm_training(HloNode& node);

// hlo_products.cpp
void hlo_dot_general(HloNode& node);
void hlo_dot(HloNode& node);
void hlo_convolution(HloNode& node);

// hlo_shapes.cpp
void hlo_constant(HloNode& node);
void hlo_iota(HloNode& node);
void hlo_same(HloNode& node);
void hlo_reshape(HloNode& node);
void hlo_transpose(HloNode& node);
void hlo_broadcast_in_dim(HloNode& node);
void hlo_concatenate(HloNode& node);
void hlo_slice(HloNode& node);
void hlo_dynamic_slice(HloNode& node);
void hlo_pad(HloNode& node);

// hlo_lookups.cpp
void hlo_gather(HloNode& node);
void hlo_top_k(HloNode& node);

// hlo_windows.cpp
void hlo_reduce(HloNode& node);
void hlo_reduce_window(HloNode& node);

// hlo_meanings.cpp
void hlo_custom_call(HloNode& node);

}  // namespace systole
