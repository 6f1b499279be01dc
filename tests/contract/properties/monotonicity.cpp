// SPDX-License-Identifier: Apache-2.0
// A better machine is no slower, or by no more than its knob's bound: random machines with random networks,
// each with one thing faster, wider or larger. What is behind the bounds: docs/validation.md, "Monotonicity
// and scheduling anomalies"; tests/bench/anomalies.cpp searches for worse. SYSTOLE_SEED and SYSTOLE_CASES
// widen it.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/base/error.h"
#include "tests/support/knobs.h"
#include "tests/support/random_case.h"

namespace systole::test {
namespace {

/// Edges of clocks and phases of refreshes lie elsewhere: what a run of a few hundred nanoseconds may lose.
constexpr double kEdges = 20'000;  // ps

double time_of(const Case& drawn, const Graph& graph, const Settings& settings) {
    return static_cast<double>(
        device_of(drawn, settings)->run(graph, {drawn.protocol}).result.total.time().value());
}

/// Turns every knob of one case; answers how many could be turned.
int check_knobs(const Case& drawn) {
    int ran = 0;
    try {
        const Graph graph = graph_of(drawn);
        const double before = time_of(drawn, graph, {});
        const std::vector<config::Entry> keys = keys_of(drawn);
        for (const Knob& knob : knobs_of(drawn.kind)) {
            const auto settings = turned(knob, keys);
            if (!settings) continue;
            try {
                const double after = time_of(drawn, graph, *settings);
                ++ran;
                INFO(fmt::format("{}: {} instead of {} ps, {:+.2f} %\n{}", knob.name, after, before,
                                 100 * (after / before - 1), to_string(drawn)));
                CHECK(after <= before * (1 + knob.slower) + kEdges);
            } catch (const UserError& refused) {  // beyond the limits of a key
                CHECK_THAT(refused.what(), Catch::Contains("error: "));
            }
        }
    } catch (const UserError& refused) {
        CHECK_THAT(refused.what(), Catch::Contains("error: "));
    }
    return ran;
}

void check_monotone(Kind kind, std::uint64_t cases_otherwise) {
    const std::uint64_t first = from_environment("SYSTOLE_SEED", 1);
    const std::uint64_t cases = from_environment("SYSTOLE_CASES", cases_otherwise);
    std::uint64_t ran = 0;
    for (std::uint64_t seed = first; seed < first + cases; ++seed)
        ran += static_cast<std::uint64_t>(check_knobs(random_case(kind, seed)));
    CHECK(ran >= 4 * cases);
}

}  // namespace

TEST_CASE("a better systolic device is no slower, beyond the bound of what was made better", "[properties]") {
    check_monotone(Kind::Systolic, 60);
}

TEST_CASE("a better GPU is no slower, beyond the bound of what was made better", "[properties]") {
    check_monotone(Kind::Simt, 24);
}

TEST_CASE("settings of a knob are those that it says", "[properties]") {
    const auto entry = [](const char* path, const char* value) {
        config::Entry made;
        made.path = path, made.value = value;
        return made;
    };
    const std::vector<config::Entry> keys{entry("a", "1050 MHz"), entry("b.x", "1/4"), entry("b.y", "3"),
                                          entry("c", "0")};
    CHECK(turned({"", 0, {{"a", 1.1}}}, keys) == Settings{{"a", "1155 MHz"}});
    CHECK(turned({"", 0, {{"b.*", 2}}}, keys) == Settings{{"b.x", "1/2"}, {"b.y", "6"}});
    CHECK(turned({"", 0, {{"b.y", 0.5}}}, keys) == Settings{{"b.y", "1"}});
    CHECK(turned({"", 0, {{"c", 2}}}, keys) == std::nullopt);
    CHECK(turned({"", 0, {{"none", 2}}}, keys) == std::nullopt);
    CHECK(turned({"", 0, {{"c", 1, "on"}}}, keys) == Settings{{"c", "on"}});
}

}  // namespace systole::test
