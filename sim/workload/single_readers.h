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

// single_vectors.cpp
Single read_single_elementwise(Keys& keys);
Single read_single_activation(Keys& keys);
Single read_single_softmax(Keys& keys);
Single read_single_norm(Keys& keys);
Single read_single_reduce(Keys& keys);
Single read_single_transpose(Keys& keys);
Single read_single_resize(Keys& keys);
Single read_single_rotary(Keys& keys);
Single read_single_top_k(Keys& keys);
Single read_single_lstm_cell(Keys& keys);
Single read_single_gru_cell(Keys& keys);

}  // namespace systole
