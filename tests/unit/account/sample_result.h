// SPDX-License-Identifier: Apache-2.0
// A small result made by hand that keeps every promise: two layers on a unit of 4 slots at 1 GHz, 100 cycles.
#pragma once

#include "sim/account/invariants.h"

namespace systole::test {

DeviceResult sample_result();
Expectations sample_expectations();

}  // namespace systole::test
