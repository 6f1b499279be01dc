// SPDX-License-Identifier: Apache-2.0
// The warp program of a CTA that multiplies one row by columns of B on FP32 pipes, as libraries do where
// tensor cores would find too little to do (gemv): a warp has a column, or its threads share a few. At a step
// each of them loads 16 bytes of its column and of the row, `stages` times; when they are there it converts
// them, and multiplies and adds in fp32. In the end the lanes' sums are added up, and what the epilogue says
// is done to each result.
#pragma once

#include <cstdint>

#include "models/devices/simt/kernels/gemm_program.h"

namespace systole::simt {

/// `steps` steps along K, which may be none; `tile` of FP32 pipes, `formats.in` one that they convert.
CtaProgram gemv_program(const CtaTile& tile, const GemmFormats& formats, std::int64_t steps);

/// Loads of a warp in a step.
std::int64_t gemv_loads(const CtaTile& tile);

}  // namespace systole::simt
