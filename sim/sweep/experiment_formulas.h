// SPDX-License-Identifier: Apache-2.0
// What an experiment computes: derived values, conditions, objectives. Null nodes have none.
#pragma once

#include <string>
#include <vector>

#include "sim/base/mistakes.h"
#include "sim/config/yaml.h"
#include "sim/sweep/experiment.h"

namespace systole::sweep {

std::vector<Derived> read_derived(const config::YamlNode* node, const std::vector<std::string>& devices,
                                  Mistakes& mistakes);
std::vector<Condition> read_conditions(const config::YamlNode* node, const std::vector<std::string>& devices,
                                       Mistakes& mistakes);
std::vector<Objective> read_objectives(const config::YamlNode* node, Mistakes& mistakes);

}  // namespace systole::sweep
