// SPDX-License-Identifier: Apache-2.0
// Norms as torch.compile made them in 2023 (TorchInductor 2.0): a CTA a row, which is read for its mean, for
// the squares of what differs from that, and for the results; rows of up to 1024 elements are read once, and
// stay in registers. Sums go through shuffles and shared memory.
#pragma once

#include "models/devices/simt/kernels/vector_kernel.h"
#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

/// `set_up`: ahead of all; `columns`: loads of gains and shifts.
WarpProgram inductor_norm(const VectorKernel& kernel, Section set_up, Section columns);

}  // namespace systole::simt
