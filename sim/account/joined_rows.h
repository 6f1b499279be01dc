// SPDX-License-Identifier: Apache-2.0
// Rows of several devices side by side, where one does elementwise work in the product before it and another
// in a layer of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/account/run_result.h"

namespace systole {

/// Layers that can join another one: by name, which.
using Joins = std::map<std::string, std::string>;

/// By device, its rows. Where one device did a layer of `joins` in the layer that it can join, the rows of
/// both are one on every device. After that all devices have the same layers, or it is a failed check.
std::vector<std::vector<ResultRow>> rows_alike(const std::vector<DeviceResult>& devices, const Joins& joins);

}  // namespace systole
