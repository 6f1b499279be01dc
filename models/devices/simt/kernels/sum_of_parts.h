// SPDX-License-Identifier: Apache-2.0
// The second kernel of a product that was split along K: it adds the sums of the parts, and does what the
// epilogue says.
#pragma once

#include <optional>

#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/spec/spec.h"

namespace systole::simt {

/// Bytes of the sums of all parts of K. Nothing where they leave 63 bits.
std::optional<Bytes> sums_of_parts(const GemmKernel& kernel);

StreamPlan sum_of_parts(const GemmPlan& gemm, const SmSpec& sm);

}  // namespace systole::simt
