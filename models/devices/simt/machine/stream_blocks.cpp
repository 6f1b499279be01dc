// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/stream_blocks.h"

#include <algorithm>

#include "models/devices/simt/machine/gemm_blocks.h"

namespace systole::simt {

TileAccess StreamBlocks::shares(const MatrixPlace& matrix, CtaRange range) const {
    const Bytes all = matrix.bytes;
    const auto begin_of = [&](std::int64_t cta) {
        return static_cast<std::int64_t>(Int128{all.value()} * cta / plan_.ctas);
    };
    TileAccess access;
    access.sms = range.count;
    for (std::int64_t cta = range.first; cta < range.first + range.count; ++cta) {
        const std::int64_t begin = begin_of(cta), bytes = begin_of(cta + 1) - begin;
        if (bytes > 0)
            access.blocks.push_back({matrix.address + begin, bytes, 1, matrix.operand, matrix.range()});
        access.bytes_of_sm = std::max(access.bytes_of_sm, bytes);
    }
    return access;
}

std::unique_ptr<CtaWork> work_of(const KernelPlan& plan) {
    if (const auto* gemm = std::get_if<GemmPlan>(&plan)) return std::make_unique<GemmBlocks>(*gemm);
    return std::make_unique<StreamBlocks>(std::get<StreamPlan>(plan));
}

}  // namespace systole::simt
