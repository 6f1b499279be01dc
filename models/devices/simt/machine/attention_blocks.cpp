// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/attention_blocks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "models/devices/simt/kernels/group_attention_program.h"

namespace systole::simt {
namespace {

// Of a cache (TensorRT-LLM's tokens_per_block, as aiconfigurator sets it).
constexpr std::int64_t kPageKeys = 64;

}  // namespace

std::int64_t AttentionBlocks::at(const MatrixPlace& matrix, std::int64_t row, std::int64_t rows) {
    return matrix.address + static_cast<std::int64_t>(Int128{matrix.bytes.value()} * row / rows);
}

TileAccess::Block AttentionBlocks::block(const MatrixPlace& matrix, std::int64_t begin, std::int64_t end,
                                         std::int64_t rows) {
    const std::int64_t from = at(matrix, begin, rows);
    return {from, at(matrix, end, rows) - from, 1, matrix.operand, matrix.range()};
}

std::int64_t AttentionBlocks::head_of_keys(std::int64_t item) const {
    return item / (kernel_.heads() / kernel_.shape.kv_heads);
}

TileAccess::Block AttentionBlocks::queries(const AttentionPlace& place) const {
    const std::int64_t first = place.item * kernel_.rows() + place.tile * kernel_.tile.m;
    TileAccess::Block own =
        block(plan_.q, first, first + rows_of(kernel_, place), kernel_.items() * kernel_.rows());
    take_whole(own, rows_of(kernel_, place), kernel_.tile.m);
    return own;
}

void AttentionBlocks::take_whole(TileAccess::Block& own, std::int64_t rows, std::int64_t of_box) const {
    if (kernel_.tile.stages > 1 && rows > 0 && rows < of_box) own.gathered = own.bytes * of_box / rows;
}

// Of wgmma's kernels the first step has the first keys, of others the last ones. Boxes are whole: what they
// have beyond a sequence are rows of the next one, or its last page again (dma.h, bounded_block_idx).
TileAccess::Block AttentionBlocks::keys(const MatrixPlace& matrix, const AttentionPlace& place,
                                        std::int64_t step) const {
    const KeyRange range = keys_of(kernel_, place);
    const std::int64_t number = kernel_.tile.stages > 1 ? step : steps_of(kernel_, place) - 1 - step;
    const std::int64_t last_page = std::max(range.begin, (range.end - 1) / kPageKeys * kPageKeys);
    std::int64_t begin = range.begin + number * kernel_.tile.n;
    if (begin >= range.end) begin = last_page;
    const std::int64_t end = std::min(range.end, begin + kernel_.tile.n);
    const std::int64_t length = kernel_.shape.kv_len, head = head_of_keys(place.item) * length;
    TileAccess::Block own =
        block(matrix, head + begin, head + end, kernel_.shape.batch * kernel_.shape.kv_heads * length);
    take_whole(own, end - begin, kernel_.tile.n);
    return own;
}

// Rows of keys may have values, too: they are read twice then.
TileAccess::Block AttentionBlocks::of_pass(const AttentionPlace& place, std::int64_t step) const {
    const std::int64_t blocks = steps_of(kernel_, place);
    const bool values = step >= blocks && plan_.v.bytes > Bytes(0);
    return keys(values ? plan_.v : plan_.k, place, step % blocks);
}

TileAccess AttentionBlocks::reads(CtaRange range, std::int64_t step) const {
    TileAccess access;
    access.sms = range.count;
    access.short_rows = true;
    // By address and bytes: CTAs behind each other take the same keys; causal ones may see fewer of a block.
    std::map<std::pair<std::int64_t, std::int64_t>, TileAccess::Block> shared;
    const auto share = [&](const TileAccess::Block& own) {
        if (own.bytes == 0) return;
        const auto [known, added] = shared.try_emplace({own.address, own.bytes}, own);
        if (!added) ++known->second.sms;
    };
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        const AttentionPlace place = place_of(kernel_, cta);
        std::int64_t bytes = 0;
        const auto take = [&](const TileAccess::Block& own) {
            bytes += own.taken();
            share(own);
        };
        if (kernel_.in_two_passes()) {
            take(of_pass(place, step));
        } else {
            take(keys(plan_.k, place, step));
            if (plan_.v.bytes > Bytes(0)) take(keys(plan_.v, place, step));
        }
        if (step == 0) {
            access.blocks.push_back(queries(place));
            bytes += access.blocks.back().taken();
        }
        access.bytes_of_sm = std::max(access.bytes_of_sm, bytes);
    }
    for (const auto& [where, block] : shared) access.blocks.push_back(block);
    return access;
}

TileAccess AttentionBlocks::writes(CtaRange range) const {
    TileAccess access;
    access.sms = range.count;
    const bool parts = kernel_.splits > 1;
    const std::int64_t all = kernel_.items() * kernel_.rows();
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        const AttentionPlace place = place_of(kernel_, cta);
        const std::int64_t first = place.item * kernel_.rows() + place.tile * kernel_.tile.m;
        const std::int64_t begin = (parts ? place.part * all : 0) + first;
        access.blocks.push_back(block(parts ? plan_.sums : plan_.out, begin, begin + rows_of(kernel_, place),
                                      parts ? all * kernel_.splits : all));
        const std::int64_t bytes = access.blocks.back().bytes;
        access.bytes_of_sm = std::max(
            access.bytes_of_sm, kernel_.tile.stages > 1 ? passing_port(bytes, kernel_.stored()) : bytes);
    }
    return access;
}

std::int64_t AttentionBlocks::macs(CtaRange range) const {
    std::int64_t pairs = 0;
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride)
        pairs += pairs_of(kernel_, place_of(kernel_, cta));
    return pairs * (kernel_.shape.head_dim + kernel_.shape.value_dim());
}

TileAccess AttentionBlocks::queries_of(std::int64_t cta) const {
    TileAccess access;
    access.short_rows = true;
    access.blocks.push_back(queries(place_of(kernel_, cta)));
    access.bytes_of_sm = access.blocks.back().taken();
    return access;
}

TileAccess AttentionBlocks::of_step(std::int64_t cta, std::int64_t step, bool values) const {
    TileAccess access;
    if (values && plan_.v.bytes == Bytes(0)) return access;
    access.short_rows = true;
    access.blocks.push_back(keys(values ? plan_.v : plan_.k, place_of(kernel_, cta), step));
    access.bytes_of_sm = access.blocks.back().taken();
    return access;
}

TileAccess AttentionBlocks::of_pass(std::int64_t cta, std::int64_t step) const {
    TileAccess access;
    access.short_rows = true;
    access.blocks.push_back(of_pass(place_of(kernel_, cta), step));
    access.bytes_of_sm = access.blocks.back().taken();
    return access;
}

}  // namespace systole::simt
