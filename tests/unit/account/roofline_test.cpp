// SPDX-License-Identifier: Apache-2.0
#include "sim/account/roofline.h"

#include <catch2/catch.hpp>

#include "tests/unit/account/aborts.h"

namespace systole {
namespace {

// 1000 MACs and 8 lanes a cycle at 1 GHz; 50 bytes a cycle on chip each way, 100 from DRAM, 10 over the link
// each way.
const Peaks kPeaks{{1000},
                   8,
                   OnChipPeak{50, false},
                   BytesPerSecond(100'000'000'000),
                   BytesPerSecond(10'000'000'000),
                   Hertz(1'000'000'000)};

bool is(const Roofline& roofline, std::int64_t cycles, const std::string& bound) {
    return roofline.floor() == Cycles(cycles) && roofline.bound() == bound;
}

Work macs(std::int64_t amount) {
    return {Macs(amount), 0, {}, {}, {}, {}, {}};
}

Work over_links(std::int64_t dram, std::int64_t in, std::int64_t out) {
    return {{}, 0, {}, {}, Bytes(dram), Bytes(in), Bytes(out)};
}

Work on_chip(std::int64_t read, std::int64_t written) {
    return {{}, 0, Bytes(read), Bytes(written), {}, {}, {}};
}

}  // namespace

TEST_CASE("every level takes its work at its own peak, rounded up to cycles") {
    CHECK(is(roofline(macs(5000), kPeaks), 5, "compute"));
    CHECK(is(roofline(macs(5001), kPeaks), 6, "compute"));
    Peaks quarter = kPeaks;
    quarter.macs = {1000, 4};
    CHECK(is(roofline(macs(5001), quarter), 21, "compute"));
    CHECK(is(roofline({{}, 17, {}, {}, {}, {}, {}}, kPeaks), 3, "vector"));
    CHECK(is(roofline(on_chip(100, 101), kPeaks), 3, "on_chip"));
    CHECK(is(roofline(over_links(501, 0, 0), kPeaks), 6, "memory"));
    CHECK(is(roofline(over_links(0, 61, 61), kPeaks), 7, "host"));
    CHECK(is(roofline(over_links(0, 10, 71), kPeaks), 8, "host"));
}

TEST_CASE("the slowest level gives the roofline, and all are told") {
    const Work work{Macs(5000), 20, Bytes(60), Bytes(10), Bytes(400), Bytes(69), Bytes(0)};
    const Roofline floor = roofline(work, kPeaks);
    CHECK(is(floor, 7, "host"));
    CHECK(floor.at(Level::Compute) == Cycles(5));
    CHECK(floor.at(Level::Vector) == Cycles(3));
    CHECK(floor.at(Level::OnChip) == Cycles(2));
    CHECK(floor.at(Level::Memory) == Cycles(4));
    CHECK(floor.at(Level::Host) == Cycles(7));
}

TEST_CASE("ports of a scratchpad that serve both directions take their sum") {
    Peaks shared = kPeaks;
    shared.on_chip->both_ways = true;
    CHECK(is(roofline(on_chip(100, 101), shared), 5, "on_chip"));
}

TEST_CASE("an infinite memory and a scratchpad in which clients never meet are no roofs") {
    Peaks open = kPeaks;
    open.on_chip.reset();
    open.dram = BytesPerSecond::max();
    CHECK(is(roofline(on_chip(1'000'000, 1'000'000), open), 0, "none"));
    CHECK(is(roofline(over_links(1'000'000, 0, 1), open), 1, "host"));
}

TEST_CASE("of equal levels the one nearest to the arithmetic is named") {
    CHECK(is(roofline({Macs(2000), 16, Bytes(100), {}, Bytes(200), Bytes(20), {}}, kPeaks), 2, "compute"));
    CHECK(is(roofline({{}, 16, Bytes(100), {}, Bytes(200), Bytes(20), {}}, kPeaks), 2, "vector"));
    CHECK(is(roofline({{}, 0, Bytes(100), {}, Bytes(200), Bytes(20), {}}, kPeaks), 2, "on_chip"));
    CHECK(is(roofline({{}, 0, {}, {}, Bytes(200), Bytes(20), {}}, kPeaks), 2, "memory"));
}

TEST_CASE("no work has no roofline, also on a device without links") {
    CHECK(is(roofline({}, kPeaks), 0, "none"));
    CHECK(is(roofline({}, Peaks{}), 0, "none"));
}

TEST_CASE("products beyond 64 bits are exact") {
    // 10^13 bytes at 1.5 GHz and 3 * 10^11 B/s: 10^13 * 1.5 * 10^9 / (3 * 10^11) = 5 * 10^10; one byte more,
    // one cycle more.
    const Peaks peaks{{1}, 1, {}, BytesPerSecond(300'000'000'000), BytesPerSecond(1), Hertz(1'500'000'000)};
    CHECK(is(roofline(over_links(10'000'000'000'000, 0, 0), peaks), 50'000'000'000, "memory"));
    CHECK(is(roofline(over_links(10'000'000'000'001, 0, 0), peaks), 50'000'000'001, "memory"));
}

TEST_CASE("work for a path that the device does not have is our bug") {
    CHECK(test::aborts([] { roofline(macs(1), Peaks{}); }));
    CHECK(test::aborts([] { roofline({{}, 1, {}, {}, {}, {}, {}}, Peaks{}); }));
    CHECK(test::aborts([] { roofline(over_links(1, 0, 0), Peaks{}); }));
}

}  // namespace systole
