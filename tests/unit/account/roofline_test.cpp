// SPDX-License-Identifier: Apache-2.0
#include "sim/account/roofline.h"

#include <catch2/catch.hpp>

#include "tests/unit/account/aborts.h"

namespace systole {
namespace {

// 1000 MACs a cycle at 1 GHz; 100 bytes a cycle from DRAM, 10 over the link in each direction.
const Peaks kPeaks{1000, BytesPerSecond(100'000'000'000), BytesPerSecond(10'000'000'000),
                   Hertz(1'000'000'000)};

bool is(const Roofline& roofline, std::int64_t cycles, const std::string& bound) {
    return roofline.cycles == Cycles(cycles) && roofline.bound == bound;
}

}  // namespace

TEST_CASE("the slowest path gives the roofline, rounded up to cycles") {
    CHECK(is(roofline({Macs(5000), Bytes(400), Bytes(30), Bytes(0)}, kPeaks), 5, "compute"));
    CHECK(is(roofline({Macs(5001), Bytes(400), Bytes(30), Bytes(0)}, kPeaks), 6, "compute"));
    CHECK(is(roofline({Macs(5000), Bytes(501), Bytes(30), Bytes(0)}, kPeaks), 6, "memory"));
    CHECK(is(roofline({Macs(5000), Bytes(400), Bytes(61), Bytes(61)}, kPeaks), 7, "host"));
    CHECK(is(roofline({Macs(0), Bytes(0), Bytes(10), Bytes(71)}, kPeaks), 8, "host"));
}

TEST_CASE("of equal paths compute comes first, then memory") {
    CHECK(is(roofline({Macs(2000), Bytes(200), Bytes(20), Bytes(0)}, kPeaks), 2, "compute"));
    CHECK(is(roofline({Macs(0), Bytes(200), Bytes(20), Bytes(0)}, kPeaks), 2, "memory"));
}

TEST_CASE("no work has no roofline, also on a device without links") {
    CHECK(is(roofline({}, kPeaks), 0, "none"));
    CHECK(is(roofline({}, Peaks{}), 0, "none"));
}

TEST_CASE("products beyond 64 bits are exact") {
    // 10^13 bytes at 1.5 GHz and 3 * 10^11 B/s: 10^13 * 1.5 * 10^9 / (3 * 10^11) = 5 * 10^10; one byte more,
    // one cycle more.
    const Peaks peaks{1, BytesPerSecond(300'000'000'000), BytesPerSecond(1), Hertz(1'500'000'000)};
    CHECK(is(roofline({Macs(0), Bytes(10'000'000'000'000), Bytes(), Bytes()}, peaks), 50'000'000'000,
             "memory"));
    CHECK(is(roofline({Macs(0), Bytes(10'000'000'000'001), Bytes(), Bytes()}, peaks), 50'000'000'001,
             "memory"));
}

TEST_CASE("work for a path that the device does not have is our bug") {
    CHECK(test::aborts([] { roofline({Macs(1), Bytes(), Bytes(), Bytes()}, Peaks{}); }));
    CHECK(test::aborts([] { roofline({Macs(), Bytes(1), Bytes(), Bytes()}, Peaks{}); }));
}

}  // namespace systole
