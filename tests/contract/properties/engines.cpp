// SPDX-License-Identifier: Apache-2.0
// Ways to simulate the same machine answer the same. What else is compared so, and where: README.md beside.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <cstdlib>
#include <random>

#include "sim/account/writers.h"
#include "sim/base/error.h"
#include "tests/support/random_case.h"

namespace systole::test {
namespace {

/// A block that is met so often that turns of it stand for others.
std::string deep_network(std::mt19937_64& dice) {
    const auto between = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(dice);
    };
    const std::int64_t width = 8 * between(2, 12);
    return fmt::format(
        "trace: deep\ninputs: {{x: {{shape: [{}, {}], dtype: bf16}}}}\nlayers:\n"
        "  - {{name: first, op: matmul, n: {}}}\n"
        "  - name: block\n    repeat: {}\n    layers:\n"
        "      - {{name: norm, op: norm, kind: rms, in: block_in}}\n"
        "      - {{name: up, op: matmul, n: {}, activation: gelu}}\n"
        "      - {{name: down, op: matmul, n: {}}}\n"
        "      - {{name: out, op: elementwise, kind: add, in: [down, block_in]}}\n"
        "outputs: [block]\n",
        between(8, 64), between(8, 90), width, between(24, 48), 8 * between(2, 20), width);
}

/// Of many rows by few columns.
std::string long_product(std::mt19937_64& dice) {
    const auto between = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(dice);
    };
    const std::int64_t m = between(2'000, 60'000), k = 8 * between(1, 24), n = 8 * between(1, 24);
    return fmt::format(
        "trace: long\ninputs: {{x: {{shape: [{}, {}], dtype: bf16}}}}\n"
        "layers:\n  - {{name: a, op: matmul, n: {}}}\noutputs: [a]\n",
        m, k, n);
}

DeviceResult run(const Case& drawn, const Settings& more = {}) {
    return device_of(drawn, more)->run(graph_of(drawn), {drawn.protocol}).result;
}

}  // namespace

TEST_CASE("PE by PE, machines of random formats and shipped ones take the cycles of the tile engine",
          "[properties]") {
    const std::uint64_t first = from_environment("SYSTOLE_SEED", 5001);
    const std::uint64_t cases = from_environment("SYSTOLE_CASES", 150);
    int ran = 0;
    for (std::uint64_t seed = first; seed < first + cases; ++seed) {
        Case drawn = random_case(Kind::Systolic, seed);
        const char* const formats[] = {"int8", "bf16", "int16", "fp16", "fp8", "fp32"};
        // Whatever the network has, in another format, at a rate of one, two, or a half.
        const std::string format = formats[seed % 6], rate = std::array{"1", "2", "1/2"}[seed % 3];
        for (const std::string old :
             {"dtype: bf16", "dtype: int8", "dtype: fp16", "dtype: fp32", "dtype: fp8"})
            for (std::size_t at = drawn.trace.find(old); at != std::string::npos;
                 at = drawn.trace.find(old, at + 1))
                if (at == 0 || drawn.trace[at - 1] != '_')
                    drawn.trace.replace(at, old.size(), "dtype: " + format);
        drawn.settings.emplace_back("mxu.rate." + format, rate);
        INFO(to_string(drawn));
        try {
            const DeviceResult tile = run(drawn);
            if (tile.total.macs.value() > 200'000) continue;
            const DeviceResult grid = run(drawn, {{"mxu.engine", "grid"}});
            ++ran;
            CHECK(grid.total.cycles == tile.total.cycles);
            CHECK(grid.total.slots == tile.total.slots);
            REQUIRE(grid.layers.size() == tile.layers.size());
            for (std::size_t i = 0; i < grid.layers.size(); ++i) {
                CHECK(grid.layers[i].end == tile.layers[i].end);
                CHECK(grid.layers[i].slots == tile.layers[i].slots);
            }
        } catch (const UserError& refused) {
            CHECK_THAT(refused.what(), Catch::Contains("error: "));
        }
    }
    CHECK(ran >= static_cast<int>(cases / 5));
}

TEST_CASE("turns that stand for others are worth what they take on random machines, within 0.1 or 1 %",
          "[properties]") {
    const std::uint64_t first = from_environment("SYSTOLE_SEED", 1);
    const std::uint64_t cases = from_environment("SYSTOLE_CASES", 40);
    int reused = 0, rough = 0;
    std::uint64_t beyond = 0;
    for (std::uint64_t seed = first; seed < first + cases; ++seed) {
        Case drawn = random_case(Kind::Systolic, seed);
        std::mt19937_64 dice(seed);
        drawn.trace = deep_network(dice);
        INFO(to_string(drawn));
        try {
            const DeviceResult whole = run(drawn);
            drawn.protocol.reuse = Protocol::Reuse::On;
            const DeviceResult part = run(drawn);
            for (const ResultRow& row : whole.layers) CHECK(!row.reused);
            for (const ResultRow& row : part.layers) reused += row.reused ? 1 : 0;
            const auto time = static_cast<double>(whole.total.time().value());
            CHECK(std::abs(static_cast<double>(part.total.time().value()) - time) <= time / 1000);
            CHECK(part.total.macs == whole.total.macs);
            CHECK(part.total.dram_read == whole.total.dram_read);
            CHECK(part.total.dram_written == whole.total.dram_written);
            drawn.protocol.reuse = Protocol::Reuse::Rough;
            const DeviceResult roughly = run(drawn);
            beyond += std::abs(static_cast<double>(roughly.total.time().value()) - time) > time / 100 ? 1 : 0;
            CHECK(roughly.total.macs == whole.total.macs);
            for (const ResultRow& row : roughly.layers) rough += row.reused ? 1 : 0;
        } catch (const UserError& refused) {
            CHECK_THAT(refused.what(), Catch::Contains("error: "));
        }
    }
    CHECK(reused >= static_cast<int>(10 * cases));
    CHECK(rough >= reused);
    CHECK(20 * beyond <= cases);  // a sample's promise: 1 % in 19 of 20 cases
}

TEST_CASE("steps of long layers are worth what they take on random machines, within 0.1 %", "[properties]") {
    const std::uint64_t first = from_environment("SYSTOLE_SEED", 1);
    const std::uint64_t cases = from_environment("SYSTOLE_CASES", 24);
    int reused = 0;
    for (std::uint64_t seed = first; seed < first + cases; ++seed) {
        Case drawn = random_case(Kind::Systolic, seed);
        std::mt19937_64 dice(seed);
        drawn.trace = long_product(dice);
        drawn.protocol = Protocol::of_op();
        drawn.settings.emplace_back("placement.trials", "1");
        INFO(to_string(drawn));
        try {
            drawn.protocol.reuse = Protocol::Reuse::Off;
            const DeviceResult whole = run(drawn);
            drawn.protocol.reuse = Protocol::Reuse::On;
            const DeviceResult part = run(drawn);
            REQUIRE(part.layers.size() == 1);
            CHECK(!whole.layers[0].reused);
            reused += part.layers[0].reused ? 1 : 0;
            const auto time = static_cast<double>(whole.total.time().value());
            CHECK(std::abs(static_cast<double>(part.total.time().value()) - time) <= time / 1000);
            CHECK(part.total.matrix_macs == whole.total.matrix_macs);
            CHECK(part.total.lane_cycles == whole.total.lane_cycles);
            CHECK(part.total.dram_read == whole.total.dram_read);
            CHECK(part.total.dram_written == whole.total.dram_written);
            CHECK(part.total.compulsory_dram == whole.total.compulsory_dram);
            CHECK(part.layers[0].roofline.cycles == whole.layers[0].roofline.cycles);
            CHECK(part.layers[0].bound_by == whole.layers[0].bound_by);
        } catch (const UserError& refused) {
            CHECK_THAT(refused.what(), Catch::Contains("error: "));
        }
    }
    CHECK(reused >= static_cast<int>(cases / 8));
}

TEST_CASE("equal runs answer equal bytes, with a timeline or without, in one process", "[properties]") {
    for (const Kind kind : {Kind::Systolic, Kind::Simt}) {
        int ran = 0;
        for (std::uint64_t seed = 301; seed <= 330; ++seed) {
            const Case drawn = random_case(kind, seed);
            INFO(to_string(drawn));
            try {
                const Graph graph = graph_of(drawn);
                const auto device = device_of(drawn);
                const std::string first = to_json({device->run(graph, {drawn.protocol}).result});
                CHECK(to_json({device->run(graph, {drawn.protocol}).result}) == first);
                CHECK(to_json({device->run(graph, {drawn.protocol, WantTimeline::Yes}).result}) == first);
                // Another device of the same keys, built behind it.
                CHECK(to_json({run(drawn)}) == first);
                ++ran;
            } catch (const UserError& refused) {
                CHECK_THAT(refused.what(), Catch::Contains("error: "));
            }
        }
        CHECK(ran >= 8);
    }
}

}  // namespace systole::test
