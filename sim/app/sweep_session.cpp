// SPDX-License-Identifier: Apache-2.0
#include "sim/app/sweep_session.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <thread>

#include "sim/account/output_files.h"
#include "sim/app/files.h"
#include "sim/app/sweep_lock.h"
#include "sim/app/sweep_simulator.h"
#include "sim/app/sweep_text.h"
#include "sim/app/terminal.h"
#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/config/quantity.h"
#include "sim/sweep/folder.h"
#include "sim/sweep/local_runner.h"
#include "sim/sweep/merge.h"
#include "sim/sweep/plan.h"
#include "sim/sweep/sqlite_table.h"

namespace systole::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestExperiment = 64 << 20;
constexpr std::size_t kChunkPoints = 100;

volatile sig_atomic_t stop_asked = 0;

void ask_to_stop(int) {
    stop_asked = 1;
}

std::int64_t whole_option(const Arguments& arguments, const char* name, std::int64_t most,
                          std::int64_t fallback) {
    const auto text = arguments.option(name);
    if (!text) return fallback;
    const auto value = config::parse_integer(*text, 1, most);
    if (!value.value) throw UserError({fmt::format("--{}", name)}, value.problem);
    return *value.value;
}

std::int64_t quantity_option(const Arguments& arguments, const char* name, config::Dimension dimension,
                             std::int64_t least, std::int64_t fallback) {
    const auto text = arguments.option(name);
    if (!text) return fallback;
    const auto value =
        config::parse_quantity(*text, dimension, least, std::numeric_limits<std::int64_t>::max() / 2);
    if (!value.value) throw UserError({fmt::format("--{}", name)}, value.problem);
    return *value.value;
}

sweep::RunnerOptions runner_options(const Arguments& arguments, const sweep::Experiment& experiment) {
    sweep::RunnerOptions options;
    const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
    options.jobs = static_cast<int>(whole_option(arguments, "jobs", 1024, cores));
    options.time = Ticks(quantity_option(arguments, "time-limit", config::Dimension::Time,
                                         kTicksPerSecond / 1000, experiment.limits.time.value()));
    const std::int64_t machine = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
    const std::int64_t share = std::max(machine / options.jobs >> 20, std::int64_t{64}) << 20;
    options.memory =
        Bytes(quantity_option(arguments, "memory-limit", config::Dimension::Size, 32 << 20,
                              experiment.limits.memory ? experiment.limits.memory->value() : share));
    options.stop = [] { return stop_asked != 0; };
    return options;
}

/// Ctrl-C and a polite kill end a sweep between points, while this lives.
class Interruptible {
public:
    Interruptible() {
        stop_asked = 0;
        struct sigaction action {};
        action.sa_handler = ask_to_stop;
        for (std::size_t i = 0; i < 2; ++i) ::sigaction(kSignals[i], &action, &before_[i]);
    }
    ~Interruptible() {
        for (std::size_t i = 0; i < 2; ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
    }
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

private:
    static constexpr int kSignals[2] = {SIGINT, SIGTERM};
    struct sigaction before_[2];
};

/// A sweep that is open: what it is of, and what it can ask.
struct Session {
    sweep::Folder folder;
    sweep::Experiment experiment;
    sweep::Simulator simulator;
};

Session open_session(const std::string& path) {
    sweep::Folder folder = sweep::Folder::open(path);
    const std::string file = (fs::path(path) / "experiment.yaml").string();
    sweep::Experiment experiment =
        sweep::read_experiment(config::parse_yaml(folder.identity().experiment, file));
    sweep::Simulator simulator = sweep_simulator(Library::find(), folder.identity().directory);
    if (simulator.program != folder.identity().program)
        throw UserError(fmt::format("'{}' was planned by {}, and this is {}; what they answer may differ",
                                    path, folder.identity().program, simulator.program));
    return {std::move(folder), std::move(experiment), std::move(simulator)};
}

/// Points from `first` to before `last` that have no result.
std::vector<std::size_t> open_points(const sweep::Folder& folder, std::size_t first, std::size_t last) {
    const std::vector<std::string> finished = folder.finished();
    std::vector<std::size_t> open;
    for (std::size_t i = first; i < last; ++i)
        if (!std::binary_search(finished.begin(), finished.end(), folder.manifest().id(i), std::less<>()))
            open.push_back(i);
    return open;
}

sweep::RunnerReport run(const Session& session, const std::vector<std::size_t>& points,
                        sweep::RunnerOptions options) {
    const Interruptible interruptible;
    SweepProgress progress(points.size());
    options.progress = [&](std::size_t ended, std::size_t failed) { progress.update(ended, failed); };
    return sweep::run_points(session.folder, session.simulator, points, options);
}

/// Writes the merged files and says what came of the sweep.
int conclude(const Session& session) {
    const sweep::MergedTable table = [&] {
        const Progress progress("merging results");
        return sweep::merge(session.folder, session.experiment, session.simulator);
    }();
    const fs::path& path = session.folder.path();
    std::vector<OutputFile> files{{"points.csv", sweep::to_csv(table)}};
    if (!session.experiment.objectives.empty()) files.push_back({"front.csv", sweep::front_csv(table)});
    write_files(path, files);
    sweep::write_sqlite(table, path / "points.sqlite");
    print(summary_text(session.experiment, table));
    note(fmt::format("wrote points.csv, {}points.sqlite to {}",
                     session.experiment.objectives.empty() ? "" : "front.csv, ", path.string()));
    return table.done == table.rows.size() ? 0 : kSomePointsFailed;
}

int run_and_conclude(const Session& session, const sweep::RunnerOptions& options) {
    const SweepLock lock(session.folder.path());
    session.folder.sweep_up();
    const std::vector<std::size_t> points = open_points(session.folder, 0, session.folder.manifest().size());
    const sweep::RunnerReport report = run(session, points, options);
    if (report.stopped) {
        note(fmt::format(
            "interrupted: {} of {} points are without a result; go on with 'systole sweep resume {}'",
            with_thousands(static_cast<std::int64_t>(points.size() - report.ended + report.failed())),
            with_thousands(static_cast<std::int64_t>(session.folder.manifest().size())),
            session.folder.path().string()));
        return kInterrupted;
    }
    try {
        return conclude(session);
    } catch (const UserError&) {
        // The points' own reasons, which a full disk could not keep, are said all the same.
        complain(failures_text(report.failures));
        throw;
    }
}

sweep::Folder plan(const Arguments& arguments, const fs::path& output, const sweep::FolderIdentity& identity,
                   const sweep::Experiment& experiment, const sweep::Simulator& simulator) {
    Progress progress("planning");
    sweep::PlanOptions options{
        arguments.has("yes"), [&](std::uint64_t looked) {
            progress.update(
                fmt::format("planning: {} combinations", with_thousands(static_cast<std::int64_t>(looked))));
        }};
    const sweep::Plan plan = sweep::make_plan(experiment, simulator, options);
    const sweep::Folder folder = sweep::Folder::create(output, identity, plan.manifest);
    note(plan_text(plan));
    return folder;
}

}  // namespace

int sweep_experiment(const Arguments& arguments, const std::string& reference) {
    const auto output = arguments.option("output");
    if (!output) arguments.misused("missing the folder of the sweep; for example: -o out/sweep");
    const Library library = Library::find();
    const fs::path file = library.resolve(Shelf::Experiments, reference);
    sweep::FolderIdentity identity;
    identity.experiment = read_text(file.string(), kLargestExperiment);
    sweep::Experiment experiment =
        sweep::read_experiment(config::parse_yaml(identity.experiment, file.string()));
    identity.directory = fs::absolute(file).parent_path();
    identity.chunk_points =
        static_cast<std::size_t>(whole_option(arguments, "chunk-points", 1'000'000, kChunkPoints));
    sweep::Simulator simulator = sweep_simulator(library, identity.directory);
    identity.program = simulator.program;
    const sweep::RunnerOptions options = runner_options(arguments, experiment);
    require_writable_directory(*output);
    const sweep::Folder folder = sweep::Folder::holds(*output, identity)
                                     ? sweep::Folder::open(*output)
                                     : plan(arguments, *output, identity, experiment, simulator);
    if (arguments.has("plan")) {
        print(fmt::format(
            "{} points, {} chunks of {}\n",
            with_thousands(static_cast<std::int64_t>(folder.manifest().size())),
            (folder.manifest().size() + folder.identity().chunk_points - 1) / folder.identity().chunk_points,
            folder.identity().chunk_points));
        return 0;
    }
    return run_and_conclude({folder, std::move(experiment), std::move(simulator)}, options);
}

int sweep_resume(const Arguments& arguments, const std::string& folder) {
    const Session session = open_session(folder);
    return run_and_conclude(session, runner_options(arguments, session.experiment));
}

int sweep_chunk(const Arguments& arguments, const std::string& folder, const std::string& chunk) {
    const Session session = open_session(folder);
    const std::size_t size = session.folder.identity().chunk_points;
    const std::size_t points = session.folder.manifest().size();
    const std::size_t chunks = (points + size - 1) / size;
    const auto number = config::parse_integer(chunk, 0, static_cast<std::int64_t>(chunks) - 1);
    if (!number.value) throw UserError(fmt::format("the number of the chunk: {}", number.problem));
    const std::size_t first = static_cast<std::size_t>(*number.value) * size;
    const sweep::RunnerReport report =
        run(session, open_points(session.folder, first, std::min(first + size, points)),
            runner_options(arguments, session.experiment));
    complain(failures_text(report.failures));
    return report.stopped ? kInterrupted : report.failed() > 0 ? kSomePointsFailed : 0;
}

int sweep_merge(const std::string& folder) {
    return conclude(open_session(folder));
}

int sweep_status(const Arguments& arguments, const std::string& folder) {
    const Session session = open_session(folder);
    const std::string format = arguments.choice("format", {"text", "json"});
    const SweepStatus status = status_of(session.folder);
    print(format == "json" ? to_json(status) : to_text(status));
    return status.done == status.points ? 0 : kSomePointsFailed;
}

}  // namespace systole::app
