// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/qkv_blocks.h"

#include <algorithm>
#include <vector>

namespace systole::simt {
namespace {

/// One block with the last one, where it follows that.
void add(const MatrixPlace& matrix, std::int64_t begin, std::int64_t end, TileAccess& access) {
    if (begin >= end) return;
    const std::int64_t address = matrix.address + begin;
    if (!access.blocks.empty()) {
        TileAccess::Block& last = access.blocks.back();
        if (last.address + last.bytes == address && last.matrix == matrix.range()) {
            last.bytes += end - begin;
            return;
        }
    }
    access.blocks.push_back({address, end - begin, 1, matrix.operand, matrix.range()});
}

}  // namespace

std::int64_t QkvBlocks::add_rows(const MatrixPlace& matrix, std::int64_t heads, const QkvRows::Part& part,
                                 std::int64_t head, TileAccess& access) const {
    const std::int64_t of_head = matrix.bytes.value() / (rows_.rows() * heads);
    for (std::int64_t row = part.first; row < part.end; ++row) {
        const std::int64_t number = rows_.seq > 1
                                        ? (row / rows_.seq * heads + head) * rows_.seq + row % rows_.seq
                                        : head * rows_.rows() + row;
        add(matrix, number * of_head, (number + 1) * of_head, access);
    }
    return (part.end - part.first) * of_head;
}

std::int64_t QkvBlocks::add_operand(std::size_t operand, const QkvRows::Part& part,
                                    TileAccess& access) const {
    const std::int64_t own = operand == 0 ? rows_.heads : rows_.kv_heads;
    const std::int64_t head = operand == 0 ? part.head : part.head / rows_.group();
    const MatrixPlace& matrix = plan_.in[operand].place;
    if (!rows_.packed) return add_rows(matrix, own, part, head, access);
    const std::int64_t before =
        operand == 0 ? 0 : rows_.heads + (static_cast<std::int64_t>(operand) - 1) * rows_.kv_heads;
    return add_rows(matrix, rows_.heads + 2 * rows_.kv_heads, part, before + head, access);
}

std::int64_t QkvBlocks::add_angles(const QkvRows::Part& part, TileAccess& access) const {
    const MatrixPlace& table = plan_.in.back().place;
    const std::int64_t of_position = table.bytes.value() / rows_.seq;
    std::int64_t bytes = 0;
    for (std::int64_t row = part.first; row < part.end;) {
        const std::int64_t position = row % rows_.seq;
        const std::int64_t count = std::min(part.end - row, rows_.seq - position);
        add(table, position * of_position, (position + count) * of_position, access);
        bytes += count * of_position;
        row += count;
    }
    return bytes;
}

std::int64_t QkvBlocks::add_cached(const MatrixPlace& cache, const QkvRows::Part& part,
                                   TileAccess& access) const {
    const std::int64_t of_row = cache.bytes.value() / (rows_.batch * rows_.kv_heads * rows_.length);
    for (std::int64_t row = part.first; row < part.end; ++row) {
        const std::int64_t head = row / rows_.seq * rows_.kv_heads + part.head / rows_.group();
        const std::int64_t at = head * rows_.length + rows_.length - rows_.seq + row % rows_.seq;
        add(cache, at * of_row, (at + 1) * of_row, access);
    }
    return (part.end - part.first) * of_row;
}

// Of CTAs that have neighbouring rows of a head, all together.
TileAccess QkvBlocks::reads(CtaRange range, std::int64_t step) const {
    TileAccess access;
    access.sms = range.count;
    access.short_rows = rows_.computed;
    for (std::int64_t cta = range.first; cta < range.end();) {
        QkvRows::Part part = rows_.part(cta, step);
        std::int64_t count = 1;
        for (cta += range.stride; cta < range.end(); cta += range.stride, ++count) {
            const QkvRows::Part next = rows_.part(cta, step);
            if (next.head != part.head || next.first != part.end) break;
            part.end = next.end;
        }
        std::int64_t bytes = 0;
        for (std::size_t operand = 0; operand < 3; ++operand) bytes += add_operand(operand, part, access);
        if (!rows_.computed) bytes += add_angles(part, access);
        access.bytes_of_sm = std::max(access.bytes_of_sm, ceil_div(bytes, count));
    }
    return access;
}

// Round by round: neighbouring CTAs have neighbouring rows of a head.
TileAccess QkvBlocks::writes(CtaRange range) const {
    TileAccess access;
    access.sms = range.count;
    access.short_rows = rows_.computed;
    std::vector<std::int64_t> bytes(static_cast<std::size_t>(range.count));
    const auto add = [&](const auto& write) {
        for (std::int64_t round = 0; round < rows_.rounds(); ++round)
            for (std::int64_t i = 0; i < range.count; ++i)
                bytes[static_cast<std::size_t>(i)] +=
                    write(rows_.part(range.first + i * range.stride, round));
    };
    add([&](const QkvRows::Part& part) {
        return add_rows(plan_.to.place, rows_.heads, part, part.head, access);
    });
    if (rows_.keeps_keys)
        add([&](const QkvRows::Part& part) {
            if (!rows_.leads(part.head)) return std::int64_t{0};
            return add_rows(plan_.beside, rows_.kv_heads, part, part.head / rows_.group(), access);
        });
    for (const MatrixPlace& cache : plan_.caches)
        add([&](const QkvRows::Part& part) {
            return rows_.leads(part.head) ? add_cached(cache, part, access) : 0;
        });
    access.bytes_of_sm = *std::max_element(bytes.begin(), bytes.end());
    return access;
}

}  // namespace systole::simt
