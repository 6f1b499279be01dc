// SPDX-License-Identifier: Apache-2.0
// One run of a dataflow explorer's page: what to run on which device, and the recording of its array as JSON
// (docs/formats.md). Several stand side by side.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/app/cycle_range.h"
#include "sim/app/import_file.h"
#include "sim/app/library.h"
#include "sim/app/op_question.h"

namespace systole::app {

struct ExploredRun {
    std::string title;                  ///< "weight stationary"
    std::string device;                 ///< reference
    std::string trace;                  ///< reference; empty: the operator
    OpQuestion question;                ///< the operator
    std::vector<std::string> settings;  ///< as --set has them
    ImportChoices choices;              ///< of an imported trace
};

/// Runs and records; registers of the cycles of `range` only. Throws UserError for what the device cannot
/// run, devices without a systolic array, arrays and runs that are too large for a page, and ranges beyond
/// the run.
nlohmann::ordered_json explore(const Library& library, const ExploredRun& run, const CycleRange& range);

}  // namespace systole::app
