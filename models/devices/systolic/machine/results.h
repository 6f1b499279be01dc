// SPDX-License-Identifier: Apache-2.0
// Turns what a machine has recorded into the common result, and holds it to the invariants.
#pragma once

#include "models/devices/systolic/machine/machine.h"
#include "sim/device/reuse.h"

namespace systole::systolic {

/// The result of a finished run, invariants checked, with the marks that the machine was asked for after so
/// many layers. Names of device and tensors, and the effective configuration, are the caller's to add.
MarkedRun marked_run(Machine& machine, const SystolicSpec& spec, const Protocol& protocol,
                     const std::vector<std::size_t>& marks = {});

/// When the memory refreshes, as far as that is known before it runs.
Refreshes refreshes_of(const DramSpec& memory);

/// What all matrix units together do at the formats of a layer.
MacRate peak_of(const SystolicSpec& spec, const LayerInfo& layer);

/// Its result alone.
inline DeviceResult result_of(Machine& machine, const SystolicSpec& spec, const Protocol& protocol) {
    return marked_run(machine, spec, protocol).checked.result;
}

}  // namespace systole::systolic
