// SPDX-License-Identifier: Apache-2.0
// The warp program of a CTA of a kernel that no tensor core works in. All arithmetic is in fp32. Sums and
// maxima of a row go through a warp by shuffles, and between warps through shared memory and barriers; rows
// that are read again come out of the L1, which passes them as shared memory does (SharedLoad), or are asked
// for again where they do not stay there. Warps at the edges do as the others: what they load and store is
// predicated.
#pragma once

#include "models/devices/simt/kernels/vector_kernel.h"
#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

CtaProgram vector_program(const VectorKernel& kernel);

}  // namespace systole::simt
