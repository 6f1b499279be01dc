// SPDX-License-Identifier: Apache-2.0
// The readers of operators that have files of their own, for the table in op_reader.cpp.
#pragma once

#include <cstddef>
#include <optional>

#include "sim/workload/op_reader.h"

namespace systole {

// lookup_reader.cpp
std::optional<LayerMeaning> read_embedding(LayerText& text);
std::optional<LayerMeaning> read_gather(LayerText& text);

// movement_reader.cpp
/// The dimension that `axis` names, by default the last one.
std::optional<std::size_t> read_axis(LayerText& text);
std::optional<LayerMeaning> read_concat(LayerText& text);
std::optional<LayerMeaning> read_slice(LayerText& text);

// vector_reader.cpp
std::optional<LayerMeaning> read_resize(LayerText& text);
std::optional<LayerMeaning> read_rotary(LayerText& text);
std::optional<LayerMeaning> read_top_k(LayerText& text);
std::optional<LayerMeaning> read_reduce(LayerText& text);
std::optional<LayerMeaning> read_lstm_cell(LayerText& text);
std::optional<LayerMeaning> read_gru_cell(LayerText& text);

// attention_reader.cpp
std::optional<LayerMeaning> read_attention(LayerText& text);
std::optional<LayerMeaning> read_kv_cache(LayerText& text);

// collective_reader.cpp
std::optional<LayerMeaning> read_collective(LayerText& text);

// elementwise_reader.cpp
std::optional<LayerMeaning> read_elementwise(LayerText& text);

// conv_reader.cpp
/// `stride` and `pad` of windows, for both directions and all sides or each.
struct Steps {
    std::int64_t stride = 1, pad = 0;
    Uneven uneven = {};
};
Steps read_steps(Keys& keys, std::int64_t stride);
std::optional<LayerMeaning> read_conv2d(LayerText& text);
std::optional<LayerMeaning> read_conv3d(LayerText& text);

// conv_transpose_reader.cpp
std::optional<LayerMeaning> read_conv_transpose(LayerText& text);

// scaling_reader.cpp
std::optional<LayerMeaning> read_quantize(LayerText& text);
std::optional<LayerMeaning> read_dequantize(LayerText& text);

}  // namespace systole
