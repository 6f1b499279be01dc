// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/stream_blocks.h"

#include <algorithm>

#include "models/devices/simt/machine/attention_blocks.h"
#include "models/devices/simt/machine/gemm_blocks.h"
#include "models/devices/simt/machine/vector_blocks.h"
#include "models/devices/simt/machine/window_blocks.h"

namespace systole::simt {

void StreamBlocks::add_shares(const MatrixPlace& matrix, CtaRange range, TileAccess& access) const {
    const Bytes all = matrix.bytes;
    const auto begin_of = [&](std::int64_t cta) {
        return static_cast<std::int64_t>(Int128{all.value()} * cta / plan_.ctas);
    };
    std::int64_t most = 0;
    for (std::int64_t cta = range.first; cta < range.first + range.count; ++cta) {
        const std::int64_t begin = begin_of(cta), bytes = begin_of(cta + 1) - begin;
        if (bytes > 0)
            access.blocks.push_back({matrix.address + begin, bytes, 1, matrix.operand, matrix.range()});
        most = std::max(most, bytes);
    }
    access.bytes_of_sm += most;
}

// Values of the bias that a CTA meets lie behind each other, or go round.
void StreamBlocks::add_bias(CtaRange range, TileAccess& access) const {
    const MatrixPlace& bias = plan_.bias;
    const std::int64_t values = bias.bytes.value() / kBiasBytes;
    const auto add = [&](std::int64_t first, std::int64_t end) {
        if (end > first)
            access.blocks.push_back({bias.address + first * kBiasBytes, (end - first) * kBiasBytes, 1,
                                     bias.operand, bias.range()});
    };
    const auto begin_of = [&](std::int64_t cta) {
        return static_cast<std::int64_t>(Int128{plan_.elements} * cta / plan_.ctas);
    };
    std::int64_t most = 0;
    for (std::int64_t cta = range.first; cta < range.first + range.count; ++cta) {
        const std::int64_t begin = begin_of(cta), end = begin_of(cta + 1);
        if (end == begin) continue;
        const std::int64_t first = begin / plan_.bias_run, met = (end - 1) / plan_.bias_run + 1 - first;
        const std::int64_t count = std::min(met, values), from = met < values ? first % values : 0;
        add(from, std::min(from + count, values));
        add(0, from + count - values);
        most = std::max(most, count * kBiasBytes);
    }
    access.bytes_of_sm += most;
}

TileAccess StreamBlocks::reads(CtaRange range, std::int64_t) const {
    TileAccess access;
    access.sms = range.count;
    add_shares(plan_.from, range, access);
    if (plan_.other.bytes > Bytes(0)) add_shares(plan_.other, range, access);
    if (plan_.bias.bytes > Bytes(0)) add_bias(range, access);
    return access;
}

TileAccess StreamBlocks::writes(CtaRange range) const {
    TileAccess access;
    access.sms = range.count;
    add_shares(plan_.to, range, access);
    return access;
}

std::unique_ptr<CtaWork> work_of(const KernelPlan& plan) {
    if (const auto* gemm = std::get_if<GemmPlan>(&plan)) return std::make_unique<GemmBlocks>(*gemm);
    if (const auto* vector = std::get_if<VectorPlan>(&plan)) {
        if (vector->kernel.windows) return std::make_unique<WindowBlocks>(*vector);
        return std::make_unique<VectorBlocks>(*vector);
    }
    if (const auto* attention = std::get_if<AttentionPlan>(&plan))
        return std::make_unique<AttentionBlocks>(*attention);
    return std::make_unique<StreamBlocks>(std::get<StreamPlan>(plan));
}

}  // namespace systole::simt
