// SPDX-License-Identifier: Apache-2.0
// A device whose matrix units stream the first operand of a product row by row. Networks with products that
// take it transposed (gradients) reach it with a transpose before them, a layer of its own in results and
// mappings.
#pragma once

#include <memory>

#include "sim/device/device.h"

namespace systole::systolic {

/// `device`, for networks with such products, too.
std::unique_ptr<Device> with_transposes(std::unique_ptr<Device> device);

}  // namespace systole::systolic
