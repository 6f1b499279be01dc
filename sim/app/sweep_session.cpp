// SPDX-License-Identifier: Apache-2.0
#include "sim/app/sweep_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sim/account/output_files.h"
#include "sim/app/files.h"
#include "sim/app/sweep_lock.h"
#include "sim/app/sweep_options.h"
#include "sim/app/sweep_simulator.h"
#include "sim/app/sweep_text.h"
#include "sim/app/terminal.h"
#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/sweep/digest.h"
#include "sim/sweep/merge.h"
#include "sim/sweep/plan.h"
#include "sim/sweep/sqlite_table.h"

namespace systole::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestExperiment = 64 << 20;
constexpr std::int64_t kChunkPoints = 100;

std::string thousands(std::size_t value) {
    return with_thousands(static_cast<std::int64_t>(value));
}

std::vector<std::size_t> without_result(const sweep::Folder& folder, std::size_t first, std::size_t last) {
    const std::vector<std::string> finished = folder.finished();
    std::vector<std::size_t> open;
    for (std::size_t i = first; i < last; ++i)
        if (!std::binary_search(finished.begin(), finished.end(), folder.manifest().id(i), std::less<>()))
            open.push_back(i);
    return open;
}

/// A digest of this program's own file.
std::string own_build() {
    constexpr std::size_t kLargestProgram = std::size_t{1} << 30;
    return sweep::sha256(read_text("/proc/self/exe", kLargestProgram)).substr(0, 16);
}

/// Points of two programs in one table would be compared as if the machines differed.
void refuse_other_program(const Arguments& arguments, const sweep::Folder& folder,
                          const sweep::Simulator& simulator) {
    const std::string path = folder.path().string();
    if (simulator.program != folder.identity().program)
        throw UserError(fmt::format("'{}' was planned by {}, and this is {}; what they answer may differ",
                                    path, folder.identity().program, simulator.program));
    if (folder.identity().build != own_build() && !arguments.has("any-build"))
        throw UserError(
            fmt::format("'{}' was planned by another build of {}; what they answer may differ: give "
                        "another folder, or go on with --any-build",
                        path, simulator.program));
}

}  // namespace

std::size_t Session::chunks() const {
    const std::size_t size = folder.identity().chunk_points;
    return (folder.manifest().size() + size - 1) / size;
}

std::vector<std::size_t> Session::open_points() const {
    return without_result(folder, 0, folder.manifest().size());
}

std::vector<std::size_t> Session::open_points(std::size_t chunk) const {
    const std::size_t size = folder.identity().chunk_points;
    return without_result(folder, chunk * size, std::min((chunk + 1) * size, folder.manifest().size()));
}

Session plan_session(const Arguments& arguments, const std::string& reference) {
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
    identity.build = own_build();
    require_writable_directory(*output);
    // Planned anew even where it is planned: files that it names may have changed since.
    const sweep::Plan plan = [&] {
        Progress progress("planning");
        return sweep::make_plan(
            experiment, simulator,
            {arguments.has("yes"), [&](std::uint64_t looked) {
                 progress.update(fmt::format("planning: {} combinations", thousands(looked)));
             }});
    }();
    sweep::Folder folder = sweep::Folder::create(*output, identity, plan.manifest);
    refuse_other_program(arguments, folder, simulator);
    note(plan_text(plan));
    return {std::move(folder), std::move(experiment), std::move(simulator)};
}

Session open_session(const Arguments& arguments, const std::string& path) {
    sweep::Folder folder = sweep::Folder::open(path);
    const std::string file = (fs::path(path) / "experiment.yaml").string();
    sweep::Experiment experiment =
        sweep::read_experiment(config::parse_yaml(folder.identity().experiment, file));
    sweep::Simulator simulator = sweep_simulator(Library::find(), folder.identity().directory);
    refuse_other_program(arguments, folder, simulator);
    return {std::move(folder), std::move(experiment), std::move(simulator)};
}

sweep::RunnerReport run_here(const Session& session, const std::vector<std::size_t>& points,
                             sweep::RunnerOptions options) {
    const Interruptible interruptible;
    SweepProgress progress(points.size());
    options.progress = [&](std::size_t ended, std::size_t failed) { progress.update(ended, failed); };
    return sweep::run_points(session.folder, session.simulator, points, options);
}

int conclude(const Session& session) {
    const sweep::MergedTable table = [&] {
        const Progress progress("merging results");
        return sweep::merge(session.folder, session.experiment, session.simulator);
    }();
    const fs::path& path = session.folder.path();
    const bool has_front = !session.experiment.objectives.empty();
    std::vector<OutputFile> files{{"points.csv", sweep::to_csv(table)}};
    if (has_front) files.push_back({"front.csv", sweep::front_csv(table)});
    write_files(path, files);
    sweep::write_sqlite(table, path / "points.sqlite");
    print(summary_text(session.experiment, table));
    note(fmt::format("wrote points.csv, {}points.sqlite to {}", has_front ? "front.csv, " : "",
                     path.string()));
    return table.done == table.rows.size() ? 0 : kSomePointsFailed;
}

int run_and_conclude(const Session& session, const sweep::RunnerOptions& options) {
    const SweepLock lock(session.folder.path());
    session.folder.sweep_up();
    const std::vector<std::size_t> points = session.open_points();
    const sweep::RunnerReport report = run_here(session, points, options);
    if (report.stopped) {
        note(fmt::format(
            "interrupted: {} of {} points are without a result; go on with 'systole sweep resume {}'",
            thousands(points.size() - report.ended + report.failed()),
            thousands(session.folder.manifest().size()), session.folder.path().string()));
        return kInterrupted;
    }
    try {
        return conclude(session);
    } catch (const UserError& error) {
        // What a full disk could not keep is said all the same.
        if (!report.failures.empty()) complain(failures_text(report.failures));
        complain(error.what());
        return kSomePointsFailed;
    }
}

}  // namespace systole::app
