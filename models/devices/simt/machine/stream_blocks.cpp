// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/stream_blocks.h"

#include <algorithm>

#include "models/devices/simt/machine/attention_blocks.h"
#include "models/devices/simt/machine/gemm_blocks.h"
#include "models/devices/simt/machine/qkv_blocks.h"
#include "models/devices/simt/machine/row_sum_blocks.h"
#include "models/devices/simt/machine/transpose_blocks.h"
#include "models/devices/simt/machine/vector_blocks.h"
#include "models/devices/simt/machine/window_blocks.h"

namespace systole::simt {

void StreamBlocks::add_shares(const MatrixPlace& matrix, CtaRange range, TileAccess& access) const {
    const Bytes all = matrix.bytes;
    const auto begin_of = [&](std::int64_t cta) {
        return static_cast<std::int64_t>(Int128{all.value()} * cta / plan_.ctas);
    };
    std::int64_t most = 0;
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        const std::int64_t begin = begin_of(cta), bytes = begin_of(cta + 1) - begin;
        if (bytes > 0)
            access.blocks.push_back({matrix.address + begin, bytes, 1, matrix.operand, matrix.range()});
        most = std::max(most, bytes);
    }
    access.bytes_of_sm += most;
}

// Values of columns that a CTA meets of an item lie behind each other, or go round.
std::int64_t StreamBlocks::add_values(const ColumnValues& columns, std::int64_t begin, std::int64_t end,
                                      TileAccess& access) const {
    const MatrixPlace& at = columns.place;
    const std::int64_t each = columns.value_bytes;
    const std::int64_t values = at.bytes.value() / each / plan_.column_items;
    const std::int64_t of_item = plan_.elements / plan_.column_items;
    const auto add = [&](std::int64_t first, std::int64_t until) {
        if (until > first)
            access.blocks.push_back(
                {at.address + first * each, (until - first) * each, 1, at.operand, at.range()});
    };
    std::int64_t bytes = 0;
    while (begin < end) {
        const std::int64_t item = begin / of_item, from_item = item * of_item;
        const std::int64_t until = std::min(end, from_item + of_item);
        const std::int64_t first = (begin - from_item) / plan_.column_run;
        const std::int64_t met = (until - from_item - 1) / plan_.column_run + 1 - first;
        const std::int64_t count = std::min(met, values), from = met < values ? first % values : 0;
        const std::int64_t own = item * values;
        add(own + from, own + std::min(from + count, values));
        add(own, own + from + count - values);
        bytes += count * each;
        begin = until;
    }
    return bytes;
}

void StreamBlocks::add_columns(const ColumnValues& columns, CtaRange range, TileAccess& access) const {
    const auto begin_of = [&](std::int64_t cta) {
        return static_cast<std::int64_t>(Int128{plan_.elements} * cta / plan_.ctas);
    };
    std::int64_t most = 0;
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride)
        most = std::max(most, add_values(columns, begin_of(cta), begin_of(cta + 1), access));
    access.bytes_of_sm += most;
}

TileAccess StreamBlocks::reads(CtaRange range, std::int64_t) const {
    TileAccess access;
    access.sms = range.count;
    add_shares(plan_.from, range, access);
    if (plan_.other.bytes > Bytes(0)) add_shares(plan_.other, range, access);
    for (const ColumnValues& columns : plan_.columns) add_columns(columns, range, access);
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
        if (vector->kernel.kind == VectorKernel::Kind::Turn)
            return std::make_unique<TransposeBlocks>(*vector);
        if (vector->kernel.kind == VectorKernel::Kind::Qkv) return std::make_unique<QkvBlocks>(*vector);
        if (vector->kernel.kind == VectorKernel::Kind::RowSum) return std::make_unique<RowSumBlocks>(*vector);
        return std::make_unique<VectorBlocks>(*vector);
    }
    if (const auto* attention = std::get_if<AttentionPlan>(&plan))
        return std::make_unique<AttentionBlocks>(*attention);
    return std::make_unique<StreamBlocks>(std::get<StreamPlan>(plan));
}

}  // namespace systole::simt
