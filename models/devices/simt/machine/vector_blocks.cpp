// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/vector_blocks.h"

#include <algorithm>

namespace systole::simt {
namespace {

/// First byte of element `index` of `count` that fill a matrix.
std::int64_t byte_of(const MatrixPlace& matrix, std::int64_t index, std::int64_t count) {
    return static_cast<std::int64_t>(Int128{matrix.bytes.value()} * index / count);
}

/// Of a matrix that the kernel takes all of, or, with an empty `whole`, some elements: what lies between them
/// is not asked for with them.
void add(const MatrixPlace& matrix, std::int64_t begin, std::int64_t end, std::int64_t sms,
         const MatrixRange& whole, TileAccess& access) {
    if (end > begin)
        access.blocks.push_back({matrix.address + begin, end - begin, sms, matrix.operand, whole});
}

void add(const MatrixPlace& matrix, std::int64_t begin, std::int64_t end, std::int64_t sms,
         TileAccess& access) {
    add(matrix, begin, end, sms, matrix.range(), access);
}

}  // namespace

std::int64_t VectorBlocks::all() const {
    if (kernel_.kind == VectorKernel::Kind::Lookup) return kernel_.rows * kernel_.cols;
    return kernel_.kind == VectorKernel::Kind::Elementwise ? kernel_.cols : kernel_.rows;
}

std::int64_t VectorBlocks::before(std::int64_t cta) const {
    if (kernel_.kind == VectorKernel::Kind::Lookup) {
        const std::int64_t row = cta / kernel_.ctas_of_row(), part = cta % kernel_.ctas_of_row();
        return row * kernel_.cols + part * kernel_.elements_of_cta();
    }
    const std::int64_t own =
        kernel_.kind == VectorKernel::Kind::Elementwise ? kernel_.elements_of_cta() : kernel_.rows_of_cta();
    return std::min(cta * own, all());
}

void VectorBlocks::add_shares(const MatrixPlace& matrix, CtaRange range, TileAccess& access) const {
    const auto at = [&](std::int64_t cta) { return byte_of(matrix, before(cta), all()); };
    if (range.stride == 1) add(matrix, at(range.first), at(range.end()), 1, access);
    std::int64_t most = 0;
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        if (range.stride > 1) add(matrix, at(cta), at(cta + 1), 1, access);
        most = std::max(most, at(cta + 1) - at(cta));
    }
    access.bytes_of_sm += most;
}

void VectorBlocks::add_mapped(const VectorOperand& operand, std::span<const OperandMap> maps, CtaRange range,
                              TileAccess& access) const {
    const MatrixPlace& matrix = operand.place;
    const MatrixRange whole = operand.touched < matrix.bytes ? MatrixRange{} : matrix.range();
    std::int64_t most = 0;
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        std::int64_t bytes = 0;
        for (const OperandMap& map : maps)
            elements_of(map, before(cta), before(cta + 1), [&](std::int64_t first, std::int64_t end) {
                const std::int64_t from = byte_of(matrix, first, operand.elements);
                const std::int64_t until = byte_of(matrix, end, operand.elements);
                add(matrix, from, until, 1, whole, access);
                bytes += until - from;
            });
        most = std::max(most, bytes);
    }
    access.bytes_of_sm += most;
}

void VectorBlocks::add_indices(CtaRange range, TileAccess& access) const {
    const std::int64_t bag = kernel_.lookup.bag, all = kernel_.lookup.lookups;
    const MatrixPlace& indices = plan_.in.front().place;
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        const std::int64_t first = cta / kernel_.ctas_of_row() * bag;
        add(indices, byte_of(indices, first, all), byte_of(indices, first + bag, all), 1, access);
    }
    access.bytes_of_sm += byte_of(indices, bag, all);
}

void VectorBlocks::add_rows(CtaRange range, std::int64_t number, TileAccess& access) const {
    const LookupRows& lookup = kernel_.lookup;
    const MatrixPlace& table = plan_.in.back().place;
    std::int64_t most = 0;
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        const std::int64_t row = row_of(lookup, cta / kernel_.ctas_of_row() * lookup.bag + number);
        const std::int64_t first = cta % kernel_.ctas_of_row() * kernel_.elements_of_cta();
        const auto at = [&](std::int64_t column) {
            return byte_of(table, row * lookup.width + std::min(column, lookup.width),
                           lookup.rows * lookup.width);
        };
        const std::int64_t begin = at(first), end = at(first + kernel_.elements_of_cta());
        add(table, begin, end, 1, {}, access);
        most = std::max(most, end - begin);
    }
    access.bytes_of_sm += most;
}

void VectorBlocks::add_parts(const MatrixPlace& matrix, CtaRange range, TileAccess& access) const {
    const std::int64_t width = kernel_.cols, own = kernel_.elements_of_cta();
    std::int64_t most = 0;
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        std::int64_t bytes = 0;
        for (std::int64_t row = 0; row < kernel_.lookup.bag; ++row) {
            const auto at = [&](std::int64_t column) {
                return byte_of(matrix, row * width + std::min(column, width), kernel_.lookup.bag * width);
            };
            const std::int64_t begin = at(cta * own), end = at((cta + 1) * own);
            add(matrix, begin, end, 1, access);
            bytes += end - begin;
        }
        most = std::max(most, bytes);
    }
    access.bytes_of_sm += most;
}

void VectorBlocks::add_round(const MatrixPlace& matrix, CtaRange range, std::int64_t round,
                             TileAccess& access) const {
    const std::int64_t row = matrix.bytes.value() / kernel_.rows;
    const auto at = [&](std::int64_t number) {
        const std::int64_t element = std::min(kernel_.cols, number * kernel_.threads() * kernel_.vector);
        return element * row / kernel_.cols;
    };
    // What the row has behind the round is asked for by the next one: perhaps later than the L2 would hold
    // it.
    const MatrixRange whole = kernel_.trips() > 1 ? MatrixRange{} : matrix.range();
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride)
        add(matrix, cta * row + at(round), cta * row + at(round + 1), 1, whole, access);
    access.bytes_of_sm += at(round + 1) - at(round);
}

void VectorBlocks::add_pairs(CtaRange range, std::int64_t round, TileAccess& access) const {
    const bool whole = kernel_.trips() == 1 && kernel_.packed_cols == 0;
    const std::int64_t queries = kernel_.cols - kernel_.key_cols;
    for (const RotaryLoops::Part& part : kernel_.rotary_loops().parts(round)) {
        const MatrixPlace& matrix = plan_.in[part.of_keys ? 1 : 0].place;
        const std::int64_t row = matrix.bytes.value() / kernel_.rows;
        // Of one matrix, keys lie behind queries.
        const std::int64_t own = part.of_keys ? kernel_.key_cols : queries;
        const std::int64_t cols = kernel_.packed_cols > 0 ? kernel_.packed_cols : own;
        const std::int64_t first = kernel_.packed_cols > 0 && part.of_keys ? queries : 0;
        const std::int64_t begin = (first + 2 * part.first) * row / cols;
        const std::int64_t end = (first + 2 * part.end) * row / cols;
        for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride)
            add(matrix, cta * row + begin, cta * row + end, 1, whole ? matrix.range() : MatrixRange{},
                access);
        access.bytes_of_sm += end - begin;
    }
}

void VectorBlocks::add_angles(CtaRange range, TileAccess& access) const {
    const MatrixPlace& table = plan_.in.back().place;
    const auto at = [&](std::int64_t position) { return byte_of(table, position, kernel_.positions); };
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        const std::int64_t position = cta % kernel_.positions;
        add(table, at(position), at(position + 1), 1, access);
    }
    access.bytes_of_sm += at(1);
}

void VectorBlocks::add_columns(CtaRange range, TileAccess& access) const {
    const std::int64_t sms = range.below(plan_.sms);
    if (sms <= 0) return;
    for (const MatrixPlace& matrix : plan_.columns) {
        add(matrix, 0, matrix.bytes.value(), sms, access);
        access.bytes_of_sm += matrix.bytes.value();
    }
}

TileAccess VectorBlocks::reads(CtaRange range, std::int64_t step) const {
    TileAccess access;
    access.sms = range.count;
    if (kernel_.kind == VectorKernel::Kind::Lookup) {
        if (step == 0)
            add_indices(range, access);
        else
            add_rows(range, step - 1, access);
    } else if (step >= kernel_.steps()) {
        add_columns(range, access);
    } else if (kernel_.kind == VectorKernel::Kind::Rotary) {
        add_pairs(range, step, access);
        // Later pairs find them in the L1.
        if (step == 0) add_angles(range, access);
    } else if (kernel_.row_of_cta()) {
        for (const VectorOperand& operand : plan_.in)
            add_round(operand.place, range, step % kernel_.trips(), access);
    } else {
        for (const VectorOperand& operand : plan_.in)
            if (operand.map.plain())
                add_shares(operand.place, range, access);
            else
                add_mapped(operand, {&operand.map, 1}, range, access);
    }
    return access;
}

TileAccess VectorBlocks::writes(CtaRange range) const {
    TileAccess access;
    access.sms = range.count;
    if (kernel_.stores_each)
        add_parts(plan_.to.place, range, access);
    else if (plan_.stores.empty())
        add_shares(plan_.to.place, range, access);
    else
        add_mapped(plan_.to, plan_.stores, range, access);
    if (plan_.beside.bytes > Bytes(0)) add_shares(plan_.beside, range, access);
    return access;
}

}  // namespace systole::simt
