// SPDX-License-Identifier: Apache-2.0
// How many seeds of a property test are tried.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace systole::test {

/// All of `seeds`, or one in SYSTOLE_SEED_SHARE of them where the environment says so (at least one): under
/// sanitizers, what finds a fault is the reach into code and not the number of cases, each of which takes
/// some twenty times as long there.
inline std::uint64_t enough(std::uint64_t seeds) {
    const char* const text = std::getenv("SYSTOLE_SEED_SHARE");
    const std::uint64_t share = text ? std::strtoull(text, nullptr, 10) : 1;
    return std::max<std::uint64_t>(1, seeds / std::max<std::uint64_t>(1, share));
}

}  // namespace systole::test
