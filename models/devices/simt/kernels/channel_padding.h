// SPDX-License-Identifier: Apache-2.0
// A copy of a feature map whose pixels are padded to whole loads of 16 bytes, as cuDNN makes one for first
// layers (nhwcAddPaddingKernel in its traces): tensor cores' kernels load no less.
#pragma once

#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/spec/spec.h"

namespace systole::simt {

/// Bytes of the copy; 0: loads take the map as it is.
Bytes padded_bytes(const GemmShape& shape);

/// The kernel that makes it, at `to`.
StreamPlan pad_channels(const GemmShape& shape, const MatrixPlace& from, const MatrixPlace& to,
                        const SmSpec& sm);

}  // namespace systole::simt
