// SPDX-License-Identifier: Apache-2.0
// Attention for whose format no kernel keeps scores on the SMs: two products and a softmax, as of a trace
// with `fused: false` (and as PyTorch's and TensorRT's libraries run it there).
#pragma once

#include <string>
#include <vector>

#include "models/devices/simt/spec/spec.h"
#include "sim/workload/graph.h"

namespace systole::simt {

/// Whether there is a kernel for attention as a whole: programs of mma.sync with asynchronous copies, wgmma
/// and MFMA. Not for quad-pairs, nor for formats that no tensor core takes.
bool has_attention_kernel(DType dtype, const SmSpec& sm);

/// NAME.scores and NAME.softmax, of an attention as a whole; of other layers none.
std::vector<std::string> parts_of_attention(const Layer& layer);

/// The graph with layers NAME.scores, NAME.softmax and NAME in the place of each other attention; with
/// any, its blocks are not told. What is causal is computed whole, as batched products know no mask (the one
/// that the softmax applies is not counted): its MACs are those of whole matrices.
Graph unfuse_attention(Graph graph, const SmSpec& sm);

}  // namespace systole::simt
