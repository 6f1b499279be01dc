// SPDX-License-Identifier: Apache-2.0
// Copies of rows of tensors into another.
#pragma once

#include <cstdint>
#include <vector>

#include "models/devices/systolic/lowering/layer_plan.h"

namespace systole::systolic {

/// Rows of an input and where they go: boxes of equal rows and row_bytes; or zeros, which come from nowhere.
struct Piece {
    TensorId input = 0;
    TensorBox from, to;
    bool zeros = false;
};

/// All pieces copied into the layer's output: by the DMA, or by the vector unit where either end is on chip.
LayerPlan plan_copies(Workspace& workspace, std::int32_t layer, std::vector<Piece> pieces);

}  // namespace systole::systolic
