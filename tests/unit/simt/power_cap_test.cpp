// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/power_cap.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/simt/gpu_config.h"

namespace systole::simt {
namespace {

constexpr Hertz kClock(2'000'000'000);

PowerSpec spec() {
    PowerSpec made;
    made.cap = Milliwatts(700'000);
    made.idle = Milliwatts(100'000);
    made.tensor = Milliwatts(800'000);
    made.memory = Milliwatts(100'000);
    return made;
}

}  // namespace

TEST_CASE("What a chip draws is idle power, and shares of what tensor cores and memory draw at most",
          "[simt]") {
    CHECK(power_of({0, 0}, spec(), kClock, kClock) == Approx(100'000));
    CHECK(power_of({0.5, 0.25}, spec(), kClock, kClock) == Approx(100'000 + 400'000 + 25'000));
    // At half the clock and the voltage, a MAC takes a quarter of the energy.
    CHECK(power_of({0.5, 0.25}, spec(), Hertz(1'000'000'000), kClock) == Approx(100'000 + 100'000 + 25'000));
}

TEST_CASE("SMs keep their clock while the chip draws no more than its cap", "[simt]") {
    CHECK(settled_clock({0, 1}, spec(), kClock, kClock) == kClock);
    CHECK(settled_clock({0.7, 0.4}, spec(), kClock, kClock) == kClock);  // 100 + 560 + 40: all of it
    PowerSpec none = spec();
    none.cap.reset();
    CHECK(settled_clock({1, 1}, none, kClock, kClock) == kClock);
}

TEST_CASE("SMs go slower by the cube root of what tensor cores drew more than the cap leaves them",
          "[simt]") {
    // 8 times what is left halves the clock: 4,800 of 600 W.
    PowerSpec eight = spec();
    eight.tensor = Milliwatts(4'800'000);
    CHECK(settled_clock({1, 0}, eight, kClock, kClock) == Hertz(1'000'000'000));
    // The same work at that clock is half of what tensor cores could do, and leaves the clock as it is.
    CHECK(power_of({0.5, 0}, eight, Hertz(1'000'000'000), kClock) == Approx(700'000));
    CHECK(settled_clock({0.5, 0}, eight, Hertz(1'000'000'000), kClock) == Hertz(1'000'000'000));
    // Where the memory works, too, less is left: 800 of 560 W.
    CHECK(settled_clock({1, 0.4}, spec(), kClock, kClock).value() ==
          Approx(2e9 * std::cbrt(0.7)).epsilon(1e-6));
    // Less work lets it rise again, up to where it was: at 1 GHz an eighth of 4,800 W x 0.5 would be 300.
    CHECK(settled_clock({0.25, 0}, eight, Hertz(1'000'000'000), kClock).value() ==
          Approx(1e9 * std::cbrt(2.0)).epsilon(1e-6));
    CHECK(settled_clock({0.05, 0}, eight, Hertz(1'000'000'000), kClock) == kClock);
    // No chip stands still for its cap.
    PowerSpec hungry = spec();
    hungry.tensor = Milliwatts(100'000'000'000);
    CHECK(settled_clock({1, 0}, hungry, kClock, kClock) == Hertz(kClock.value() / 16));
}

TEST_CASE("A power cap that leaves nothing for the SMs is refused", "[simt]") {
    const std::string head = "device: Mine\nextends: a100\npower:\n  ";
    CHECK_THROWS_AS(test::gpu_spec(head + "cap: 150 W\n"), UserError);
    CHECK_THROWS_AS(test::gpu_spec(head + "window: 0 ms\n"), UserError);
    CHECK(test::gpu_spec(head + "cap: 0 W\n").power.cap == std::nullopt);
}

}  // namespace systole::simt
