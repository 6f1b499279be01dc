// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/extents.h"

#include <variant>

namespace systole::systolic {

Extents extents_of(const Operator& op) {
    if (const auto* matmul = std::get_if<MatMul>(&op)) {
        const bool folded = matmul->shared_weights && matmul->experts == 0;
        return {folded ? 1 : matmul->batch, folded ? matmul->batch * matmul->m : matmul->m, matmul->k,
                matmul->n};
    }
    const auto* conv = std::get_if<Conv2d>(&op);
    if (conv == nullptr || conv->depthwise()) return {};
    return {conv->groups, conv->pixels(), conv->taps() * conv->in_c / conv->groups,
            conv->out_c / conv->groups};
}

}  // namespace systole::systolic
