// SPDX-License-Identifier: Apache-2.0
// A dataflow for each layer, from what each costs in each dataflow, and what it costs to set arrays up anew
// between layers.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/devices/systolic/mxu/dataflow.h"

namespace systole::systolic {

constexpr std::array kDataflows{Dataflow::WeightStationary, Dataflow::OutputStationary,
                                Dataflow::InputStationary};

/// Cycles by dataflow; infinite: it cannot run so.
using DataflowCycles = std::array<double, kDataflows.size()>;

/// Layers one behind the other, all of them `turns` times, in the same dataflows each time.
struct LayerRun {
    std::vector<DataflowCycles> layers;  ///< of all turns together
    std::int64_t turns = 1;
};

/// The dataflows of all layers of all runs in order, a turn of each run, whose cycles sum to the least with
/// `switch_cycles` more wherever one layer's dataflow is not that of the one before; of equal sums any,
/// always the same. Empty where some layer can run in none.
std::vector<Dataflow> least_cycles(const std::vector<LayerRun>& runs, double switch_cycles);

}  // namespace systole::systolic
