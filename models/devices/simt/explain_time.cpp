// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/explain_time.h"

#include <cmath>

#include "sim/base/text.h"

namespace systole::simt {

std::string time_of(double cycles, const SimtSpec& spec) {
    return format_time(Ticks(std::llround(cycles / static_cast<double>(spec.core_clock.value()) *
                                          static_cast<double>(kTicksPerSecond))));
}

}  // namespace systole::simt
