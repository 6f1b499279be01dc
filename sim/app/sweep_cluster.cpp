// SPDX-License-Identifier: Apache-2.0
#include "sim/app/sweep_cluster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>

#include "sim/app/sweep_lock.h"
#include "sim/app/sweep_options.h"
#include "sim/app/sweep_text.h"
#include "sim/app/terminal.h"
#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/config/quantity.h"
#include "sim/sweep/digest.h"
#include "sim/sweep/slurm.h"

namespace systole::app {
namespace {

namespace fs = std::filesystem;

constexpr double kTaskSeconds = 180;  // that a task should take: a minute at least, ten at most
constexpr std::size_t kSamples = 4;
constexpr std::int64_t kOwnMegabytes = 256;  // of the process that runs a chunk

fs::path slurm_folder(const Session& session) {
    return fs::absolute(session.folder.path()) / "slurm";
}

/// What running a few points here tells: the first and the last among them, as axes that count go from few to
/// many. Points that fail take their time as well, but tell little.
struct Measured {
    bool stopped = false;
    std::optional<double> seconds;  ///< of a point; nothing: none has a result
};

Measured measure(const Session& session, const sweep::RunnerOptions& options) {
    const std::vector<std::size_t> open = session.open_points();
    std::set<std::size_t> chosen;
    for (std::size_t i = 0; i < kSamples && !open.empty(); ++i)
        chosen.insert(open[i * (open.size() - 1) / (kSamples - 1)]);
    Measured measured{run_here(session, {chosen.begin(), chosen.end()}, options).stopped, {}};
    double seconds = 0;
    std::size_t done = 0;
    for (const std::size_t point : chosen)
        if (const auto result = session.folder.result(session.folder.manifest().id(point));
            result && !result->refused)
            seconds += result->wall_s, ++done;
    if (done > 0) measured.seconds = seconds / static_cast<double>(done);
    return measured;
}

/// Fixes the size of chunks, if nobody has; false if it was interrupted.
bool choose_chunks(Session& session, const sweep::RunnerOptions& options) {
    if (session.folder.identity().chunks_are_fixed) return true;
    const Measured measured = measure(session, options);
    if (measured.stopped) return false;
    const double points =
        measured.seconds ? kTaskSeconds * options.jobs / std::max(*measured.seconds, 1e-3) : 1;
    const auto all = static_cast<double>(session.folder.manifest().size());
    session.folder.fix_chunk_points(static_cast<std::size_t>(std::clamp(std::floor(points), 1.0, all)));
    note(measured.seconds ? fmt::format("a point takes {:.3g} s here; tasks have {} of them",
                                        *measured.seconds, session.folder.identity().chunk_points)
                          : "no point that was tried here has a result; tasks have one each");
    return true;
}

std::string own_program() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (error) throw UserError(fmt::format("cannot find this program's own file: {}", error.message()));
    return program.string();
}

sweep::SlurmJob job_of(const Session& session) {
    sweep::SlurmJob job;
    job.folder = fs::canonical(session.folder.path()).string();
    job.name = "systole-" + sweep::sha256(job.folder + '\n' + session.folder.manifest().text()).substr(0, 12);
    return job;
}

std::vector<std::size_t> open_chunks(const Session& session) {
    std::set<std::size_t> chunks;
    for (const std::size_t point : session.open_points())
        chunks.insert(point / session.folder.identity().chunk_points);
    return {chunks.begin(), chunks.end()};
}

std::string in_quantity(std::int64_t value, config::Dimension dimension) {
    return config::format_quantity(value, dimension);
}

sweep::SlurmJob job_with_options(const SweepOrder& order, const Session& session,
                                 const sweep::RunnerOptions& options, bool measured) {
    sweep::SlurmJob job = job_of(session);
    job.program = own_program();
    if (const char* home = std::getenv("SYSTOLE_HOME"))
        job.environment.emplace_back("SYSTOLE_HOME", fs::absolute(home).string());
    job.options = {fmt::format("--jobs={}", options.jobs)};
    if (order.time)
        job.options.push_back("--time-limit=" + in_quantity(order.time->value(), config::Dimension::Time));
    if (order.memory)
        job.options.push_back("--memory-limit=" +
                              in_quantity(order.memory->value(), config::Dimension::Size));
    if (order.any_build)
        job.options.emplace_back("--any-build"), job.merge_options.emplace_back("--any-build");
    job.sbatch_options = {fmt::format("--cpus-per-task={}", options.jobs)};
    job.sbatch_options.insert(job.sbatch_options.end(), order.sbatch.begin(), order.sbatch.end());
    // Four times what a task should take, and a point that comes to its own limit. Of chunks that were not
    // measured nobody knows.
    const double limit = static_cast<double>(options.time.value()) / static_cast<double>(kTicksPerSecond);
    if (measured) job.minutes = static_cast<std::size_t>(std::ceil((4 * kTaskSeconds + limit) / 60));
    // What points may take, and the process that watches them.
    if (order.memory || session.experiment.limits.memory)
        job.megabytes =
            static_cast<std::size_t>((options.memory.value() >> 20) * options.jobs + kOwnMegabytes);
    return job;
}

}  // namespace

int submit_to_slurm(const SweepOrder& order, Session& session) {
    const SweepLock lock(session.folder.path());
    session.folder.sweep_up();
    const sweep::RunnerOptions options = runner_options(order, session.experiment, 1);
    const bool measured = !session.folder.identity().chunks_are_fixed;
    if (!choose_chunks(session, options)) return interrupted(session);
    const std::vector<std::size_t> open = open_chunks(session);
    if (open.empty()) return conclude(session);
    const sweep::Slurm slurm(job_with_options(order, session, options, measured));
    const sweep::Slurm::Queued queued = slurm.queued();
    std::vector<std::size_t> chunks;
    std::set_difference(open.begin(), open.end(), queued.chunks.begin(), queued.chunks.end(),
                        std::back_inserter(chunks));
    if (chunks.empty()) {
        note(fmt::format("all {} chunks without all results are in Slurm's queue; there is nothing to submit",
                         with_thousands(static_cast<std::int64_t>(open.size()))));
        return 0;
    }
    std::error_code error;
    fs::create_directories(slurm_folder(session), error);
    if (error)
        throw UserError(fmt::format("cannot make '{}': {}", slurm_folder(session).string(), error.message()));
    const sweep::Slurm::Submitted submitted = slurm.submit(chunks, queued.arrays);
    note(fmt::format(
        "submitted {} {} to Slurm (job {}), and a merge behind (job {}); 'systole sweep status {}' "
        "shows how far they are",
        with_thousands(static_cast<std::int64_t>(chunks.size())), chunks.size() == 1 ? "task" : "tasks",
        fmt::join(submitted.arrays, ", "), submitted.merge, session.folder.path().string()));
    return 0;
}

std::string slurm_text(const Session& session) {
    if (std::error_code ignored; !fs::exists(slurm_folder(session), ignored)) return "";
    const std::vector<std::size_t> open = open_chunks(session);
    if (open.empty()) return "";
    try {
        const std::set<std::size_t> queued = sweep::Slurm(job_of(session)).queued().chunks;
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
