// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/turn.h"

#include <algorithm>
#include <bit>

namespace systole::simt {
namespace {

// Words of 4 bytes of a tile's row and column. Words of several short elements are taken to be permuted in
// registers, and to have four at most (assumed).
constexpr std::int64_t kSide = 32, kWordBits = 32, kMostElements = 4;

std::int64_t next_power(std::int64_t value) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(value)));
}

/// As many elements as all rows, columns and matrices are multiples of.
std::int64_t word_of(const Turn& turn, DType dtype) {
    std::int64_t word = std::clamp<std::int64_t>(kWordBits / bits_of(dtype).value(), 1, kMostElements);
    const auto whole = [&] {
        return turn.rows % word == 0 && turn.cols % word == 0 && turn.row_stride % word == 0 &&
               turn.col_stride % word == 0 &&
               std::all_of(turn.batch.begin(), turn.batch.end(),
                           [&](const Turn::Dim& dim) { return dim.in % word == 0 && dim.out % word == 0; });
    };
    while (word > 1 && !whole()) word /= 2;
    return word;
}

/// Of matrices with few columns a tile has more rows, and the other way round.
void choose_tile(Turn& turn) {
    const std::int64_t side = kSide * turn.word, all = side * side;
    turn.tile_cols = std::min(side, next_power(turn.cols));
    turn.tile_rows = std::min(all / turn.tile_cols, next_power(turn.rows));
    turn.tile_cols = std::min(all / turn.tile_rows, next_power(turn.cols));
}

/// Dimensions of the output, those of one index left out, and those joined that lie one behind the other.
std::vector<Turn::Dim> dims_of(const Transpose& transpose) {
    std::vector<std::int64_t> strides(transpose.shape.size(), 1);
    for (std::size_t dim = strides.size() - 1; dim > 0; --dim)
        strides[dim - 1] = strides[dim] * transpose.shape[dim];
    std::vector<Turn::Dim> dims;
    for (const std::int64_t number : transpose.permutation) {
        const auto from = static_cast<std::size_t>(number);
        const Turn::Dim dim{transpose.shape[from], strides[from], 1};
        if (dim.extent == 1) continue;
        if (!dims.empty() && dims.back().in == dim.in * dim.extent)
            dims.back() = {dims.back().extent * dim.extent, dim.in, 1};
        else
            dims.push_back(dim);
    }
    std::int64_t behind = 1;
    for (std::size_t i = dims.size(); i-- > 0;) {
        dims[i].out = behind;
        behind *= dims[i].extent;
    }
    return dims;
}

}  // namespace

std::int64_t Turn::matrices() const {
    std::int64_t count = 1;
    for (const Dim& dim : batch) count *= dim.extent;
    return count;
}

Turn Turn::of_tile() const {
    Turn tile = *this;
    tile.rows = tile.col_stride = tile_rows;
    tile.cols = tile.row_stride = tile_cols;
    for (Dim& dim : tile.batch) dim = {};
    return tile;
}

std::optional<Turn> turn_of(const Transpose& transpose, DType dtype) {
    std::vector<Turn::Dim> dims = dims_of(transpose);
    if (dims.empty() || dims.back().in == 1) return std::nullopt;
    Turn turn;
    turn.rows = dims.back().extent;
    turn.row_stride = dims.back().in;
    dims.pop_back();
    const auto columns =
        std::find_if(dims.begin(), dims.end(), [](const Turn::Dim& dim) { return dim.in == 1; });
    turn.cols = columns->extent;
    turn.col_stride = columns->out;
    dims.erase(columns);
    turn.batch = std::move(dims);
    turn.word = word_of(turn, dtype);
    choose_tile(turn);
    return turn;
}

TurnTile tile_of(const Turn& turn, std::int64_t cta) {
    TurnTile tile;
    tile.col = cta % turn.tiles_across() * turn.tile_cols;
    tile.row = cta / turn.tiles_across() % turn.tiles_down() * turn.tile_rows;
    tile.rows = std::min(turn.tile_rows, turn.rows - tile.row);
    tile.cols = std::min(turn.tile_cols, turn.cols - tile.col);
    std::int64_t matrix = cta / (turn.tiles_across() * turn.tiles_down());
    for (std::size_t i = turn.batch.size(); i-- > 0;) {
        const Turn::Dim& dim = turn.batch[i];
        tile.in += matrix % dim.extent * dim.in;
        tile.out += matrix % dim.extent * dim.out;
        matrix /= dim.extent;
    }
    return tile;
}

}  // namespace systole::simt
