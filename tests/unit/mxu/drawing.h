// SPDX-License-Identifier: Apache-2.0
// Lives of small arrays, drawn by hand. Both engines must give the written times, and every PE of the grid
// must do in every cycle what the drawing shows. A cell is two characters: the vector multiplied (its name,
// '0' in padding, '.' none), then 'w' if a value of a tile moved in (ws, is), 'r' if a result did (os), else
// '.'. Vector names are also values: of what comes from the left (ws, is) or from above (os); os: from the
// left come 1, 2, … by row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/devices/systolic/mxu/matrix_engine.h"

namespace systole::test {

struct DrawnPass {
    std::string vectors;
    Pass pass;
    Tile tile;
    std::vector<std::int8_t> values;  ///< row-major, of the tile (ws, is)
    Cycles arrives;
    PassReport expected;
};

struct Drawing {
    ArraySpec array;
    std::vector<DrawnPass> passes;
    std::string pes;                   ///< one line per PE, row by row; one cell per cycle
    std::vector<std::int32_t> sums{};  ///< row-major: what the first accumulator rows hold at the end
};

inline Cycles at(std::int64_t cycle) {
    return Cycles(cycle);
}

void check_drawing(const Drawing& drawing);

}  // namespace systole::test
