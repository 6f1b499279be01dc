// SPDX-License-Identifier: Apache-2.0
// What an imported network leaves to its reader: extents of symbolic dimensions,
// branches, and which arguments are inputs.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <string>

#include "sim/app/command.h"
#include "sim/app/import_file.h"

namespace systole::app {

/// --dim NAME=N and --branch NODE=then|else and --input NAME, each any number of times.
void add_import_choices(boost::program_options::options_description& options);
/// Where nothing is imported; `why` follows a colon. Throws UserError.
void refuse_import_choices(const Arguments& arguments, const std::string& why);
/// Throws UserError.
ImportChoices read_import_choices(const Arguments& arguments);

}  // namespace systole::app
