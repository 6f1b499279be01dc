// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/supported.h"

#include <fmt/format.h>

#include "models/devices/simt/kernels/vector_plan.h"
#include "sim/base/error.h"
#include "sim/workload/operator_shapes.h"

namespace systole::simt {

void refuse(const Layer& layer, const std::string& what) {
    throw UserError(
        layer.where,
        fmt::format(
            "'{}': {}; devices of kind simt run matrix products (matmul) and convolutions (conv2d) "
            "of one format, without transpose_a, with weights that are not sparse and whose scales, if any, "
            "are of a tensor, of channels or of blocks, attention, elementwise layers, activations, quantize "
            "and dequantize, softmax, norms and pools, reductions, top-k, lookups, copies, transposes, "
            "rotary "
            "embeddings, cells and collectives",
            layer.name, what));
}

const Attention* attention_of(const Layer& layer) {
    const auto* attention = std::get_if<Attention>(&layer.op);
    if (attention == nullptr) return nullptr;
    if (attention->part == Attention::Part::Keys) refuse(layer, "the gradient of attention is not run yet");
    return attention;
}

bool on_tensor_cores(const Layer& layer) {
    if (attention_of(layer) != nullptr) return true;
    if (std::holds_alternative<Collective>(layer.op)) return false;
    const auto* matmul = std::get_if<MatMul>(&layer.op);
    const auto* conv = std::get_if<Conv2d>(&layer.op);
    if (matmul == nullptr && (conv == nullptr || conv->depthwise())) {
        if (const auto what = what_no_vector_kernel_does(layer)) refuse(layer, *what + " is not run yet");
        return false;
    }
    const std::string name = op_name(layer);
    if (conv != nullptr && conv->depth) refuse(layer, name + " is not run yet");
    if (matmul != nullptr && matmul->transposed_a) refuse(layer, "matmul with transpose_a is not run yet");
    const WeightFormat format = format_of(layer.op);
    if (format.sparse()) refuse(layer, name + " with sparse weights is not run yet");
    if (format.scales == Scales::Group)
        refuse(layer,
               name +
                   " whose weights have scales of groups is not run yet ('fused: false' runs it as two "
                   "layers)");
    return true;
}

}  // namespace systole::simt
