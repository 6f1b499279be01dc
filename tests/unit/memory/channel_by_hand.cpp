// SPDX-License-Identifier: Apache-2.0
// Cases small enough for pencil and paper: HBM2 with CL 14, RCDRD 14 (+1: ACT takes two clocks), BL 2, and so
// forth (memory_specs.h).
#include <catch2/catch.hpp>

#include "models/memory/controller/dram_channel.h"
#include "tests/unit/memory/memory_specs.h"

namespace systole::test {
namespace {

struct Bench {
    DramSpec spec;
    AddressMap map{spec};
    DramChannel channel{spec, map};
    std::vector<DramChannel::Completion> done{};

    std::int64_t finish(std::int64_t id) {
        while (!channel.idle()) channel.advance(channel.next_event(), done);
        for (const auto& completion : done)
            if (completion.request == id) return completion.clock.value();
        return -1;
    }
};

DramSpec without_refresh() {
    DramSpec spec = hbm2();
    spec.refresh = RefreshPolicy::Off;
    return spec;
}

constexpr std::int64_t kNextRow = 4 * 32 * 4;  // bursts from a row to the next of the same bank

}  // namespace

TEST_CASE("a read of a closed bank: ACT, RCD, CL, burst") {
    Bench bench{without_refresh()};
    bench.channel.push(0, 1, 0, 1, Direction::Read, Cycles(10));
    CHECK(bench.finish(1) == 10 + 15 + 14 + 2);
}

TEST_CASE("a row hit: CL and burst; a row conflict: PRE and RP before") {
    Bench bench{without_refresh()};
    bench.channel.push(0, 1, 0, 1, Direction::Read, Cycles(0));
    bench.finish(1);
    bench.channel.push(0, 2, 4, 1, Direction::Read, Cycles(200));
    CHECK(bench.finish(2) == 200 + 14 + 2);
    bench.channel.push(0, 3, kNextRow, 1, Direction::Read, Cycles(300));
    CHECK(bench.finish(3) == 300 + 13 + 15 + 14 + 2);
    CHECK(bench.channel.stats(0).activates == 2);
    CHECK(bench.channel.stats(0).precharges == 1);
    CHECK(bench.channel.stats(0).row_hits() == 1);
}

TEST_CASE("a stream over four bank groups fills the data bus") {
    Bench bench{without_refresh()};
    bench.channel.push(0, 1, 0, 128, Direction::Read, Cycles(0));
    // ACTs at 0, 4, 8, 12 (RRD_S); the first column at 15, the fourth bank's at 27: columns 15, 19, 23, 27
    // take their banks as they open, hits of open banks fill in between; from then on one column every two
    // clocks.
    const std::int64_t last = bench.finish(1);
    CHECK(last >= 15 + 2 * 127 + 14 + 2);
    CHECK(last <= 15 + 2 * 127 + 14 + 2 + 6);
    CHECK(bench.channel.stats(0).bus_busy == Cycles(256));
    CHECK(bench.channel.stats(0).activates == 4);
}

TEST_CASE("without bank-group interleave a row's columns are CCD_L apart") {
    DramSpec spec = without_refresh();
    spec.address_map = "co5 bg2 ba2 ro15";
    Bench bench{spec};
    bench.channel.push(0, 1, 0, 32, Direction::Read, Cycles(0));
    CHECK(bench.finish(1) == 15 + 4 * 31 + 14 + 2);
}

TEST_CASE("of two pseudo-channels that complete at the same clock the first comes first") {
    DramSpec spec = without_refresh();
    spec.pseudo_channels = 2;
    spec.address_map = "ch1 bg2 co5 ba2 ro15";
    Bench bench{spec};
    // On the command bus they follow each other; a write's data follow sooner than a read's.
    const std::int64_t later = spec.timing.at("CL") - spec.timing.at("CWL");
    for (const int reading : {0, 1}) {
        for (const int bus : {0, 1})
            bench.channel.push(bus, bus, 0, 1, Direction::Read, Cycles(1000 * reading));
        bench.finish(0);
        bench.done.clear();
        const std::int64_t now = 1000 * reading + 500;
        bench.channel.push(reading, reading, 0, 1, Direction::Read, Cycles(now));
        bench.channel.push(1 - reading, 1 - reading, 0, 1, Direction::Write, Cycles(now + later));
        bench.finish(0);
        REQUIRE(bench.done.size() == 2);
        CHECK(bench.done[0].clock == bench.done[1].clock);
        CHECK(bench.done[0].request == 0);
    }
}

TEST_CASE("a refresh closes the banks and blocks the channel for RFC") {
    Bench bench{hbm2()};
    bench.channel.push(0, 1, 0, 1, Direction::Read, Cycles(0));
    bench.finish(1);
    bench.channel.push(0, 2, 0, 1, Direction::Read, Cycles(3900));
    // PREA 3900, REF 3914, ACT RFC - 1 later
    CHECK(bench.finish(2) == 3914 + 259 + 15 + 14 + 2);
    CHECK(bench.channel.stats(0).refreshes == 1);
    bench.channel.push(0, 3, 0, 1, Direction::Read, Cycles(7799));
    CHECK(bench.finish(3) == 7799 + 14 + 2);  // one clock before the next is due: it slips through
}

TEST_CASE("a write is served when no read waits, else when enough bursts have passed it") {
    DramSpec spec = without_refresh();
    spec.writes = {32, 3};
    spec.patience = 8;
    Bench bench{spec};
    bench.channel.push(0, 1, 0, 1, Direction::Write, Cycles(0));
    CHECK(bench.finish(1) == 13 + 5 + 2);
    bench.channel.push(0, 2, 4, 1, Direction::Read, Cycles(100));
    bench.channel.push(0, 3, 0, 1, Direction::Write, Cycles(100));
    bench.channel.push(0, 4, 8, 28, Direction::Read, Cycles(100));
    // Bank 0 is open: its reads at 100 (the write is the oldest from then on), 104 and 108; the other groups
    // open at 100, 104 and 108 (+ 15). Eight reads pass the write; it follows the last by RTW = 13.
    const std::int64_t reads = bench.finish(4), write = bench.finish(3);
    CHECK(write < reads);
}

TEST_CASE("arrivals beyond the queue wait at the door, in order") {
    DramSpec spec = without_refresh();
    spec.queue = 4;
    Bench bench{spec};
    for (std::int64_t id = 0; id < 6; ++id) bench.channel.push(0, id, id, 1, Direction::Read, Cycles(0));
    CHECK(bench.channel.at_door(0, Direction::Read) == 2);
    CHECK(bench.channel.next_door_event(0, Direction::Read) <= Cycles(16));
    bench.finish(5);
    CHECK(bench.channel.at_door(0, Direction::Read) == 0);
    CHECK(bench.channel.next_door_event(0, Direction::Read) == Cycles::max());
}

}  // namespace systole::test
