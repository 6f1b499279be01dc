// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/supported.h"

#include <fmt/format.h>

#include "models/devices/simt/kernels/vector_plan.h"
#include "sim/base/error.h"
#include "sim/workload/operator_shapes.h"

namespace systole::simt {

void refuse(const Layer& layer, const std::string& why) {
    throw UserError(layer.where, fmt::format("'{}': {}", layer.name, why));
}

void refuse_kind(const Layer& layer, const std::string& what, const std::string& instead) {
    refuse(layer, fmt::format("{} is not run yet by devices of kind simt{}{}", what,
                              instead.empty() ? "" : "; ", instead));
}

const Attention* attention_of(const Layer& layer) {
    const auto* attention = std::get_if<Attention>(&layer.op);
    if (attention == nullptr) return nullptr;
    if (attention->part == Attention::Part::Keys) refuse_kind(layer, "the gradient of attention");
    return attention;
}

bool on_tensor_cores(const Layer& layer) {
    if (attention_of(layer) != nullptr) return true;
    if (std::holds_alternative<Collective>(layer.op)) return false;
    const auto* matmul = std::get_if<MatMul>(&layer.op);
    const auto* conv = std::get_if<Conv2d>(&layer.op);
    if (matmul == nullptr && (conv == nullptr || conv->depthwise())) {
        if (const auto what = what_no_vector_kernel_does(layer)) refuse_kind(layer, *what);
        return false;
    }
    const std::string name = op_name(layer);
    if (conv != nullptr && conv->depth) refuse_kind(layer, name);
    if (matmul != nullptr && matmul->transposed_a) refuse_kind(layer, "matmul with transpose_a");
    const WeightFormat format = format_of(layer.op);
    if (format.sparse()) refuse_kind(layer, name + " with sparse weights");
    if (format.scales == Scales::Group)
        refuse_kind(layer, name + " whose weights have scales of groups",
                    "'fused: false' runs it as two layers");
    return true;
}

}  // namespace systole::simt
