// SPDX-License-Identifier: Apache-2.0
// The key `batch_of` of a trace: what it is a batch of, and how many.
#pragma once

#include <optional>

#include "sim/base/batch_of.h"
#include "sim/workload/parameters.h"

namespace systole {

/// Nothing after a mistake, which it has recorded.
std::optional<BatchOf> read_batch_of(const config::YamlNode& node, const Parameters& parameters,
                                     Mistakes& mistakes);

}  // namespace systole
