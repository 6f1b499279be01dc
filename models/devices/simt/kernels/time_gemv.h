// SPDX-License-Identifier: Apache-2.0
// How a CTA that multiplies on FP32 pipes goes on an SM, found by running its warps there.
#pragma once

#include <optional>

#include "models/devices/simt/kernels/cta_timing.h"
#include "models/devices/simt/kernels/gemm_program.h"
#include "models/devices/simt/spec/spec.h"

namespace systole::simt {

/// As time_cta: one CTA alone with data that come late, so that each step's loads all wait; and as many CTAs
/// as an SM holds, with data that are there at once. Nothing if none fits.
std::optional<CtaTiming> time_gemv(const CtaTile& tile, const GemmFormats& formats, const SmSpec& sm);

}  // namespace systole::simt
