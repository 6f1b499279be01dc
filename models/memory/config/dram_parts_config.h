// SPDX-License-Identifier: Apache-2.0
// The parts of a DramSpec that dram_config.h reads one after the other. Mistakes are recorded in the section.
#pragma once

#include "models/memory/standards/constraint_table.h"
#include "models/memory/standards/dram_spec.h"
#include "sim/config/config.h"

namespace systole {

/// More clocks (or bursts) than any parameter has.
inline constexpr std::int64_t kMaxDramClocks = 1'000'000;

/// `timing.*`: what `table` names, against the relations that hold in every DRAM. The organisation and BL
/// have been read.
void read_dram_timing(const config::Section& memory, const ConstraintTable& table, DramSpec& spec);

/// What the controller may do: refresh, queues, page policy, limits.
void read_dram_policy(config::Section memory, const ConstraintTable& table, DramSpec& spec);

/// `energy.*`, wholly or not at all.
void read_dram_energy(const config::Section& memory, const ConstraintTable& table, DramSpec& spec);

}  // namespace systole
