// SPDX-License-Identifier: Apache-2.0
// The list of commands, and the way from a command line to one of them.
#pragma once

#include <string>
#include <vector>

#include "sim/app/command.h"

namespace systole::app {

Command run_command();
Command compare_command();
Command op_command();
Command explain_command();
Command explore_command();
Command wave_command();
Command dram_command();
Command lower_command();
Command list_command();
Command show_command();
Command import_command();
Command trace_command();
Command sweep_command();
Command report_command();
Command reference_command();

/// All commands, in the order in which help lists them.
std::vector<Command> commands();

/// Does what the words after the program's name ask for and answers the exit code; throws UserError.
int dispatch(const std::vector<std::string>& words);

}  // namespace systole::app
