// SPDX-License-Identifier: Apache-2.0
// How a CTA of a GEMM goes on an SM, found by running its warps there.
#pragma once

#include <optional>

#include "models/devices/simt/kernels/cta_timing.h"
#include "models/devices/simt/kernels/gemm_program.h"
#include "models/devices/simt/spec/spec.h"

namespace systole::simt {

/// Simulates the kernel's warps with data that are there at once: one CTA alone, and as many as an SM holds.
/// Nothing if none fits, or if the tile cannot be cut among its warps. The tensor cores must take
/// `formats.in`.
std::optional<CtaTiming> time_cta(const CtaTile& tile, const GemmFormats& formats, const SmSpec& sm);

}  // namespace systole::simt
