// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/latency_log.h"

#include <catch2/catch.hpp>

using namespace systole;

TEST_CASE("without a latency every figure is zero") {
    const LatencyLog log;
    CHECK(log.count() == 0);
    CHECK(log.average() == 0);
    CHECK(log.percentile(99) == Cycles(0));
    CHECK(log.max() == Cycles(0));
}

TEST_CASE("a percentile is the least latency that so many do not exceed") {
    LatencyLog log;
    for (int i = 1; i <= 100; ++i) log.add(Cycles(10 * i));
    CHECK(log.count() == 100);
    CHECK(log.average() == Approx(505));
    CHECK(log.percentile(50) == Cycles(500));
    CHECK(log.percentile(99) == Cycles(990));
    CHECK(log.percentile(100) == Cycles(1000));
    CHECK(log.max() == Cycles(1000));
    log.add(Cycles(3));  // 101 latencies: half of them are 51
    CHECK(log.percentile(50) == Cycles(500));
}

TEST_CASE("latencies that no DRAM has cost no memory and are told to a thousandth") {
    constexpr std::int64_t kExact = std::int64_t{1} << 20;
    for (const std::int64_t latency : {kExact - 1, kExact, kExact + 1, 3 * kExact + 12345,
                                       std::int64_t{1} << 40, (std::int64_t{1} << 62) - 1}) {
        LatencyLog log;
        log.add(Cycles(latency));
        log.add(Cycles(latency));
        log.add(Cycles(2 * latency));
        INFO("latency " << latency);
        CHECK(log.max() == Cycles(2 * latency));
        CHECK(log.average() == Approx(4.0 * static_cast<double>(latency) / 3));
        const std::int64_t half = log.percentile(50).value();
        CHECK(half >= latency);
        CHECK(half - latency <= (latency < kExact ? 0 : latency / 1024));
        CHECK(log.percentile(100) == Cycles(2 * latency));
    }
}
