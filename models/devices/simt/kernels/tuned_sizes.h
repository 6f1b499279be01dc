// SPDX-License-Identifier: Apache-2.0
// Sizes of products that a library of kernels was tuned at: its makers measured its kernels there and kept
// the fastest, and it computes any other size by the kernel of the nearest of these. No SystemC.
#pragma once

#include <cstdint>
#include <optional>

#include "models/devices/simt/kernels/gemm_kernel.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/workload/dtype.h"

namespace systole::simt {

struct TunedSize {
    std::int64_t rows = 0, columns = 0, k = 0;
    friend bool operator==(const TunedSize&, const TunedSize&) = default;
};

/// The size by whose kernel PyTorch's library of 2023 computes a product of `rows` x `columns` on an MI200,
/// where B lies by rows of `columns`: rocBLAS's of ROCm 5. Of two that are as near, the first of the list
/// (the library: the one that was measured to be faster). Nothing for other formats.
std::optional<TunedSize> rocblas_size(DType dtype, const TunedSize& product);

/// The tile of its kernel, as far as the library's file was read; K is never in parts.
std::optional<CtaTile> rocblas_tile(DType dtype, const TunedSize& size);

/// Whether the library of this chip goes by tuned sizes: MFMA on one die, with PyTorch's kernels of 2023.
bool goes_by_tuned_sizes(const SimtSpec& spec, TensorIssue issue);

}  // namespace systole::simt
