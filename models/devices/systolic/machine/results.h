// SPDX-License-Identifier: Apache-2.0
// Turns what a machine has recorded into the common result, and holds it to the invariants.
#pragma once

#include "models/devices/systolic/machine/machine.h"
#include "sim/account/run_result.h"

namespace systole::systolic {

/// The result of a finished run, invariants checked. Names of device and tensors, and the effective
/// configuration, are the caller's to add.
DeviceResult result_of(Machine& machine, const SystolicSpec& spec, const Protocol& protocol);

}  // namespace systole::systolic
