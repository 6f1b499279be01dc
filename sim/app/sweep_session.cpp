// SPDX-License-Identifier: Apache-2.0
#include "sim/app/sweep_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "sim/app/files.h"
#include "sim/app/sweep_lock.h"
#include "sim/app/sweep_merged.h"
#include "sim/app/sweep_options.h"
#include "sim/app/sweep_simulator.h"
#include "sim/app/sweep_text.h"
#include "sim/app/terminal.h"
#include "sim/base/error.h"
#include "sim/sweep/digest.h"
#include "sim/sweep/plan.h"

namespace systole::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestExperiment = 64 << 20;
constexpr std::size_t kChunkPoints = 100;

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
void refuse_other_program(const SweepOrder& order, const sweep::Folder& folder,
                          const sweep::Simulator& simulator) {
    const std::string path = folder.path().string();
    if (simulator.program != folder.identity().program)
        throw UserError(fmt::format("'{}' was planned by {}, and this is {}; what they answer may differ",
                                    path, folder.identity().program, simulator.program));
    if (folder.identity().build != own_build() && !order.any_build)
        throw UserError(
            fmt::format("'{}' was planned by another build of {}; what they answer may differ: give "
                        "another folder, or go on with --any-build",
                        path, simulator.program));
}

int say(const Session& session, const sweep::MergedTable& table) {
    const Conclusion conclusion = write_merged(session, table);
    print(summary_text(session.experiment, table, answer_style()));
    note(fmt::format("wrote points.csv, {}points.sqlite to {}",
                     session.experiment.objectives.empty() ? "" : "front.csv, ",
                     session.folder.path().string()));
    return conclusion.code;
}

/// Of points that are open now, those that were not: reading results took away what was not whole.
std::vector<std::size_t> broken_since(const Session& session, const std::vector<std::size_t>& open_before) {
    const std::vector<std::size_t> open = session.open_points();
    std::vector<std::size_t> broken;
    std::set_difference(open.begin(), open.end(), open_before.begin(), open_before.end(),
                        std::back_inserter(broken));
    return broken;
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

Session plan_session(const SweepOrder& order) {
    const Library library = Library::find();
    const fs::path file = library.resolve(Shelf::Experiments, order.subject);
    sweep::FolderIdentity identity;
    identity.experiment = read_text(file.string(), kLargestExperiment);
    sweep::Experiment experiment =
        sweep::read_experiment(config::parse_yaml(identity.experiment, file.string()));
    identity.directory = fs::canonical(fs::absolute(file).parent_path());
    identity.chunk_points = order.chunk_points.value_or(kChunkPoints);
    identity.chunks_are_fixed = order.chunk_points.has_value();
    sweep::Simulator simulator = sweep_simulator(library, identity.directory);
    identity.program = simulator.program;
    identity.build = own_build();
    const fs::path output = order.output;
    require_writable_directory(output);
    // Planned anew even where it is planned: files that it names may have changed since.
    const sweep::Plan plan = [&] {
        Progress progress("planning");
        return sweep::make_plan(
            experiment, simulator,
            {order.many, [&](std::uint64_t looked) {
                 progress.update(fmt::format("planning: {} combinations", thousands(looked)));
             }});
    }();
    sweep::Folder::refuse_other(output, identity, plan.manifest);
    std::error_code error;
    fs::create_directories(output, error);
    if (error) throw UserError(fmt::format("cannot make '{}': {}", output.string(), error.message()));
    const SweepLock lock(output);
    sweep::Folder folder = sweep::Folder::create(output, identity, plan.manifest);
    refuse_other_program(order, folder, simulator);
    if (order.chunk_points) folder.fix_chunk_points(*order.chunk_points);
    note(plan_text(plan));
    return {std::move(folder), std::move(experiment), std::move(simulator)};
}

Session open_session(const SweepOrder& order) {
    sweep::Folder folder = sweep::Folder::open(order.subject);
    const std::string file = (folder.path() / "experiment.yaml").string();
    sweep::Experiment experiment =
        sweep::read_experiment(config::parse_yaml(folder.identity().experiment, file));
    sweep::Simulator simulator = sweep_simulator(Library::find(), folder.identity().directory);
    refuse_other_program(order, folder, simulator);
    return {std::move(folder), std::move(experiment), std::move(simulator)};
}

sweep::RunnerReport run_here(const Session& session, const std::vector<std::size_t>& points,
                             sweep::RunnerOptions options) {
    const Interruptible interruptible;
    SweepProgress progress(points.size());
    options.progress = [&](std::size_t ended, std::size_t failed) { progress.update(ended, failed); };
    return sweep::run_points(session.folder, session.simulator, points, options);
}

int interrupted(const Session& session) {
    note(
        fmt::format("interrupted: {} of {} points are without a result; go on with 'systole sweep resume {}'",
                    thousands(session.open_points().size()), thousands(session.folder.manifest().size()),
                    session.folder.path().string()));
    return kInterrupted;
}

int conclude(const Session& session) {
    return say(session, merge_results(session));
}

int run_and_conclude(const Session& session, const sweep::RunnerOptions& options) {
    const SweepLock lock(session.folder.path());
    session.folder.sweep_up();
    const std::vector<std::size_t> points = session.open_points();
    if (const auto before = points.empty() ? still_merged(session) : std::nullopt) {
        print(before->summary);
        return before->code;
    }
    const sweep::RunnerReport report = run_here(session, points, options);
    if (report.stopped) return interrupted(session);
    sweep::MergedTable table = merge_results(session);
    if (const std::vector<std::size_t> broken = broken_since(session, points); !broken.empty()) {
        if (run_here(session, broken, options).stopped) return interrupted(session);
        table = merge_results(session);
    }
    try {
        const int code = say(session, table);
        if (!report.unrecorded.empty())
            complain("reasons that the folder does not hold:\n" + failures_text(report.unrecorded));
        return code;
    } catch (const UserError& error) {
        // What a full disk could not keep is said all the same.
        if (report.failed > 0) complain(failures_text(report.failures));
        complain(error.what());
        return kSomePointsFailed;
    }
}

}  // namespace systole::app
