// SPDX-License-Identifier: Apache-2.0
// Forward progress of DRAM channels at length: `dram_progress [requests [name]]` drives so many hostile
// random requests (10 million) through every standard under every policy, with every command checked, and
// prints how many bursts passed the oldest waiting one and how many may; with a name only through those whose
// name has it
// ("LPDDR5"). Ends with 1 if any did more, or hung.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/unit/memory/dram_progress.h"

int main(int argc, char** argv) {
    using namespace systole::test;
    const std::int64_t requests = argc > 1 ? std::strtoll(argv[1], nullptr, 10) : 10'000'000;
    const std::string_view wanted = argc > 2 ? argv[2] : "";
    if (requests <= 0) {
        fmt::print(stderr, "usage: dram_progress [requests [name]]\n");
        return 2;
    }
    fmt::print("{:<55}{:>12}{:>9}{:>7}{:>12}{:>9}\n", "memory", "commands", "passed", "may", "longest gap",
               "ns each");
    bool good = true;
    std::uint64_t seed = 0;
    for (const ProgressCase& memory : progress_cases()) {
        ++seed;  // the same for a case whichever are wanted
        if (memory.name.find(wanted) == std::string::npos) continue;
        const auto begin = std::chrono::steady_clock::now();
        const Progress progress = drive(memory.spec, requests, seed);
        const double nanoseconds =
            std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
        const std::int64_t bound = passing_bound(memory.spec);
        const bool holds = progress.fault.empty() && progress.passed <= bound;
        good = good && holds;
        fmt::print("{:<55}{:>12}{:>9}{:>7}{:>12}{:>9.0f}{}\n", memory.name, progress.commands,
                   progress.passed, bound, progress.longest_gap, nanoseconds / static_cast<double>(requests),
                   holds ? "" : "  FAILED " + progress.fault);
        std::fflush(stdout);
    }
    return good ? 0 : 1;
}
