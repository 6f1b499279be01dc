// SPDX-License-Identifier: Apache-2.0
// systole sweep: thousands of points from one file.
#include <fmt/format.h>

#include <algorithm>

#include "sim/app/commands.h"
#include "sim/app/shared_options.h"
#include "sim/app/sweep_cluster.h"
#include "sim/app/sweep_options.h"
#include "sim/app/sweep_session.h"
#include "sim/app/sweep_text.h"
#include "sim/app/terminal.h"
#include "sim/base/error.h"
#include "sim/base/text.h"
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
Exit code 0: every point has run, or was submitted; 2: the input is wrong, and nothing ran;
4: some points have no result, or their device refuses them; 130: interrupted, resume goes on.
)";

const std::vector<std::string> kVerbs{"status", "resume", "merge", "chunk"};

/// The sweep on this machine or on a cluster, as --executor says.
int execute(const Arguments& arguments, Session session) {
    if (arguments.choice("executor", {"local", "slurm"}) == "slurm")
        return submit_to_slurm(arguments, session);
    if (!arguments.list("sbatch").empty()) arguments.misused("--sbatch is for --executor slurm");
    return run_and_conclude(session, runner_options(arguments, session.experiment, own_cores()));
}

int start(const Arguments& arguments, const std::string& experiment) {
    if (arguments.count() > 1)
        arguments.misused(fmt::format("'{}' is one argument too many{}", arguments.at(1),
                                      did_you_mean(experiment, kVerbs)));
    Session session = plan_session(arguments, experiment);
    if (!arguments.has("plan")) return execute(arguments, std::move(session));
    print(fmt::format("{} points, {} chunks of {}\n",
                      with_thousands(static_cast<std::int64_t>(session.folder.manifest().size())),
                      with_thousands(static_cast<std::int64_t>(session.chunks())),
                      session.folder.identity().chunk_points));
    return 0;
}

int chunk(const Arguments& arguments, const Session& session, const std::string& text) {
    const auto number = config::parse_integer(text, 0, static_cast<std::int64_t>(session.chunks()) - 1);
    if (!number.value) throw UserError(fmt::format("the number of the chunk: {}", number.problem));
    const sweep::RunnerReport report =
        run_here(session, session.open_points(static_cast<std::size_t>(*number.value)),
                 runner_options(arguments, session.experiment, own_cores()));
    if (!report.failures.empty()) complain(failures_text(report.failures));
    return report.stopped ? kInterrupted : report.failed() > 0 ? kSomePointsFailed : 0;
}

int status(const Arguments& arguments, const Session& session) {
    const std::string format = arguments.choice("format", {"text", "json"});
    const SweepStatus status = status_of(session.folder);
    print(format == "json" ? to_json(status) : to_text(status) + slurm_text(session));
    return status.done == status.points ? 0 : kSomePointsFailed;
}

int sweep(const Arguments& arguments) {
    const std::string& verb = arguments.at(0);
    if (std::find(kVerbs.begin(), kVerbs.end(), verb) == kVerbs.end()) return start(arguments, verb);
    if (arguments.count() < 2)
        arguments.misused(
            fmt::format("missing the folder of the sweep; for example: systole sweep {} out/sweep{}", verb,
                        verb == "chunk" ? " 0" : ""));
    const std::size_t most = verb == "chunk" ? 3 : 2;
    if (arguments.count() > most)
        arguments.misused(fmt::format("'{}' is one argument too many", arguments.at(most)));
    if (verb == "chunk" && arguments.count() < most)
        arguments.misused("missing the number of the chunk; for example: systole sweep chunk out/sweep 0");
    Session session = open_session(arguments, arguments.at(1));
    if (verb == "status") return status(arguments, session);
    if (verb == "merge") return conclude(session);
    if (verb == "chunk") return chunk(arguments, session, arguments.at(2));
    return execute(arguments, std::move(session));
}

}  // namespace

Command sweep_command() {
    Command command;
    command.name = "sweep";
    command.summary = "Simulate every point of an experiment, on this machine or a cluster.";
    command.arguments = {"EXPERIMENT|VERB", "[DIR]", "[K]"};
    command.about = kAbout;
    add_option(command.options, "output,o", "DIR", "the folder of the sweep");
    add_option(command.options, "jobs,j", "N", "points at once (default: the machine's cores)");
    add_option(command.options, "time-limit", "TIME",
               "of one point, '60 s' (default: the experiment's, 3600 s)");
    add_option(command.options, "memory-limit", "SIZE",
               "of one point, '2 GiB' (default: the experiment's, or the machine's memory by N)");
    add_option(command.options, "chunk-points", "N",
               "points of a chunk (default: 100; under Slurm, what takes three minutes)");
    add_option(command.options, "executor", "WHO",
               "runs the points: local (default), this machine; slurm, a cluster");
    add_list(command.options, "sbatch", "OPTION",
             "of sbatch for the sweep's jobs (--sbatch=--partition=long); may be repeated");
    add_flag(command.options, "plan", "write the manifest of points and run nothing");
    add_flag(command.options, "any-build", "go on with what another build of this version has begun");
    add_flag(command.options, "yes", "more than 1,000,000 combinations are meant");
    add_option(command.options, "format", "FORMAT", "of 'status': text (default) or json");
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
