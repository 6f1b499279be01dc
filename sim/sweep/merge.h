// SPDX-License-Identifier: Apache-2.0
// Results of points as one table, in the manifest's order: the same bytes however often a sweep was broken
// off.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/sweep/experiment.h"
#include "sim/sweep/folder.h"
#include "sim/sweep/outcome.h"
#include "sim/sweep/simulator.h"

namespace systole::sweep {

struct MergedColumn {
    std::string name;
    bool is_number = false;  ///< every cell is one, or empty
};

/// A row for each point of the manifest: id, device, trace, its columns, status ("done", "refused", "failed"
/// or "missing"), error, the figures, objectives that are no figure, and pareto (1: on the front; 0; empty:
/// not comparable).
struct MergedTable {
    std::vector<MergedColumn> columns;
    std::vector<std::vector<std::string>> rows;
    std::vector<std::size_t> front;  ///< rows, the best by the first objective first
    Tally tally;
    std::size_t column(const std::string& name) const;
};

/// Whether more of it is better: as the experiment says, else as the figure means it.
bool is_maximized(const Objective& objective, const Simulator& simulator);

MergedTable merge(const Folder& folder, const Experiment& experiment, const Simulator& simulator);

std::string to_csv(const MergedTable& table);
/// Of the front alone.
std::string front_csv(const MergedTable& table);

}  // namespace systole::sweep
