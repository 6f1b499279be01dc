// SPDX-License-Identifier: Apache-2.0
#include "sim/app/sweep_report.h"

#include <fmt/format.h>

#include "sim/app/sweep_merged.h"
#include "sim/base/error.h"

namespace systole::app {

report::Report sweep_report(const std::filesystem::path& folder) {
    SweepOrder order;
    order.verb = SweepOrder::Verb::Status;
    order.subject = folder.string();
    order.any_build = true;  // nothing is run: results are shown as they are
    return sweep_report(open_session(order));
}

report::Report sweep_report(const Session& session) {
    const sweep::MergedTable table = merge_results(session);
    if (table.tally.done == 0)
        throw UserError(fmt::format("'{}' has {} points, and none has a result yet: there is nothing to show",
                                    session.folder.path().string(), table.tally.points));
    report::SweepData data;
    data.title = session.experiment.title.empty() ? "A sweep" : session.experiment.title;
    for (const sweep::MergedColumn& column : table.columns)
        data.columns.push_back({column.name, column.is_number});
    data.rows = table.rows;
    for (const sweep::Objective& objective : session.experiment.objectives)
        data.objectives.push_back({objective.name, sweep::is_maximized(objective, session.simulator)});
    data.experiment = session.folder.identity().experiment;
    data.build = session.folder.identity().build;
    data.tally = {table.tally.points, table.tally.done, table.tally.refused, table.tally.failed,
                  table.tally.missing};
    report::Report report;
    report.program = session.folder.identity().program;
    report.sweeps.push_back(std::move(data));
    return report;
}

}  // namespace systole::app
