// SPDX-License-Identifier: Apache-2.0
// Packed weights as they reach the arrays: every row of K (or column, where those lie one behind the other)
// holds the bytes that its place in the layout says.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "tests/unit/lowering/replay.h"

namespace systole::systolic::test {

/// Weights of a pattern N:M: N numbers with their places for M weights. Scales of a group: one for so many
/// rows, as often as tiles of the array need one.
std::int64_t Replay::packed_bytes(std::int64_t count) const {
    const Tensor& tensor = graph_.tensors[*layer().weights];
    const WeightFormat& format = tensor.format;
    std::int64_t bits = bits_of(tensor.dtype).value(), each = 1;
    if (format.kept > 0) {
        bits = format.kept * (bits + std::bit_width(static_cast<std::uint64_t>(format.of - 1)));
        each = format.of;
    }
    std::int64_t scale = 0, rows = 1;
    if (format.scales == Scales::Group) {
        scale = bits_of(format.scale_dtype).value();
        rows = std::min<std::int64_t>(format.group, spec_.mxu.rows);
    }
    return ceil_div(count * (bits * rows + scale * each), 8 * each * rows);
}

std::int64_t Replay::packed_address(const MatrixPass& pass, std::int64_t k, std::int64_t n) const {
    const Placement& p = lowered_.placements[*layer().weights];
    const Shape& shape = graph_.tensors[*layer().weights].shape;
    const auto* conv = std::get_if<Conv2d>(&layer().op);
    const std::size_t matrix = shape.size() - 2;  // of a matmul: behind experts, if there are any
    const std::int64_t all_k = conv ? elements(shape) / shape[0] : shape[matrix];
    const std::int64_t all_n = conv ? shape[0] / conv->groups : shape[matrix + 1];
    if (p.layout == Layout::ColumnMajor)
        return p.address + (pass.origin.batch * all_n + n) * packed_bytes(all_k) + packed_bytes(k);
    const std::int64_t column = pass.origin.batch * ceil_div(all_n, p.tile_cols) + n / p.tile_cols;
    return p.address + (column * round_up(all_k, p.tile_rows) + k) * packed_bytes(p.tile_cols);
}

void Replay::check_packed_bytes(const std::vector<std::int64_t>& held, std::int64_t wanted,
                                std::int64_t bytes) {
    if (static_cast<std::int64_t>(held.size()) != bytes)
        return fault(fmt::format("{} B of packed weights instead of {}", held.size(), bytes));
    for (std::int64_t i = 0; i < bytes; ++i)
        if (held[static_cast<std::size_t>(i)] != wanted + i)
            return fault(fmt::format("packed byte {}: {} instead of {}", i, held[static_cast<std::size_t>(i)],
                                     wanted + i));
}

void Replay::check_packed_second(const MatrixPass& pass, const EdgeRead& edge, std::int64_t fold) {
    const bool by_column = second_by_column(pass);
    const auto vectors = vectors_of(edge, fold);
    const std::int64_t count = by_column ? pass.n : pass.k, length = by_column ? pass.k : pass.n;
    if (static_cast<std::int64_t>(vectors.size()) != count)
        return fault(fmt::format("reads {} weight vectors instead of {}", vectors.size(), count));
    for (std::int64_t v = 0; v < count; ++v) {
        const std::int64_t k = pass.origin.k0 + fold * pass.k + (by_column ? 0 : v);
        const std::int64_t n = pass.origin.n0 + (by_column ? v : 0);
        std::vector<std::int64_t> held;
        for (const std::int64_t at : vectors[static_cast<std::size_t>(v)]) {
            read(scratchpad(), at, 1);
            held.push_back(scratchpad().holds[static_cast<std::size_t>(at)]);
        }
        check_packed_bytes(held, packed_address(pass, k, n), packed_bytes(length));
    }
}

void Replay::check_packed_tile(const MatrixPass& pass) {
    const auto& tile = in_array_[mxu_index()];
    const std::int64_t row = packed_bytes(spec_.mxu.cols);
    check_packed_bytes(tile, packed_address(pass, pass.origin.k0, pass.origin.n0), row * pass.k);
}

/// All products for each that is not with a zero.
std::int64_t Replay::share_of_products(const Layer& layer) const {
    if (!layer.weights) return 1;
    const WeightFormat& format = graph_.tensors[*layer.weights].format;
    return format.kept > 0 ? format.of / format.kept : 1;  // the tests' patterns divide
}

}  // namespace systole::systolic::test
