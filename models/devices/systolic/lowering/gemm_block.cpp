// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/gemm_block.h"

#include <algorithm>

namespace systole::systolic {

std::int64_t OutputShape::accumulator_rows(std::int64_t rows, std::int64_t columns) const {
    if (!rows_are_m) return m_tiles(rows) * columns;
    const std::int64_t n_tiles = ceil_div(columns, n);
    return m == 0 ? rows * n_tiles : m_tiles(rows) * std::min(rows, m) * n_tiles;
}

OutputShape output_shape(const MxuSpec& mxu) {
    const std::int64_t room = mxu.accumulator_room();
    const std::int64_t rows = mxu.rows, cols = mxu.cols;
    switch (mxu.dataflow) {
        case Dataflow::WeightStationary:
            return {0, cols, cols, true};
        case Dataflow::OutputStationary:
            return {std::min(rows, room), cols, cols, true};
        case Dataflow::InputStationary:
            return {cols, 0, std::min(cols, room), false};
    }
    return {};
}

void cut(Block& block, const OutputShape& shape) {
    const std::int64_t m_step = shape.m == 0 ? block.m.count : shape.m;
    const std::int64_t n_step = shape.n == 0 ? block.n.count : shape.n;
    for (std::int64_t m = 0; m < block.m.count; m += m_step) {
        for (std::int64_t n = 0; n < block.n.count; n += n_step) {
            OutputTile tile;
            tile.m = {block.m.begin + m, std::min(m_step, block.m.count - m)};
            tile.n = {block.n.begin + n, std::min(n_step, block.n.count - n)};
            block.tiles.push_back(std::move(tile));
        }
    }
}

}  // namespace systole::systolic
