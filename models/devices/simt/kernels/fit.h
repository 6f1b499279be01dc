// SPDX-License-Identifier: Apache-2.0
// What keeps all kernels of the catalogue away from an SM.
#pragma once

#include <string>

#include "models/devices/simt/kernels/gemm_program.h"
#include "models/devices/simt/spec/spec.h"

namespace systole::simt {

/// Of an SM that no kernel for these formats fits: "sm.warps is 4 and sm.registers is 1024", the sizes that
/// are too small for every kernel, however large all others were; all sizes, if it is several together.
std::string what_is_too_small(const SmSpec& sm, const GemmFormats& formats);

}  // namespace systole::simt
