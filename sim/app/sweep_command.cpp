// SPDX-License-Identifier: Apache-2.0
// systole sweep: thousands of points from one file.
#include <fmt/format.h>

#include "sim/app/commands.h"
#include "sim/app/files.h"
#include "sim/app/report_files.h"
#include "sim/app/sweep_cluster.h"
#include "sim/app/sweep_merged.h"
#include "sim/app/sweep_options.h"
#include "sim/app/sweep_order.h"
#include "sim/app/sweep_report.h"
#include "sim/app/sweep_session.h"
#include "sim/app/sweep_text.h"
#include "sim/app/terminal.h"
#include "sim/base/error.h"
#include "sim/config/quantity.h"

namespace systole::app {
namespace {

constexpr const char* kAbout =
    R"(EXPERIMENT is a name ('systole list experiments') or a YAML file (docs/formats.md), such as
    device: tpu_v4                           # or a list
    trace: bert_base
    axes:
      mxu.rows: [32, 64, 128, 256]           # also {linear: [FROM, TO, COUNT]}, {zip: {PATH: ...}}
      workload.batch: {log2: [1, 64]}
    where: mxu.rows <= 32 * workload.batch
    objectives: [time_ns, {max: utilization}]
Every point runs in a process of its own; its result is a file below DIR, and what is finished never
runs again. 'systole sweep VERB DIR' goes on with what is there:
  status DIR   how many points are finished, which failed and why
  resume DIR   run what has no result yet, failed points included, and merge
  merge DIR    write points.csv, points.sqlite and front.csv from what is finished
  chunk DIR K  run the K-th chunk of points (from 0), for a scheduler of your own
Exit code 0: every point has run, or was submitted; 2: the input is wrong, and nothing ran, or all has
run, and the report cannot be written;
4: some points have no result, or their device refuses them; 130: interrupted, resume goes on.
)";

/// The exit code of a sweep that has run, and whose report could not be written.
constexpr int kNoReport = 2;

/// The sweep on this machine or on a cluster.
int execute(const SweepOrder& order, Session& session) {
    if (order.on_slurm) return submit_to_slurm(order, session);
    return run_and_conclude(session, runner_options(order, session.experiment, own_cores()));
}

/// The report that was asked for, of what has results now. `code` is what came of the sweep; the exit code of
/// both.
int report(const std::optional<ReportPlace>& place, const Session& session, int code) {
    if (!place || code == kInterrupted) return code;
    try {
        write_report(*place, sweep_report(session));
    } catch (const UserError& error) {
        complain(error.what());
        return code == 0 ? kNoReport : code;
    }
    return code;
}

int start(const SweepOrder& order, const std::optional<ReportPlace>& place) {
    Session session = plan_session(order);
    if (!order.plan_only) {
        return report(place, session, execute(order, session));
    }
    // Whoever is told numbers of chunks gives them to others.
    session.folder.fix_chunk_points(session.folder.identity().chunk_points);
    print(plan_text(session.folder.manifest().size(), session.chunks(),
                    session.folder.identity().chunk_points));
    return 0;
}

int chunk(const SweepOrder& order, const Session& session) {
    const auto chunks = static_cast<std::int64_t>(session.chunks());
    const auto number = config::parse_integer(order.chunk, 0, chunks - 1);
    if (!number.value)
        throw UserError(
            fmt::format("the number of the chunk: {} (chunks are 0 to {})", number.problem, chunks - 1));
    const sweep::RunnerReport report =
        run_here(session, session.open_points(static_cast<std::size_t>(*number.value)),
                 runner_options(order, session.experiment, own_cores()));
    if (report.failed > 0) complain(failures_text(report.failures));
    return report.stopped ? kInterrupted : report.failed > 0 ? kSomePointsFailed : 0;
}

int status(const SweepOrder& order, const Session& session) {
    const SweepStatus status = status_of(session.folder);
    print(order.json ? to_json(status) : to_text(status) + slurm_text(session));
    return status.tally.done == status.tally.points ? 0 : kSomePointsFailed;
}

int sweep(const Arguments& arguments) {
    const SweepOrder order = read_order(arguments);
    const std::optional<ReportPlace> place = report_place(
        arguments, order.output.empty() ? std::nullopt : std::optional<std::filesystem::path>(order.output));
    if (place)
        refuse_one_place({{{"--report", place->file}},
                          order.output.empty() ? order.subject : order.output,
                          sweep_files(),
                          {order.subject}});
    if (order.verb == SweepOrder::Verb::Start) return start(order, place);
    Session session = open_session(order);
    if (order.verb == SweepOrder::Verb::Status) return status(order, session);
    if (order.verb == SweepOrder::Verb::Chunk) return chunk(order, session);
    if (order.chunk_points) session.folder.fix_chunk_points(*order.chunk_points);
    return report(place, session,
                  order.verb == SweepOrder::Verb::Merge ? conclude(session) : execute(order, session));
}

}  // namespace

Command sweep_command() {
    Command command;
    command.name = "sweep";
    command.summary = "Simulate every point of an experiment, on this machine or a cluster.";
    command.arguments = {"EXPERIMENT|VERB", "[DIR]", "[K]"};
    command.about = kAbout;
    add_order(command.options);
    command.examples = {
        {"systole sweep tpu_v4_array -o out/array", "array sizes against batches, and the best of them"},
        {"systole sweep mine.yaml -j 2 -o out/mine --time-limit '60 s'", "no point for longer than a minute"},
        {"systole sweep status out/mine", "what is finished, what failed, and why"},
        {"systole sweep resume out/mine", "after Ctrl-C, a crash or a full disk"},
        {"systole sweep mine.yaml -o out/mine --plan", "how many points it would be"},
        {"systole sweep mine.yaml -o out/mine --executor slurm --sbatch=--partition=long",
         "as arrays of tasks, and a merge behind them"}};
    command.run = sweep;
    return command;
}

}  // namespace systole::app
