// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/spec/calibrated_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace systole::systolic {
namespace {

constexpr Ticks kLongestStart(kTicksPerSecond);
constexpr std::int64_t kLeastQueue = 5, kMostQueue = 4096;

}  // namespace

void read_calibrated(config::Section device, SystolicSpec& spec) {
    config::Section calibrated = device.section("calibrated");
    if (calibrated.has("sustained_clock")) {
        const double share = calibrated.number(
            "sustained_clock", "share of core.clock that is kept up, for power and whatever else", 0.1, 1.0);
        spec.core_clock = Hertz(std::llround(static_cast<double>(spec.core_clock.value()) * share));
    }
    if (calibrated.has("start_latency")) {
        const Ticks start = calibrated.time("start_latency",
                                            "from an operator's start on the device to its first command; "
                                            "added to a launch, where run.launch "
                                            "asks for one");
        if (start > kLongestStart)
            calibrated.fail("start_latency", "longer than a second, which no start is");
        spec.sequencer.launch_latency += std::min(start, kLongestStart);
    }
    if (calibrated.has("memory_queue")) {
        DramSpec& memory = spec.memory;
        memory.queue = static_cast<int>(calibrated.count("memory_queue",
                                                         "in the place of memory.queue, with writes.high and "
                                                         ".low at 80 and 20 % of it: how far traffic is "
                                                         "sorted by direction",
                                                         {kLeastQueue, kMostQueue}));
        memory.writes.high = memory.queue * 4 / 5;
        memory.writes.low = memory.queue / 5;
        for (const char* replaced : {"memory.queue", "memory.writes.high", "memory.writes.low"})
            if (device.is_set(replaced))
                device.fail(replaced,
                            fmt::format("calibrated.memory_queue ({}) takes its place on this device; "
                                        "set that instead",
                                        memory.queue));
    }
}

}  // namespace systole::systolic
