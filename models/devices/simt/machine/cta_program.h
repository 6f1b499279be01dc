// SPDX-License-Identifier: Apache-2.0
// What the warps of a kernel's CTA execute.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/spec/spec.h"
#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

/// Of a CTA that has tiles with so many steps each, those with a mask among them. Of every kernel but
/// collectives.
CtaProgram cta_program(const KernelPlan& plan, const std::vector<std::array<std::int64_t, 2>>& tiles,
                       const SmSpec& sm);

}  // namespace systole::simt
