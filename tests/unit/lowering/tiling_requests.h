// SPDX-License-Identifier: Apache-2.0
// What the mapper is asked, in tests of it.
#pragma once

#include "models/devices/systolic/lowering/tiling.h"
#include "sim/base/units.h"

namespace systole::systolic {

/// 128 x 128 arrays behind weight FIFOs of two places, a tile in 128 cycles, a memory of 512 bytes a cycle.
inline TilingRequest request(std::int64_t m, std::int64_t n_tiles, std::int64_t k_tiles, int mxus) {
    TilingRequest r;
    r.n = n_tiles * 128;
    r.n_tiles = n_tiles;
    r.k_tiles = r.k_vectors = k_tiles;
    r.tile.n = r.tile.n_unit = 128;
    r.mxus = mxus;
    r.array_rows = r.array_cols = 128;
    r.weight_tile_bytes = 128 * 128 * 2;
    r.weight_port_cycles = r.weight_fill_cycles = 128;
    r.weight_fifo_tiles = 2;
    r.accumulator_room = 2048;
    r.activation_ports = mxus;
    r.drain_elements = 1024;
    r.weight_capacity = r.input_capacity = 8 << 20;
    r.dram_bytes_per_cycle = 512;
    for (std::int64_t blocks = 1; blocks <= 8; ++blocks) {
        const std::int64_t rows = ceil_div(m, blocks);
        r.row_blockings.push_back(
            {rows, ceil_div(m, rows), rows * k_tiles * 256, rows * 256, m * k_tiles * 256});
    }
    return r;
}

}  // namespace systole::systolic
