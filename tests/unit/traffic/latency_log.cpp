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
