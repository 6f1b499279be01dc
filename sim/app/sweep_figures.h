// SPDX-License-Identifier: Apache-2.0
// The figures of a result that sweeps put into their tables.
#pragma once

#include <string>
#include <vector>

#include "sim/account/run_result.h"
#include "sim/sweep/simulator.h"

namespace systole::app {

/// In the order of their columns.
const std::vector<sweep::MetricKind>& figure_kinds();
/// One for each of figure_kinds().
std::vector<sweep::Metric> figures(const DeviceResult& result);

/// Why a run of a trace cannot have a figure of cost, by what the trace says of it (tell_trace); "" if it
/// can.
std::string missing_for_figure(const DeviceResult& said, const std::string& figure);

}  // namespace systole::app
