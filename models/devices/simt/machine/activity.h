// SPDX-License-Identifier: Apache-2.0
// What warps do that takes energy, counted in the programs that they execute.
#pragma once

#include <cstdint>

#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/spec/spec.h"
#include "models/devices/simt/warp/warp_program.h"
#include "sim/workload/dtype.h"

namespace systole::simt {

/// Counted by threads, not by warps.
struct WarpActivity {
    double instructions = 0;
    double register_bytes = 0;  ///< read and written
    double shared_bytes = 0;    ///< of shared memory, read and written by warps and tensor cores
    double fp32 = 0, integer = 0, special = 0;  ///< operations beside products

    WarpActivity& operator+=(const WarpActivity& other);
    friend WarpActivity operator*(double n, const WarpActivity& one);
};

/// Of all warps of a CTA. `operands`: the format of what tensor cores multiply.
WarpActivity activity_of(const CtaProgram& program, const SmSpec& sm, DType operands);

/// Of all CTAs of a kernel, which have `steps` steps together: of whole steps each, as many as there are on
/// average, or the numbers around that. Nothing of collectives.
WarpActivity activity_of(const KernelPlan& plan, std::int64_t ctas, std::int64_t steps, const SmSpec& sm,
                         DType operands);

}  // namespace systole::simt
