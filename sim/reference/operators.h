// SPDX-License-Identifier: Apache-2.0
// The keys of every operator of a trace, as its reader asks for them.
#pragma once

#include <string>
#include <vector>

#include "sim/workload/key_survey.h"

namespace systole::reference {

struct OperatorKeys {
    std::string name;      ///< "conv2d"
    std::size_t operands;  ///< tensors that it reads
    bool or_more = false;
    std::vector<KeyQuestion> keys;
};

/// In the order of the readers' table. `in`, `name` and `op`, which every layer has, are left out.
std::vector<OperatorKeys> operator_keys();

}  // namespace systole::reference
