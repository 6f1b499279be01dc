// SPDX-License-Identifier: Apache-2.0
#include "sim/app/sweep_options.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <limits>
#include <utility>

#include "sim/base/error.h"
#include "sim/config/quantity.h"

namespace systole::app {
namespace {

volatile sig_atomic_t stop_asked = 0;

void ask_to_stop(int) {
    stop_asked = 1;
}

constexpr std::array<int, 2> kSignals{SIGINT, SIGTERM};
std::array<struct sigaction, 2> actions_before;

std::int64_t quantity_option(const Arguments& arguments, const char* name, config::Dimension dimension,
                             std::int64_t least, std::int64_t fallback) {
    const auto text = arguments.option(name);
    if (!text) return fallback;
    const auto value =
        config::parse_quantity(*text, dimension, least, std::numeric_limits<std::int64_t>::max() / 2);
    if (!value.value) throw UserError({fmt::format("--{}", name)}, value.problem);
    return *value.value;
}

}  // namespace

std::int64_t whole_option(const Arguments& arguments, const char* name, std::int64_t most,
                          std::int64_t fallback) {
    const auto text = arguments.option(name);
    if (!text) return fallback;
    const auto value = config::parse_integer(*text, 1, most);
    if (!value.value) throw UserError({fmt::format("--{}", name)}, value.problem);
    return *value.value;
}

std::int64_t own_cores() {
    cpu_set_t cores;
    if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
    return CPU_COUNT(&cores);
}

sweep::RunnerOptions runner_options(const Arguments& arguments, const sweep::Experiment& experiment,
                                    std::int64_t jobs) {
    constexpr std::int64_t kMostJobs = 1024;
    constexpr std::int64_t kLeastMemory = 32 << 20;
    sweep::RunnerOptions options;
    options.jobs = static_cast<int>(whole_option(arguments, "jobs", kMostJobs, jobs));
    options.time = Ticks(quantity_option(arguments, "time-limit", config::Dimension::Time,
                                         kTicksPerSecond / 1000, experiment.limits.time.value()));
    const std::int64_t machine = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
    // Whole MiB, so that messages stay short.
    const std::int64_t share = std::max((machine / options.jobs) >> 20, std::int64_t{64}) << 20;
    options.memory =
        Bytes(quantity_option(arguments, "memory-limit", config::Dimension::Size, kLeastMemory,
                              experiment.limits.memory ? experiment.limits.memory->value() : share));
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
