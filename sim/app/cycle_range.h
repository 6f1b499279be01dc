// SPDX-License-Identifier: Apache-2.0
// A range of cycles as the command line has it.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/app/command.h"

namespace systole::app {

/// FROM:TO, either end of which may be missing.
struct CycleRange {
    std::optional<std::int64_t> from, to;
};

/// The value of that option, or a range without ends. Throws UserError for what is no range, or empty.
CycleRange read_cycle_range(const Arguments& arguments, const char* option);

}  // namespace systole::app
