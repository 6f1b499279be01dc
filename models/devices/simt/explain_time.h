// SPDX-License-Identifier: Apache-2.0
// Cycles of a GPU as people read them.
#pragma once

#include <string>

#include "models/devices/simt/spec/spec.h"

namespace systole::simt {

/// What so many cycles take at the clock before any power cap: "12.3 us".
std::string time_of(double cycles, const SimtSpec& spec);

}  // namespace systole::simt
