// SPDX-License-Identifier: Apache-2.0
// The manual page and the page of commands, out of the declarations that --help shows.
#pragma once

#include <string>
#include <vector>

#include "sim/app/command.h"

namespace systole::app {

/// systole(1), for man: troff with the macros of man(7), without a date.
std::string man_page(const std::vector<Command>& commands);

/// The help of every command, in Markdown.
std::string command_page(const std::vector<Command>& commands);

}  // namespace systole::app
