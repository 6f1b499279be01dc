// SPDX-License-Identifier: Apache-2.0
#include "sim/app/sweep_options.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <utility>

#include "sim/config/quantity.h"

namespace systole::app {
namespace {

volatile sig_atomic_t stop_asked = 0;

void ask_to_stop(int) {
    stop_asked = 1;
}

constexpr std::array<int, 2> kSignals{SIGINT, SIGTERM};
std::array<struct sigaction, 2> actions_before;

/// What this process may take: under Slurm its job's share of the node.
std::int64_t own_memory() {
    const std::int64_t machine = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
    const char* text = std::getenv("SLURM_MEM_PER_NODE");  // MiB
    const auto job = config::parse_integer(text ? text : "", 1, std::numeric_limits<std::int32_t>::max());
    return job.value ? std::min(machine, *job.value << 20) : machine;
}

}  // namespace

int own_cores() {
    cpu_set_t cores;
    if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
    return CPU_COUNT(&cores);
}

sweep::RunnerOptions runner_options(const SweepOrder& order, const sweep::Experiment& experiment, int jobs) {
    sweep::RunnerOptions options;
    options.jobs = order.jobs.value_or(jobs);
    options.time = order.time.value_or(experiment.limits.time);
    // Whole MiB, so that messages stay short.
    const std::int64_t share = std::max((own_memory() / options.jobs) >> 20, std::int64_t{64}) << 20;
    options.memory = order.memory ? *order.memory : experiment.limits.memory.value_or(Bytes(share));
    options.stop = [] { return stop_asked != 0; };
    return options;
}

Interruptible::Interruptible() {
    stop_asked = 0;
    struct sigaction action {};
    action.sa_handler = ask_to_stop;
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &actions_before[i]);
}

Interruptible::~Interruptible() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &actions_before[i], nullptr);
}

}  // namespace systole::app
