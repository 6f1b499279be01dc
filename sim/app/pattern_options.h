// SPDX-License-Identifier: Apache-2.0
// Requests made by rule, as options of the command line say.
#pragma once

#include "models/memory/standards/dram_spec.h"
#include "models/traffic/pattern.h"
#include "sim/app/command.h"

namespace systole::app {

/// --pattern and the options that describe it.
void add_pattern(boost::program_options::options_description& options);

/// Throws UserError for values that no pattern, or not this one, can have on this memory.
PatternSpec read_pattern(const Arguments& arguments, const DramSpec& memory);

/// Throws UserError if one of these options is given; there is a trace then.
void refuse_pattern(const Arguments& arguments);

PatternTarget pattern_target(const DramSpec& memory);

}  // namespace systole::app
