// SPDX-License-Identifier: Apache-2.0
// The gradients of each operator: what it read and stores, of the gradient of what it made.
#pragma once

#include "sim/workload/training/way_back.h"

namespace systole {

/// Expects a layer that why_no_gradient() lets pass.
void add_gradients(WayBack& back, const Layer& layer, TensorId gradient);

// matrix_gradients.cpp
void add_matmul_gradients(WayBack& back, const Layer& layer, TensorId gradient);
void add_attention_gradients(WayBack& back, const Layer& layer, TensorId gradient);

// movement_gradients.cpp
void add_concat_gradients(WayBack& back, const Layer& layer, TensorId gradient);
void add_slice_gradients(WayBack& back, const Layer& layer, TensorId gradient);
void add_gather_gradients(WayBack& back, const Layer& layer, TensorId gradient);
void add_top_k_gradients(WayBack& back, const Layer& layer, TensorId gradient);

}  // namespace systole
