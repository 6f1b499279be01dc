// SPDX-License-Identifier: Apache-2.0
// The constraint tables of the standards, one builder a family: what its members share is written once. Read
// them through constraint_table.h.
#pragma once

#include "models/memory/standards/constraint_table.h"

namespace systole::standards {

// standards_hbm.cpp: two command buses, shared by the pseudo-channels
ConstraintTable hbm2();
ConstraintTable hbm2e();
ConstraintTable hbm3();
ConstraintTable hbm3e();

// standards_one_bus.cpp: one command bus
ConstraintTable ddr3();
ConstraintTable ddr4();
ConstraintTable gddr6();
ConstraintTable lpddr5();

/// The columns' commands, with and without auto-precharge: on the data bus they are the same.
inline const std::vector<Command> kReads{Command::Read, Command::ReadAp};
inline const std::vector<Command> kWrites{Command::Write, Command::WriteAp};

void append(std::vector<ConstraintRow>& rows, std::vector<ConstraintRow> more);

/// Columns on the data bus of a standard with bank groups.
std::vector<ConstraintRow> grouped_columns();

}  // namespace systole::standards
