// SPDX-License-Identifier: Apache-2.0
// An operator as the words of a command line say it: "matmul m=512 n=512 k=512". Every command that takes one
// reads it here.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/app/command.h"
#include "sim/app/load_device.h"
#include "sim/app/op_rows.h"

namespace systole::app {

struct OpQuestion {
    std::string op;
    std::vector<std::string> names, values;  ///< in the order given
    OperatorKeys keys;                       ///< the same, by name
};

/// Argument `first` is the operator's name, all behind it are key=value. Throws UserError for words of
/// another form and keys given twice; whether operator and keys exist is found by operator_graph().
OpQuestion read_op_question(const Arguments& arguments, std::size_t first);

}  // namespace systole::app
