// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/heads_input.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole::systolic {

/// Blocks of about equal size.
HeadsInput::Cut HeadsInput::cut_of(std::int64_t rows) const {
    const std::int64_t group = layout_.group(), positions = layout_.rows() / group;
    const std::int64_t most = std::min(positions, rows / group);
    if (most > 0) {
        const std::int64_t each = ceil_div(positions, ceil_div(positions, most));
        return {each * group, 1, ceil_div(positions, each)};
    }
    const std::int64_t each = ceil_div(group, ceil_div(group, std::max<std::int64_t>(1, rows)));
    const std::int64_t a_group = ceil_div(group, each);
    return {each, a_group, positions * a_group};
}

void HeadsInput::share(const CoreShare& core) {
    SYSTOLE_CHECK(core.count == 1, "{} cores share the rows of heads", core.count);
}

RowBlocking HeadsInput::blocking(std::int64_t rows, std::int64_t k_tile) const {
    const Cut cut = cut_of(rows);
    RowBlocking b;
    b.rows = cut.rows;
    b.blocks = cut.blocks;
    b.tile_bytes = b.rows * layout_.bytes(layout_.dim());
    b.k_tile_bytes = b.rows * layout_.bytes(std::min(layout_.dim(), k_tile));
    b.load_bytes = layout_.rows() * layout_.bytes(layout_.dim());
    return b;
}

Range HeadsInput::rows(std::int64_t block) const {
    if (cut_.a_group == 1) {
        const std::int64_t begin = block * cut_.rows;
        return {begin, std::min(cut_.rows, layout_.rows() - begin)};
    }
    const std::int64_t first = block % cut_.a_group * cut_.rows;
    return {block / cut_.a_group * layout_.group() + first, std::min(cut_.rows, layout_.group() - first)};
}

Staging HeadsInput::staging(std::int64_t item, std::int64_t block, Range k) const {
    const Range m = rows(block);
    return {tensor_, Operand::Activations, m.count * layout_.bytes(k.count), layout_.copies(item, m, k)};
}

PassRead HeadsInput::read(std::int64_t item, std::int64_t block, Range staged_k, Range k,
                          std::int64_t base) const {
    const Range m = rows(block);
    PassRead read;
    read.stream.segments = {{Bytes(0), Bytes(layout_.bytes(k.count))}};
    if (!resident_) {
        read.address = base + layout_.bytes(k.begin - staged_k.begin);
        read.stream.levels[2] = {m.count, Bytes(layout_.bytes(staged_k.count))};
        return read;
    }
    const std::int64_t heads = std::min(m.count, layout_.group());
    read.address = base + layout_.offset(item, m.begin) + layout_.bytes(k.begin);
    read.stream.levels[1] = {m.count / heads, Bytes(layout_.pitch())};
    read.stream.levels[2] = {heads, Bytes(layout_.bytes(layout_.dim()))};
    return read;
}

std::int64_t HeadsInput::uniform_until(Range k) const {
    return bits_of(dtype_).value() * k.count % 8 == 0 ? layout_.dim() : k.end();
}

Range HeadsInput::extent(std::int64_t item, std::int64_t block) const {
    return layout_.extent(item, rows(block));
}

RowWeights attention_second(const Workspace& workspace, const Attention& op, TensorId tensor, bool keys) {
    const DType dtype = workspace.dtype(tensor);
    const bool of_keys = (keys && !op.of_values) || op.shared;  // in whose rows they lie
    const std::int64_t row = row_bytes(dtype, of_keys ? op.head_dim : op.value_dim()).value();
    const std::int64_t all = op.kv_heads * row;
    const ItemsApart apart = op.by_head ? ItemsApart{1, 0, op.kv_len * row, row}
                                        : ItemsApart{op.kv_heads, row, op.kv_len * all, all};
    const std::int64_t n = keys ? op.kv_len : op.value_dim(), k = keys ? op.row_dim() : op.kv_len;
    return RowWeights(tensor, {bits_of(dtype).value(), 1}, workspace.operand(tensor), n, k, keys, apart);
}

}  // namespace systole::systolic
