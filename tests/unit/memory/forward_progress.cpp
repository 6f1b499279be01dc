// SPDX-License-Identifier: Apache-2.0
// The short version of tests/bench/dram_progress.cpp.
#include <catch2/catch.hpp>

#include "tests/unit/memory/dram_progress.h"

namespace systole::test {

TEST_CASE("no policy of any standard lets a burst starve, hangs or breaks its table") {
    std::uint64_t seed = 1;
    for (const ProgressCase& memory : progress_cases()) {
        INFO(memory.name << ", seed " << seed);
        const Progress progress = drive(memory.spec, 3000, seed++);
        REQUIRE(progress.fault == "");
        REQUIRE(progress.commands >= 3000);
        REQUIRE(progress.passed <= passing_bound(memory.spec));
    }
}

}  // namespace systole::test
