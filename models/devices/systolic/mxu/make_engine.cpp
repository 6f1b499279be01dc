// SPDX-License-Identifier: Apache-2.0
// Which class simulates which dataflow.
#include "models/devices/systolic/mxu/grid_engine.h"
#include "models/devices/systolic/mxu/pe_grid.h"
#include "models/devices/systolic/mxu/tile_engine.h"

namespace systole {

std::unique_ptr<MatrixEngine> make_tile_engine(const ArraySpec& spec) {
    return std::make_unique<TileEngine>(spec);
}

std::unique_ptr<GridEngine> make_grid_engine(const ArraySpec& spec) {
    return std::make_unique<PeGrid<Int8Arithmetic>>(spec);
}

std::unique_ptr<FloatGridEngine> make_float_grid_engine(const ArraySpec& spec) {
    return std::make_unique<PeGrid<Float32Arithmetic>>(spec);
}

}  // namespace systole
