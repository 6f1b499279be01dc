// SPDX-License-Identifier: Apache-2.0
// How a CTA in which no tensor core works goes on an SM, found by running its warps there.
#pragma once

#include <optional>

#include "models/devices/simt/kernels/cta_timing.h"
#include "models/devices/simt/kernels/vector_kernel.h"

namespace systole::simt {

/// One CTA alone with data that come late, so that each step's loads all wait; and with data that are there
/// at once, by how much longer twice as many CTAs as an SM holds take than these: what pipes take for them.
/// What follows the last step's loads is shared out among the steps in both, so that CTAs share the pipes for
/// it, too: there is no epilogue. Says in `kernel` where rows are read again. Nothing if none fits.
std::optional<CtaTiming> time_vector(VectorKernel& kernel, const SmSpec& sm);

}  // namespace systole::simt
