// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/cta_program.h"

#include <variant>

#include "models/devices/simt/kernels/attention_program.h"
#include "models/devices/simt/kernels/gemm_program.h"
#include "models/devices/simt/kernels/stream_program.h"
#include "models/devices/simt/kernels/vector_program.h"

namespace systole::simt {

CtaProgram cta_program(const KernelPlan& plan, const std::vector<std::array<std::int64_t, 2>>& tiles,
                       const SmSpec& sm) {
    if (const auto* vector = std::get_if<VectorPlan>(&plan)) return vector_program(vector->kernel);
    if (const auto* attention = std::get_if<AttentionPlan>(&plan)) {
        const AttentionKernel& kernel = attention->kernel;
        std::vector<AttentionWork> work;
        for (const auto& [steps, masked] : tiles) work.push_back({steps, masked});
        return storing(attention_program(kernel.tile, {kernel.dtype, kernel.stored()}, work, sm),
                       kernel.stored_share());
    }
    const auto* gemm = std::get_if<GemmPlan>(&plan);
    if (gemm == nullptr) return stream_program(std::get<StreamPlan>(plan));
    const GemmFormats formats = formats_of(gemm->kernel);
    std::vector<std::int64_t> steps;
    for (const auto& tile : tiles) steps.push_back(tile[0]);
    if (steps.size() > 1)
        return storing(persistent_program(gemm->kernel.tile, formats, steps, sm),
                       gemm->kernel.stored_share());
    return storing(gemm_program(gemm->kernel.tile, formats, steps.front(), sm), gemm->kernel.stored_share());
}

}  // namespace systole::simt
