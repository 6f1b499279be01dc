// SPDX-License-Identifier: Apache-2.0
// Random arrays with passes to send through them, and a register-accurate array that takes them, cycle by
// cycle: the slow twin of everything that is explained.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "models/devices/systolic/explain/array_work.h"
#include "models/devices/systolic/mxu/grid_engine.h"

namespace systole::test {

struct RandomArray {
    ArraySpec array;
    std::vector<systolic::ArrayPass> passes;
};

/// Any dataflow, up to `largest` rows and columns; tiles ragged, some kept (ws, is), some folds.
RandomArray random_array(std::mt19937_64& random, int largest);
std::string to_string(const RandomArray& drawn);

/// Sends the passes through the grid as early as it allows, asking every cycle; the times of each.
std::vector<PassTimes> sent_through_grid(const RandomArray& drawn,
                                         const std::function<void(GridEngine&)>& each_cycle = {});

}  // namespace systole::test
