// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/choose.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "models/devices/simt/kernels/time_cta.h"
#include "sim/base/error.h"

namespace systole::simt {
namespace {

/// What a CTA writes: sums of parts of K are fp32.
GemmFormats formats_of(const GemmShape& shape, std::int64_t split_k) {
    return {shape.dtype, split_k > 1 ? DType::Fp32 : shape.output};
}

}  // namespace

// The largest tile of which there is one for every SM, otherwise the smallest.
GemmKernel choose_gemm(const GemmShape& shape, const SimtSpec& spec) {
    const std::int64_t k = 512 / bits_of(shape.dtype).value();
    const std::array<CtaTile, 4> tiles{CtaTile{128, 256, k, 3, 2, 4}, CtaTile{128, 128, k, 4, 2, 2},
                                       CtaTile{128, 64, k, 4, 2, 2}, CtaTile{64, 64, k, 4, 2, 2}};
    GemmKernel kernel;
    kernel.shape = shape;
    for (const CtaTile& tile : tiles) {
        const bool hopper = spec.sm.tensor.issue == TensorIssue::WarpGroup;
        CtaTile own = tile;
        if (hopper) own.groups_m = own.m / 64 > 1 ? 2 : 1;
        if (hopper) own.groups_n = 1;
        if (!time_cta(own, formats_of(shape, 1), spec.sm)) continue;
        kernel.tile = own;
        if (kernel.ctas() >= spec.sm.count) break;
    }
    return kernel;
}

CtaTiming time_cta(const GemmKernel& kernel, const SimtSpec& spec) {
    const std::optional<CtaTiming> timing =
        time_cta(kernel.tile, formats_of(kernel.shape, kernel.split_k), spec.sm);
    if (!timing)
        throw UserError(fmt::format("a CTA of {} does not fit an SM of {}", to_string(kernel), spec.name));
    return *timing;
}

}  // namespace systole::simt
