// SPDX-License-Identifier: Apache-2.0
// What the columns of one operator say, and the readers that have a file of their own.
#pragma once

#include <vector>

#include "sim/workload/graph.h"
#include "sim/workload/keys.h"

namespace systole {

/// The operator and the tensors it reads; their order is that of LayerPlan::inputs.
struct Single {
    Operator op;
    std::vector<Shape> inputs;
    Shape output;
    bool unfused = false;
};

// single_windows.cpp
Single read_single_conv2d(Keys& keys);
Single read_single_conv3d(Keys& keys);
Single read_single_conv_transpose(Keys& keys);
Single read_single_pool(Keys& keys);

}  // namespace systole
