// SPDX-License-Identifier: Apache-2.0
// The warp program of a CTA that multiplies with wgmma: one warp copies, groups of four warps multiply.
#pragma once

#include <cstdint>
#include <vector>

#include "models/devices/simt/kernels/gemm_program.h"

namespace systole::simt {

/// For tiles of so many steps along K, one behind the other; without its shared memory. The tile must divide.
CtaProgram group_mma_program(const CtaTile& tile, const GemmFormats& formats,
                             const std::vector<std::int64_t>& tiles);

}  // namespace systole::simt
