// SPDX-License-Identifier: Apache-2.0
// Which kernel makes a product, as a library of kernels would choose it.
#pragma once

#include "models/devices/simt/kernels/cta_timing.h"
#include "models/devices/simt/kernels/gemm_kernel.h"
#include "models/devices/simt/spec/spec.h"

namespace systole::simt {

/// A kernel that fits the SMs, whose tensor cores must take the shape's operands.
GemmKernel choose_gemm(const GemmShape& shape, const SimtSpec& spec);

/// How its CTAs go. Throws UserError if none fits an SM.
CtaTiming time_cta(const GemmKernel& kernel, const SimtSpec& spec);

}  // namespace systole::simt
