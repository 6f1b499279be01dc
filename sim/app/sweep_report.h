// SPDX-License-Identifier: Apache-2.0
// A sweep as what the report's page draws.
#pragma once

#include <filesystem>

#include "sim/app/sweep_session.h"
#include "sim/report/report.h"

namespace systole::app {

/// What is finished of the sweep in `folder`. Throws UserError: it is no sweep's, or no point has a result.
report::Report sweep_report(const std::filesystem::path& folder);
report::Report sweep_report(const Session& session);

}  // namespace systole::app
