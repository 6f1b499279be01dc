// SPDX-License-Identifier: Apache-2.0
// systole sweep: thousands of points from one file.
#include <fmt/format.h>

#include <algorithm>

#include "sim/app/commands.h"
#include "sim/app/shared_options.h"
#include "sim/app/sweep_session.h"
#include "sim/app/terminal.h"
#include "sim/base/error.h"

namespace systole::app {
namespace {

const std::vector<std::string> kVerbs{"status", "resume", "merge", "chunk"};

int sweep(const Arguments& arguments) {
    const std::string& first = arguments.at(0);
    const bool is_verb = std::find(kVerbs.begin(), kVerbs.end(), first) != kVerbs.end();
    if (!is_verb) {
        if (arguments.count() > 1)
            arguments.misused(
                fmt::format("'{}' is one argument too many{}", arguments.at(1), did_you_mean(first, kVerbs)));
        return sweep_experiment(arguments, first);
    }
    if (arguments.count() < 2)
        arguments.misused(
            fmt::format("missing the folder of the sweep; for example: systole sweep {} out/sweep{}", first,
                        first == "chunk" ? " 0" : ""));
    if (arguments.count() > (first == "chunk" ? 3U : 2U))
        arguments.misused(fmt::format("'{}' is one argument too many", arguments.at(arguments.count() - 1)));
    const std::string& folder = arguments.at(1);
    if (first == "status") return sweep_status(arguments, folder);
    if (first == "merge") return sweep_merge(folder);
    if (first == "resume") return sweep_resume(arguments, folder);
    if (arguments.count() < 3)
        arguments.misused("missing the number of the chunk; for example: systole sweep chunk out/sweep 0");
    return sweep_chunk(arguments, folder, arguments.at(2));
}

}  // namespace

Command sweep_command() {
    Command command;
    command.name = "sweep";
    command.summary = "Simulate every point of an experiment, on this machine or a cluster.";
    command.arguments = {"EXPERIMENT|VERB", "[DIR]", "[K]"};
    command.about =
        "EXPERIMENT is a name ('systole list experiments') or a YAML file (docs/formats.md): devices, "
        "traces,\n"
        "axes, constraints, objectives. Every point runs in a process of its own; its result is a file "
        "below\n"
        "DIR, and what is finished never runs again. 'systole sweep VERB DIR' goes on with what is there:\n"
        "  status DIR   how many points are finished, which failed and why\n"
        "  resume DIR   run what has no result yet, failed points included, and merge\n"
        "  merge DIR    write points.csv, points.sqlite and front.csv from what is finished\n"
        "  chunk DIR K  run the K-th chunk of points (from 0), for a scheduler of your own\n"
        "Exit code 0: every point has run; 2: the input is wrong, and nothing ran; 4: some points have no\n"
        "result or were refused by their device (status says why); 130: interrupted, resume goes on.\n";
    add_option(command.options, "output,o", "DIR", "the folder of the sweep");
    add_option(command.options, "jobs,j", "N", "points at once (default: the machine's cores)");
    add_option(command.options, "time-limit", "TIME",
               "of one point, '60 s' (default: the experiment's, 3600 s)");
    add_option(command.options, "memory-limit", "SIZE",
               "of one point, '2 GiB' (default: the experiment's, or the machine's memory by N)");
    add_option(command.options, "chunk-points", "N", "points of a chunk (default: 100)");
    add_flag(command.options, "plan", "write the manifest of points and run nothing");
    add_flag(command.options, "yes", "more than 1,000,000 combinations are meant");
    add_option(command.options, "format", "FORMAT", "of 'status': text (default) or json");
    command.examples = {
        {"systole sweep tpu_v4_array -o out/array", "array sizes against batches, and the best of them"},
        {"systole sweep mine.yaml -j 2 -o out/mine --time-limit '60 s'", "no point for longer than a minute"},
        {"systole sweep status out/mine", "what is finished, what failed, and why"},
        {"systole sweep resume out/mine", "after Ctrl-C, a crash or a full disk"},
        {"systole sweep mine.yaml -o out/mine --plan", "how many points it would be"}};
    command.run = sweep;
    return command;
}

}  // namespace systole::app
