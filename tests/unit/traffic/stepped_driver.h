// SPDX-License-Identifier: Apache-2.0
// The golden driver as its definition reads: a loop over all clocks that injects, ticks and collects. Slow
// and obviously right; the driver by events must serve every request at the same clocks.
#pragma once

#include <vector>

#include "models/memory/standards/dram_spec.h"
#include "models/traffic/traffic_driver.h"

namespace systole::test {

/// By index.
std::vector<Served> drive_stepped(const DramSpec& spec, const std::vector<MemoryRequest>& requests,
                                  const DriveOptions& options);

}  // namespace systole::test
