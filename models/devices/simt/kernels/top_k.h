// SPDX-License-Identifier: Apache-2.0
// The k greatest of each row, as PyTorch finds them (TensorTopK.cu, sbtopk): a kernel that gathers them, in
// any order, and one that sorts what was gathered.
#pragma once

#include "models/devices/simt/kernels/vector_kernel.h"
#include "sim/workload/graph.h"

namespace systole::simt {

/// Digits of two bits of `dtype` from the greatest on until the k-th greatest of `cols` values, spread evenly
/// over a few powers of two, is the only one with these (assumed): sign and exponent, and as many bits as
/// number the values, and one. Up to all.
std::int64_t digits_to_count(DType dtype, std::int64_t cols);
/// A CTA a row: a thread an element, up to 1024.
VectorKernel top_k_kernel(const TopK& top, DType in);
/// Up to 32 of a row: 16 threads a row, 16 rows a CTA where there are enough (Sort.cu: SmallBitonicSort);
/// more: a CTA a row, a thread for each two of 128, 1024 or a greater power of two (PyTorch up to 1.11, whose
/// own greatest is 2048; later ones sort more than 32 by merging or by digits).
VectorKernel sort_kernel(const TopK& top, DType in, const SmSpec& sm);
/// Elements of a row of `k` that are sorted, with those that fill it up.
std::int64_t sorted_of(std::int64_t k);

/// Whether layers `first` and the next are the values and the indices of one top-k: a kernel finds both.
bool top_k_of_both(const Graph& graph, std::size_t first);

}  // namespace systole::simt
