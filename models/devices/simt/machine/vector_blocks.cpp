// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/vector_blocks.h"

#include <algorithm>

namespace systole::simt {
namespace {

/// First byte of element `index` of `count` that fill a matrix.
std::int64_t byte_of(const MatrixPlace& matrix, std::int64_t index, std::int64_t count) {
    return static_cast<std::int64_t>(Int128{matrix.bytes.value()} * index / count);
}

void add(const MatrixPlace& matrix, std::int64_t begin, std::int64_t end, std::int64_t sms,
         TileAccess& access) {
    if (end > begin)
        access.blocks.push_back({matrix.address + begin, end - begin, sms, matrix.operand, matrix.range()});
}

}  // namespace

std::int64_t VectorBlocks::all() const {
    return kernel_.kind == VectorKernel::Kind::Elementwise ? kernel_.cols : kernel_.rows;
}

std::int64_t VectorBlocks::before(std::int64_t cta) const {
    const std::int64_t own =
        kernel_.kind == VectorKernel::Kind::Elementwise ? kernel_.elements_of_cta() : kernel_.rows_of_cta();
    return std::min(cta * own, all());
}

void VectorBlocks::add_shares(const MatrixPlace& matrix, CtaRange range, TileAccess& access) const {
    const auto at = [&](std::int64_t cta) { return byte_of(matrix, before(cta), all()); };
    add(matrix, at(range.first), at(range.first + range.count), 1, access);
    std::int64_t most = 0;
    for (std::int64_t cta = range.first; cta < range.first + range.count; ++cta)
        most = std::max(most, at(cta + 1) - at(cta));
    access.bytes_of_sm += most;
}

void VectorBlocks::add_again(const VectorOperand& operand, CtaRange range, TileAccess& access) const {
    const std::int64_t of_item = all() / operand.items, own = operand.elements / operand.items;
    std::int64_t most = 0;
    for (std::int64_t cta = range.first; cta < range.first + range.count; ++cta) {
        std::int64_t bytes = 0;
        const auto part = [&](std::int64_t first, std::int64_t end) {
            const std::int64_t begin = byte_of(operand.place, first, operand.elements);
            add(operand.place, begin, byte_of(operand.place, end, operand.elements), 1, access);
            bytes += byte_of(operand.place, end, operand.elements) - begin;
        };
        for (std::int64_t at = before(cta), end = before(cta + 1); at < end;) {
            const std::int64_t item = at / of_item, until = std::min(end, (item + 1) * of_item);
            const std::int64_t first = at % of_item % own, count = std::min(own, until - at);
            part(item * own + first, item * own + std::min(own, first + count));
            if (first + count > own) part(item * own, item * own + first + count - own);
            at = until;
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
    for (std::int64_t cta = range.first; cta < range.first + range.count; ++cta)
        add(matrix, cta * row + at(round), cta * row + at(round + 1), 1, access);
    access.bytes_of_sm += at(round + 1) - at(round);
}

void VectorBlocks::add_columns(CtaRange range, TileAccess& access) const {
    const std::int64_t sms = std::min(range.count, plan_.sms - range.first);
    if (sms <= 0) return;
    for (const MatrixPlace& matrix : plan_.columns) {
        add(matrix, 0, matrix.bytes.value(), sms, access);
        access.bytes_of_sm += matrix.bytes.value();
    }
}

TileAccess VectorBlocks::reads(CtaRange range, std::int64_t step) const {
    TileAccess access;
    access.sms = range.count;
    if (step >= kernel_.steps()) {
        add_columns(range, access);
    } else if (kernel_.row_of_cta()) {
        add_round(plan_.in.front().place, range, step % kernel_.trips(), access);
    } else {
        for (const VectorOperand& operand : plan_.in)
            if (kernel_.kind == VectorKernel::Kind::Elementwise && operand.elements < all())
                add_again(operand, range, access);
            else
                add_shares(operand.place, range, access);
    }
    return access;
}

TileAccess VectorBlocks::writes(CtaRange range) const {
    TileAccess access;
    access.sms = range.count;
    add_shares(plan_.to, range, access);
    return access;
}

}  // namespace systole::simt
