// SPDX-License-Identifier: Apache-2.0
// Two engines, one answer: the closed form and the register-accurate grid agree to the cycle, and the grid's
// values are the matrix product, bit for bit. SYSTOLE_SEED and SYSTOLE_CASES widen the search.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "tests/contract/mxu/mxu_run.h"

namespace systole::test {

namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::stoull(text);
}

}  // namespace

TEST_CASE("the tile engine and the PE grid agree to the cycle and to the bit on random lives of an array") {
    const std::uint64_t first = from_environment("SYSTOLE_SEED", 20'240'601);
    const std::uint64_t cases = from_environment("SYSTOLE_CASES", 5'000);
    for (std::uint64_t seed = first; seed < first + cases; ++seed) {
        INFO("seed " << seed);
        std::mt19937_64 random(seed);
        const MxuCase tried = random_case(random);
        if (!disagreement(tried)) continue;
        const MxuCase smallest = shrink(tried, [](const MxuCase& c) { return disagreement(c).has_value(); });
        FAIL("they disagree; the smallest case found:\n" << to_string(smallest) << *disagreement(smallest));
    }
    SUCCEED(cases << " lives agree");
}

}  // namespace systole::test
