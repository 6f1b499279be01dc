// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/power_cap.h"

#include <catch2/catch.hpp>

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
    CHECK(power_of({0, 0}, spec()) == Approx(100'000));
    CHECK(power_of({0.5, 0.25}, spec()) == Approx(100'000 + 400'000 + 25'000));
}

TEST_CASE("SMs keep their clock while the chip draws no more than its cap", "[simt]") {
    CHECK(settled_clock({0, 1}, spec(), kClock, kClock) == kClock);
    CHECK(settled_clock({0.7, 0.4}, spec(), kClock, kClock) == kClock);  // 100 + 560 + 40: all of it
    PowerSpec none = spec();
    none.cap.reset();
    CHECK(settled_clock({1, 1}, none, kClock, kClock) == kClock);
}

TEST_CASE("SMs go slower by as much as tensor cores drew more than the cap leaves them", "[simt]") {
    // 800 of 600 and 560 W: three quarters, and less where the memory works, too.
    CHECK(settled_clock({1, 0}, spec(), kClock, kClock) == Hertz(1'500'000'000));
    CHECK(settled_clock({1, 0.4}, spec(), kClock, kClock) == Hertz(1'400'000'000));
    // The same work at that clock draws the cap, and leaves the clock as it is.
    CHECK(settled_clock({0.75, 0}, spec(), Hertz(1'500'000'000), kClock) == Hertz(1'500'000'000));
    // Less work lets it rise again, up to where it was.
    CHECK(settled_clock({0.6, 0}, spec(), Hertz(1'500'000'000), kClock) == Hertz(1'875'000'000));
    CHECK(settled_clock({0.1, 0}, spec(), Hertz(1'500'000'000), kClock) == kClock);
    // No chip stands still for its cap.
    PowerSpec hungry = spec();
    hungry.tensor = Milliwatts(100'000'000);
    CHECK(settled_clock({1, 0}, hungry, kClock, kClock) == Hertz(kClock.value() / 16));
}

TEST_CASE("The shipped GPUs sustain what long products were measured to reach", "[simt]") {
    // ml-engineering's maximum achievable matmul TFLOP/s in bf16, with a fifth of the memory's bandwidth.
    struct Measured {
        const char* chip;
        double tflops;
    };
    for (const auto& [chip, tflops] : {Measured{"a100", 271.2}, Measured{"h100", 794.5}}) {
        const SimtSpec gpu = test::shipped_gpu(chip);
        const Hertz clock = settled_clock({1, 0.2}, gpu.power, gpu.core_clock, gpu.core_clock);
        const double reached = 2.0 * static_cast<double>(gpu.macs_per_cycle(DType::Bf16)) *
                               static_cast<double>(clock.value()) / 1e12;
        CHECK(reached == Approx(tflops).epsilon(0.005));
    }
}

TEST_CASE("A power cap that leaves nothing for the SMs is refused", "[simt]") {
    const std::string head = "device: Mine\nextends: a100\npower:\n  ";
    CHECK_THROWS_AS(test::gpu_spec(head + "cap: 150 W\n"), UserError);
    CHECK_THROWS_AS(test::gpu_spec(head + "window: 0 ms\n"), UserError);
    CHECK(test::gpu_spec(head + "cap: 0 W\n").power.cap == std::nullopt);
}

}  // namespace systole::simt
