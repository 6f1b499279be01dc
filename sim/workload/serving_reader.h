// SPDX-License-Identifier: Apache-2.0
// The key `serving` of a trace: which step of a language model it is.
#pragma once

#include <optional>

#include "sim/base/serving.h"
#include "sim/workload/parameters.h"

namespace systole {

/// Nothing after a mistake, which it has recorded.
std::optional<ServingStep> read_serving(const config::YamlNode& node, const Parameters& parameters,
                                        Mistakes& mistakes);

}  // namespace systole
