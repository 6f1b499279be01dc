// SPDX-License-Identifier: Apache-2.0
// Which class simulates which dataflow.
#include "models/devices/systolic/mxu/grid_engine.h"
#include "models/devices/systolic/mxu/os_grid.h"
#include "models/devices/systolic/mxu/os_tile_engine.h"
#include "models/devices/systolic/mxu/pe_grid.h"
#include "models/devices/systolic/mxu/tile_engine.h"

namespace systole {

namespace {

bool outputs_stay(const ArraySpec& spec) {
    return spec.dataflow == Dataflow::OutputStationary;
}

template <class Arithmetic, class Engine>
std::unique_ptr<Engine> make_grid(const ArraySpec& spec) {
    if (outputs_stay(spec)) return std::make_unique<OsGrid<Arithmetic>>(spec);
    return std::make_unique<PeGrid<Arithmetic>>(spec);
}

}  // namespace

std::unique_ptr<MatrixEngine> make_tile_engine(const ArraySpec& spec) {
    if (outputs_stay(spec)) return std::make_unique<OsTileEngine>(spec);
    return std::make_unique<TileEngine>(spec);
}

std::unique_ptr<GridEngine> make_grid_engine(const ArraySpec& spec) {
    return make_grid<Int8Arithmetic, GridEngine>(spec);
}

std::unique_ptr<FloatGridEngine> make_float_grid_engine(const ArraySpec& spec) {
    return make_grid<Float32Arithmetic, FloatGridEngine>(spec);
}

}  // namespace systole
