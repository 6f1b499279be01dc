// SPDX-License-Identifier: Apache-2.0
#include "sim/app/sweep_order.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>

#include "sim/app/shared_options.h"
#include "sim/base/error.h"
#include "sim/config/quantity.h"

namespace systole::app {
namespace {

using Verb = SweepOrder::Verb;

const std::vector<std::string> kVerbs{"status", "resume", "merge", "chunk"};  // in the order of the enum

const std::map<Verb, std::vector<std::string>> kOptions{
    {Verb::Start,
     {"output", "jobs", "time-limit", "memory-limit", "chunk-points", "executor", "sbatch", "plan", "report",
      "any-build", "yes"}},
    {Verb::Resume,
     {"jobs", "time-limit", "memory-limit", "chunk-points", "executor", "sbatch", "report", "any-build"}},
    {Verb::Chunk, {"jobs", "time-limit", "memory-limit", "any-build"}},
    {Verb::Merge, {"report", "any-build"}},
    {Verb::Status, {"format", "any-build"}}};

void refuse_other_options(const Arguments& arguments, Verb verb) {
    const std::vector<std::string>& own = kOptions.at(verb);
    for (const auto& [other, options] : kOptions)
        for (const std::string& option : options)
            if (arguments.has(option) && std::find(own.begin(), own.end(), option) == own.end())
                arguments.misused(fmt::format(
                    "--{} is no option of 'sweep {}', which takes --{}", option,
                    verb == Verb::Start ? "EXPERIMENT" : kVerbs[static_cast<std::size_t>(verb) - 1] + " DIR",
                    fmt::join(own, ", --")));
}

std::optional<std::int64_t> whole(const Arguments& arguments, const char* name, std::int64_t most) {
    const auto text = arguments.option(name);
    if (!text) return {};
    const auto value = config::parse_integer(*text, 1, most);
    if (!value.value) throw UserError({fmt::format("--{}", name)}, value.problem);
    return value.value;
}

std::optional<std::int64_t> quantity(const Arguments& arguments, const char* name,
                                     config::Dimension dimension, std::int64_t least) {
    const auto text = arguments.option(name);
    if (!text) return {};
    const auto value =
        config::parse_quantity(*text, dimension, least, std::numeric_limits<std::int64_t>::max() / 2);
    if (!value.value) throw UserError({fmt::format("--{}", name)}, value.problem);
    return value.value;
}

void read_words(const Arguments& arguments, SweepOrder& order) {
    const std::string& first = arguments.at(0);
    const auto verb = std::find(kVerbs.begin(), kVerbs.end(), first);
    if (verb == kVerbs.end()) {
        if (arguments.count() > 1)
            arguments.misused(fmt::format(
                "'{}' is one argument too many behind an experiment, and '{}' is no verb{}; expected {}",
                arguments.at(1), first, did_you_mean(first, kVerbs), fmt::join(kVerbs, ", ")));
        order.subject = first;
        return;
    }
    order.verb = static_cast<Verb>(verb - kVerbs.begin() + 1);
    const bool is_chunk = order.verb == Verb::Chunk;
    if (arguments.count() < 2)
        arguments.misused(
            fmt::format("missing the folder of the sweep; for example: systole sweep {} out/sweep{}", first,
                        is_chunk ? " 0" : ""));
    if (is_chunk && arguments.count() < 3)
        arguments.misused("missing the number of the chunk; for example: systole sweep chunk out/sweep 0");
    const std::size_t most = is_chunk ? 3 : 2;
    if (arguments.count() > most)
        arguments.misused(fmt::format("'{}' is one argument too many", arguments.at(most)));
    order.subject = arguments.at(1);
    if (is_chunk) order.chunk = arguments.at(2);
}

}  // namespace

void add_order(boost::program_options::options_description& options) {
    add_option(options, "output,o", "DIR", "of EXPERIMENT: the folder of the sweep");
    add_option(options, "jobs,j", "N",
               "points at once (default: the cores that this process may use; under Slurm 1)");
    add_option(options, "time-limit", "TIME", "of one point, '60 s' (default: the experiment's, 3600 s)");
    add_option(options, "memory-limit", "SIZE",
               "of one point, '2 GiB' (default: the experiment's, or the machine's memory by N)");
    add_option(
        options, "chunk-points", "N",
        "of EXPERIMENT and resume: points of a chunk (default: 100; under Slurm, what takes three minutes)");
    add_option(options, "executor", "WHO",
               "of EXPERIMENT and resume, runs the points: local (default), this machine; slurm, a cluster");
    add_list(options, "sbatch", "OPTION",
             "of sbatch for the sweep's jobs (--sbatch=--partition=long); may be repeated");
    add_flag(options, "plan", "of EXPERIMENT: write the manifest of points and run nothing");
    add_flag(options, "any-build", "go on with what another build of this version has begun");
    add_flag(options, "yes", "of EXPERIMENT: more than 1,000,000 combinations are meant");
    add_option(options, "report", "FILE",
               "of EXPERIMENT, resume and merge: also write a report there, for a browser");
    add_option(options, "format", "FORMAT", "of status: text (default) or json");
}

SweepOrder read_order(const Arguments& arguments) {
    constexpr std::int64_t kMostJobs = 1024, kMostChunkPoints = 1'000'000;
    constexpr std::int64_t kLeastTime = kTicksPerSecond / 1000, kLeastMemory = 32 << 20;
    SweepOrder order;
    read_words(arguments, order);
    refuse_other_options(arguments, order.verb);
    if (order.verb == Verb::Start) {
        const auto output = arguments.option("output");
        if (!output || output->empty())
            arguments.misused("missing the folder of the sweep; for example: -o out/sweep");
        order.output = *output;
    }
    if (const auto jobs = whole(arguments, "jobs", kMostJobs)) order.jobs = static_cast<int>(*jobs);
    if (const auto time = quantity(arguments, "time-limit", config::Dimension::Time, kLeastTime))
        order.time = Ticks(*time);
    if (const auto memory = quantity(arguments, "memory-limit", config::Dimension::Size, kLeastMemory))
        order.memory = Bytes(*memory);
    if (const auto points = whole(arguments, "chunk-points", kMostChunkPoints))
        order.chunk_points = static_cast<std::size_t>(*points);
    order.on_slurm = arguments.choice("executor", {"local", "slurm"}) == "slurm";
    order.sbatch = arguments.list("sbatch");
    if (arguments.has("report") && (arguments.has("plan") || order.on_slurm))
        arguments.misused("--report is of points with results; later 'systole report DIR' makes one");
    if (!order.sbatch.empty() && !order.on_slurm) arguments.misused("--sbatch is for --executor slurm");
    order.plan_only = arguments.has("plan");
    order.many = arguments.has("yes");
    order.any_build = arguments.has("any-build");
    order.json = arguments.choice("format", {"text", "json"}) == "json";
    return order;
}

}  // namespace systole::app
