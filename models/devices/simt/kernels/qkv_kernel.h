// SPDX-License-Identifier: Apache-2.0
// TensorRT-LLM's kernel ahead of attention (unfusedAttentionKernels_2_template.h): it turns queries and keys
// by their positions and writes keys and values into their caches. Two of them:
//
//   table      applyBiasRopeUpdateKVCacheV2: 256 threads (or as many as hold whole heads), 16 bytes of a head
//              each; cosines and sines out of a table in fp32. As many CTAs as fill whole waves of 1024
//              threads an SM, which go on with other rows (calGridSizeWithBestEfficiency)
//   computed   applyBiasRopeUpdateKVCache: a warp for each position and head, which computes cosines and
//              sines once and goes over the sequences; for those longer than the table
#pragma once

#include <span>

#include "models/devices/simt/kernels/cta_timing.h"
#include "models/devices/simt/kernels/vector_kernel.h"
#include "models/devices/simt/spec/spec.h"
#include "models/devices/simt/warp/warp_program.h"
#include "sim/workload/graph.h"

namespace systole::simt {

/// Layers that the kernel does: rotary embeddings of queries and of keys, and the caches of what the second
/// one made and of values, one behind the other; where these are parts of one matrix, three slices before.
constexpr std::size_t kQkvLayers = 4, kPackedLayers = 7;
/// What vLLM's kernel turns at once: queries, then keys; where these are parts of one matrix, of which it
/// takes views, two slices before.
constexpr std::size_t kTurnedByVllm = 2, kTurnedViews = 4;

/// How many layers from number `first` on are such, if the library has the kernel; 0: they are none.
std::size_t prepares_attention(const Graph& graph, std::size_t first, const KernelsSpec& kernels);

/// Of such layers of the graph.
VectorKernel qkv_kernel(const Graph& graph, std::span<const Layer> layers, const SimtSpec& spec);

WarpProgram qkv_program(const VectorKernel& kernel);

/// With no more CTAs on an SM than there are.
CtaTiming with_places_of(const QkvRows& rows, CtaTiming timing, const SmSpec& sm);

}  // namespace systole::simt
