// SPDX-License-Identifier: Apache-2.0
#include "sim/app/sweep_cluster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>

#include "sim/app/sweep_lock.h"
#include "sim/app/sweep_options.h"
#include "sim/app/sweep_text.h"
#include "sim/app/terminal.h"
#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/sweep/digest.h"
#include "sim/sweep/slurm.h"

namespace systole::app {
namespace {

namespace fs = std::filesystem;

constexpr double kTaskSeconds = 180;  // that a task should take: a minute at least, ten at most
constexpr std::size_t kSamples = 4;

fs::path slurm_folder(const Session& session) {
    return fs::absolute(session.folder.path()) / "slurm";
}

/// Seconds of a point, by running a few here, the first and the last among them: axes that count go from few
/// to many. Points that fail take their time as well, but tell little.
double measure(const Session& session, const sweep::RunnerOptions& options) {
    const std::vector<std::size_t> open = session.open_points();
    std::set<std::size_t> chosen;
    for (std::size_t i = 0; i < kSamples && !open.empty(); ++i)
        chosen.insert(open[i * (open.size() - 1) / (kSamples - 1)]);
    run_here(session, {chosen.begin(), chosen.end()}, options);
    double seconds = 0;
    std::size_t measured = 0;
    for (const std::size_t point : chosen)
        if (const auto result = session.folder.result(session.folder.manifest().id(point))) {
            seconds += result->wall_s;
            ++measured;
        }
    return measured == 0 ? kTaskSeconds : seconds / static_cast<double>(measured);
}

void choose_chunks(const Arguments& arguments, Session& session, const sweep::RunnerOptions& options) {
    if (arguments.option("chunk-points") || fs::exists(slurm_folder(session))) return;
    const double seconds = measure(session, options);
    const double points = std::floor(kTaskSeconds * options.jobs / std::max(seconds, 1e-3));
    session.folder.set_chunk_points(static_cast<std::size_t>(
        std::clamp(points, 1.0, static_cast<double>(session.folder.manifest().size()))));
    note(fmt::format("a point takes {:.3g} s here; tasks have {} of them", seconds,
                     session.folder.identity().chunk_points));
}

std::string own_program() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (error) throw UserError(fmt::format("cannot find this program's own file: {}", error.message()));
    return program.string();
}

sweep::SlurmJob job_of(const Session& session) {
    sweep::SlurmJob job;
    job.folder = fs::absolute(session.folder.path()).lexically_normal().string();
    job.name = "systole-" + sweep::sha256(job.folder + '\n' + session.folder.manifest().text()).substr(0, 12);
    return job;
}

std::vector<std::size_t> open_chunks(const Session& session) {
    std::set<std::size_t> chunks;
    for (const std::size_t point : session.open_points())
        chunks.insert(point / session.folder.identity().chunk_points);
    return {chunks.begin(), chunks.end()};
}

sweep::SlurmJob job_with_options(const Arguments& arguments, const Session& session,
                                 const sweep::RunnerOptions& options) {
    sweep::SlurmJob job = job_of(session);
    job.program = own_program();
    if (const char* home = std::getenv("SYSTOLE_HOME"))
        job.environment.emplace_back("SYSTOLE_HOME", fs::absolute(home).string());
    job.options = {fmt::format("--jobs={}", options.jobs)};
    if (arguments.has("any-build")) job.options.emplace_back("--any-build");
    for (const char* name : {"time-limit", "memory-limit"})
        if (const auto value = arguments.option(name))
            job.options.push_back(fmt::format("--{}={}", name, *value));
    job.sbatch_options = {fmt::format("--cpus-per-task={}", options.jobs)};
    for (const std::string& option : arguments.list("sbatch")) job.sbatch_options.push_back(option);
    // Four times what a task should take, and a point that comes to its own limit.
    const double limit = static_cast<double>(options.time.value()) / static_cast<double>(kTicksPerSecond);
    job.minutes = static_cast<std::size_t>(std::ceil((4 * kTaskSeconds + limit) / 60));
    return job;
}

}  // namespace

int submit_to_slurm(const Arguments& arguments, Session& session) {
    const SweepLock lock(session.folder.path());
    session.folder.sweep_up();
    const sweep::RunnerOptions options = runner_options(arguments, session.experiment, 1);
    choose_chunks(arguments, session, options);
    const std::vector<std::size_t> open = open_chunks(session);
    if (open.empty()) return conclude(session);
    const sweep::Slurm slurm(job_with_options(arguments, session, options));
    const std::set<std::size_t> queued = slurm.queued_chunks();
    std::vector<std::size_t> chunks;
    std::set_difference(open.begin(), open.end(), queued.begin(), queued.end(), std::back_inserter(chunks));
    if (chunks.empty()) {
        note(fmt::format("all {} chunks without all results are in Slurm's queue; there is nothing to submit",
                         with_thousands(static_cast<std::int64_t>(open.size()))));
        return 0;
    }
    std::error_code error;
    fs::create_directories(slurm_folder(session), error);
    if (error)
        throw UserError(fmt::format("cannot make '{}': {}", slurm_folder(session).string(), error.message()));
    const sweep::Slurm::Submitted submitted = slurm.submit(chunks);
    note(fmt::format(
        "submitted {} tasks to Slurm (job {}), and a merge behind them (job {}); 'systole sweep status "
        "{}' shows how far they are",
        with_thousands(static_cast<std::int64_t>(chunks.size())), fmt::join(submitted.arrays, ", "),
        submitted.merge, session.folder.path().string()));
    return 0;
}

std::string slurm_text(const Session& session) {
    if (std::error_code ignored; !fs::exists(slurm_folder(session), ignored)) return "";
    const std::vector<std::size_t> open = open_chunks(session);
    if (open.empty()) return "";
    try {
        const std::set<std::size_t> queued = sweep::Slurm(job_of(session)).queued_chunks();
        const auto waiting = std::count_if(open.begin(), open.end(),
                                           [&](std::size_t chunk) { return queued.contains(chunk); });
        return fmt::format(
            "Of {} chunks without all results, {} are in Slurm's queue{}.\n", open.size(), waiting,
            static_cast<std::size_t>(waiting) < open.size()
                ? fmt::format("; 'systole sweep resume {} --executor slurm' submits the others",
                              session.folder.path().string())
                : "");
    } catch (const UserError& error) {
        return fmt::format("{}\n", error.diagnostics().front().message);
    }
}

}  // namespace systole::app
