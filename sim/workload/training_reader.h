// SPDX-License-Identifier: Apache-2.0
// The key `training` of a trace: how its network is trained.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/workload/graph.h"
#include "sim/workload/parameters.h"

namespace systole {

/// "sgd", "momentum", "adam", in the order of Optimizer::Kind.
const std::vector<std::string>& optimizer_names();
/// "none", "blocks": what is computed again on the way back.
const std::vector<std::string>& recompute_names();

/// Nothing after a mistake, which it has recorded.
std::optional<Training> read_training(const config::YamlNode& node, const Parameters& parameters,
                                      Mistakes& mistakes);

}  // namespace systole
