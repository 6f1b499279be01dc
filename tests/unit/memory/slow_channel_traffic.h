// SPDX-License-Identifier: Apache-2.0
// Random memories of every standard and policy, and random traffic for one channel of them: made small and
// hasty so that a short run meets every corner.
#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <string>

#include "models/memory/dram_spec.h"
#include "tests/unit/memory/slow_channel.h"

namespace systole::test {

using Random = std::mt19937_64;

inline std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// Any shipped memory as one channel, under any policy.
DramSpec some_memory(Random& random);
/// Streams, strides, few hot rows and random places, in bursts of arrivals and pauses; about `bursts`.
std::deque<Arrival> some_traffic(Random& random, const DramSpec& spec, std::int64_t bursts);
/// What a failing test prints.
std::string words(const DramSpec& spec);

}  // namespace systole::test
