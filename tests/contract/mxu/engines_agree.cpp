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

void check_agreement(MxuCase (*make)(std::mt19937_64&), std::uint64_t cases_otherwise) {
    const std::uint64_t first = from_environment("SYSTOLE_SEED", 20'240'601);
    const std::uint64_t cases = from_environment("SYSTOLE_CASES", cases_otherwise);
    for (std::uint64_t seed = first; seed < first + cases; ++seed) {
        INFO("seed " << seed);
        std::mt19937_64 random(seed);
        const MxuCase tried = make(random);
        if (!disagreement(tried)) continue;
        const MxuCase smallest = shrink(tried, [](const MxuCase& c) { return disagreement(c).has_value(); });
        FAIL("they disagree; the smallest case found:\n" << to_string(smallest) << *disagreement(smallest));
    }
    SUCCEED(cases << " lives agree");
}

}  // namespace

TEST_CASE("the tile engine and the PE grid agree to the cycle and to the bit on random lives of an array") {
    check_agreement(random_case, 5'000);
}

TEST_CASE("both engines agree on random lives of an array that is set up for one dataflow after another") {
    check_agreement(random_mixed_case, 3'000);
}

}  // namespace systole::test
