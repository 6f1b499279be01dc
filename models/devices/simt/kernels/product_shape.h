// SPDX-License-Identifier: Apache-2.0
// Layers that tensor cores do as the products that kernels see: matmul, convolutions as implicit GEMM, and
// the two products of attention whose scores are a tensor.
#pragma once

#include "models/devices/simt/kernels/gemm_kernel.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/workload/graph.h"

namespace systole::simt {

/// Of both operands. Throws UserError at the layer's mark where they differ, or if no tensor core takes it.
DType product_dtype(const Graph& graph, const Layer& layer, const SimtSpec& spec);

/// Of a layer for which on_tensor_cores() holds (supported.h), but for attention as a whole.
GemmShape product_shape(const Graph& graph, const Layer& layer, const SmSpec& sm);

/// Its second operand.
TensorId second_operand(const Layer& layer);

}  // namespace systole::simt
