// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/layer_dtypes.h"

#include <fmt/format.h>

namespace systole {
namespace {

bool stores_weights(std::string_view op) {
    return op == "conv2d" || op == "conv3d" || op == "conv_transpose" || op == "matmul" || op == "norm" ||
           op == "embedding" || op == "rotary";
}

/// Operators that write what they read, bit by bit.
bool moves_only(std::string_view op) {
    return op == "reshape" || op == "concat" || op == "gather" || op == "slice" || op == "kv_cache" ||
           op == "collective";
}

LayerDtypes embedding_dtypes(Keys& keys, std::optional<DType> dtype, std::optional<DType> weights,
                             std::optional<DType> output) {
    if (!keys.has("dtype") && !keys.has("weight_dtype"))
        keys.fail("'dtype' is missing: expected the dtype of the table, because the input holds indices");
    const DType table = weights ? *weights : dtype.value_or(DType::Bf16);
    return {table, output ? *output : dtype.value_or(table)};
}

}  // namespace

LayerDtypes read_dtypes(Keys& keys, std::string_view op, const Tensor* input) {
    const std::optional<DType> dtype = keys.dtype("dtype");
    std::optional<DType> weights, output;
    if (stores_weights(op)) weights = keys.dtype("weight_dtype");
    if (!moves_only(op)) output = keys.dtype("out_dtype");
    if (op == "embedding") return embedding_dtypes(keys, dtype, weights, output);
    if (!input) return {};
    if (dtype && *dtype != input->dtype)
        keys.fail(fmt::format(
                      "'dtype' is {}, but its input '{}' is {}; give 'out_dtype' to the layer that makes it",
                      to_string(*dtype), input->name, to_string(input->dtype)),
                  "dtype");
    // Products of numbers with scales of blocks have none themselves.
    const bool scaled = op == "matmul" && input->format.scales == Scales::Block;
    return {weights.value_or(input->dtype), output.value_or(scaled ? DType::Bf16 : input->dtype)};
}

}  // namespace systole
