// SPDX-License-Identifier: Apache-2.0
// Which class simulates which dataflow.
#include "models/devices/systolic/mxu/grid_engine.h"
#include "models/devices/systolic/mxu/os_grid.h"
#include "models/devices/systolic/mxu/os_tile_engine.h"
#include "models/devices/systolic/mxu/pe_grid.h"
#include "models/devices/systolic/mxu/reconfigurable_engine.h"
#include "models/devices/systolic/mxu/tile_engine.h"

namespace systole {

namespace {

bool outputs_stay(const ArraySpec& spec) {
    return spec.dataflow == Dataflow::OutputStationary;
}

/// While the array is set up for that dataflow.
ArraySpec set_up_for(Dataflow dataflow, const ArraySpec& spec) {
    ArraySpec own = spec;
    own.dataflow = dataflow;
    own.reconfigurable = false;
    return own;
}

template <class Arithmetic, class Engine>
std::unique_ptr<Engine> make_grid(const ArraySpec& spec) {
    const auto below = make_accumulators<Arithmetic>(spec);
    if (spec.reconfigurable)
        return std::make_unique<ReconfigurableGrid<typename Arithmetic::Operand, typename Arithmetic::Sum>>(
            spec, std::make_unique<PeGrid<Arithmetic>>(set_up_for(Dataflow::WeightStationary, spec), below),
            std::make_unique<OsGrid<Arithmetic>>(set_up_for(Dataflow::OutputStationary, spec), below));
    if (outputs_stay(spec)) return std::make_unique<OsGrid<Arithmetic>>(spec, below);
    return std::make_unique<PeGrid<Arithmetic>>(spec, below);
}

}  // namespace

std::unique_ptr<MatrixEngine> make_tile_engine(const ArraySpec& spec) {
    if (spec.reconfigurable)
        return std::make_unique<ReconfigurableTileEngine>(
            spec, std::make_unique<TileEngine>(set_up_for(Dataflow::WeightStationary, spec)),
            std::make_unique<OsTileEngine>(set_up_for(Dataflow::OutputStationary, spec)));
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
