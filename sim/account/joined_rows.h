// SPDX-License-Identifier: Apache-2.0
// Rows of several devices side by side, where one does in one row what another does in several: elementwise
// work in the product before it, layers that one kernel does, attention as products and a softmax.
#pragma once

#include <string>
#include <vector>

#include "sim/account/run_result.h"

namespace systole {

/// A layer that a device does, or may do, in the row of another one.
struct Join {
    std::string layer, with;
    friend bool operator==(const Join&, const Join&) = default;
};
using Joins = std::vector<Join>;

/// By device, its rows. Where some device has no row of a layer of `joins`, this and that of the layer with
/// which it is done are one on every device, under the latter's name. After that all devices have the same
/// layers, or it is a failed check.
std::vector<std::vector<ResultRow>> rows_alike(const std::vector<DeviceResult>& devices, const Joins& joins);

}  // namespace systole
