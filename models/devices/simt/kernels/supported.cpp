// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/supported.h"

#include <fmt/format.h>

#include "models/devices/simt/kernels/vector_plan.h"
#include "sim/base/error.h"

namespace systole::simt {

void refuse(const Layer& layer, const std::string& what) {
    throw UserError(layer.where,
                    fmt::format("'{}': {}; devices of kind simt run matrix products (matmul) of one format, "
                                "without transpose_a, with weights neither scaled nor sparse, elementwise "
                                "layers, activations, quantize and dequantize, softmax, norms and attention",
                                layer.name, what));
}

const Attention* attention_of(const Layer& layer) {
    const auto* attention = std::get_if<Attention>(&layer.op);
    if (attention == nullptr) return nullptr;
    if (attention->part == Attention::Part::Keys) refuse(layer, "the gradient of attention is not run yet");
    if (attention->part != Attention::Part::Whole && attention->causal)
        refuse(layer, "causal attention with its scores as a tensor (fused: false) is not run yet");
    return attention;
}

const MatMul* product_of(const Layer& layer) {
    if (attention_of(layer) != nullptr) return nullptr;
    const auto* matmul = std::get_if<MatMul>(&layer.op);
    if (matmul == nullptr) {
        if (const auto what = what_no_vector_kernel_does(layer)) refuse(layer, *what + " is not run yet");
        return nullptr;
    }
    if (matmul->transposed_a) refuse(layer, "matmul with transpose_a is not run yet");
    if (matmul->experts > 0) refuse(layer, "matmul with experts is not run yet");
    if (matmul->format.sparse()) refuse(layer, "matmul with sparse weights is not run yet");
    if (layer.scales || matmul->format != WeightFormat{})
        refuse(layer, "matmul with scaled weights is not run yet");
    return matmul;
}

}  // namespace systole::simt
