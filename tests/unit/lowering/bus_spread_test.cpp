// SPDX-License-Identifier: Apache-2.0
// How evenly pieces of rows fall on data buses, on maps that can be followed by hand.
#include "models/devices/systolic/lowering/bus_spread.h"

#include <catch2/catch.hpp>

#include "tests/unit/memory/memory_specs.h"

namespace systole::systolic {
namespace {

/// Bursts go round four buses, one by one.
DramSpec four_buses() {
    DramSpec spec = test::hbm2();
    spec.channels = 4;
    spec.pseudo_channels = 1;
    spec.address_map = "ch2 bg2 co5 ba2 ro15";
    return spec;
}

}  // namespace

TEST_CASE("Pieces of rows that lie a stripe apart fall on the same buses") {
    const DramSpec spec = four_buses();
    const std::int64_t burst = spec.burst_bytes.value();
    BusSpread spread(spec);
    CHECK(spread.of(4 * burst, burst) == Approx(0.25));
    CHECK(spread.of(64 * burst, burst) == Approx(0.25));
    CHECK(spread.of(64 * burst, 2 * burst) == Approx(0.5));
    CHECK(spread.of(64 * burst, 3 * burst) == Approx(0.75));
    CHECK(spread.of(64 * burst, 4 * burst) == Approx(1));
    CHECK(spread.of(64 * burst, 5 * burst) == Approx(5.0 / 8));  // of two rounds all but three
}

TEST_CASE("Rows a burst further apart than a stripe go round all buses") {
    const DramSpec spec = four_buses();
    const std::int64_t burst = spec.burst_bytes.value();
    BusSpread spread(spec);
    CHECK(spread.of(5 * burst, burst) == Approx(1));
    CHECK(spread.of(6 * burst, burst) == Approx(0.5));  // every second
}

TEST_CASE("Whole rows, and an ideal memory, are even") {
    BusSpread spread(four_buses());
    CHECK(spread.of(96, 96) == 1);
    CHECK(spread.of(0, 0) == 1);
    DramSpec ideal;
    ideal.kind = DramSpec::Kind::Ideal;
    CHECK(BusSpread(ideal).of(4096, 32) == 1);
}

}  // namespace systole::systolic
