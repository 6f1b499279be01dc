// SPDX-License-Identifier: Apache-2.0
// How figures of results stand out on a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/account/run_result.h"
#include "sim/base/text_table.h"

namespace systole {

/// The colour that a class has in reports, too, as near as xterm's 256 colours come to it.
Ink class_ink(SlotClass slot_class);
/// The ink of what a row is bound by: "compute", "host", "chips", ...; plain for "none".
Ink bound_ink(std::string_view bound);

/// Inks the cells of classes, which begin at column `first`, in the table's last row: the largest loss in its
/// class's colour, and what is 0.0 faint.
void ink_classes(TextTable& table, std::size_t first, const std::vector<SlotClass>& classes,
                 const ResultRow& row);

/// Utilization over the run's time, a fraction for each of `bins` equal parts of it: within a layer, its
/// average. Empty for a run without time.
std::vector<double> utilization_over_time(const DeviceResult& result, std::size_t bins);

/// "Left out for the terminal's width of 80: written, energy.\n"; empty if nothing was.
std::string left_out_line(const TextTable& table, const TextStyle& style);

}  // namespace systole
