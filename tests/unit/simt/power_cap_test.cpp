// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/power_cap.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "models/devices/simt/machine/clock_control.h"
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

/// Of 800 W of tensor cores 200 are left.
SimtSpec of_300_watts() {
    SimtSpec chip;
    chip.memory.kind = DramSpec::Kind::Ideal;
    chip.core_clock = kClock;
    chip.power = spec();
    chip.power.cap = Milliwatts(300'000);
    chip.power.window = Ticks(1'000'000);
    return chip;
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
    CHECK(settled_clock({0, 1}, spec(), spec().cap, kClock, kClock) == kClock);
    CHECK(settled_clock({0.7, 0.4}, spec(), spec().cap, kClock, kClock) ==
          kClock);  // 100 + 560 + 40: all of it
    PowerSpec none = spec();
    none.cap.reset();
    CHECK(settled_clock({1, 1}, none, none.cap, kClock, kClock) == kClock);
}

TEST_CASE("SMs go slower by the cube root of what tensor cores drew more than the cap leaves them",
          "[simt]") {
    // 8 times what is left halves the clock: 4,800 of 600 W.
    PowerSpec eight = spec();
    eight.tensor = Milliwatts(4'800'000);
    CHECK(settled_clock({1, 0}, eight, eight.cap, kClock, kClock) == Hertz(1'000'000'000));
    // The same work at that clock is half of what tensor cores could do, and leaves the clock as it is.
    CHECK(power_of({0.5, 0}, eight, Hertz(1'000'000'000), kClock) == Approx(700'000));
    CHECK(settled_clock({0.5, 0}, eight, eight.cap, Hertz(1'000'000'000), kClock) == Hertz(1'000'000'000));
    // Where the memory works, too, less is left: 800 of 560 W.
    CHECK(settled_clock({1, 0.4}, spec(), spec().cap, kClock, kClock).value() ==
          Approx(2e9 * std::cbrt(0.7)).epsilon(1e-6));
    // Less work lets it rise again, up to where it was: at 1 GHz an eighth of 4,800 W x 0.5 would be 300.
    CHECK(settled_clock({0.25, 0}, eight, eight.cap, Hertz(1'000'000'000), kClock).value() ==
          Approx(1e9 * std::cbrt(2.0)).epsilon(1e-6));
    CHECK(settled_clock({0.05, 0}, eight, eight.cap, Hertz(1'000'000'000), kClock) == kClock);
    // No chip stands still for its cap.
    PowerSpec hungry = spec();
    hungry.tensor = Milliwatts(100'000'000'000);
    CHECK(settled_clock({1, 0}, hungry, hungry.cap, kClock, kClock) == Hertz(kClock.value() / 16));
}

TEST_CASE("A burst lasts until the average of what was drawn has come to the cap", "[simt]") {
    // 1,000 W of work at the full clock: a burst leaves it 800 W besides idle power, the cap 100.
    PowerSpec bursting = spec();
    bursting.cap = Milliwatts(200'000);
    bursting.burst = Milliwatts(900'000);
    bursting.tensor = Milliwatts(1'000'000);
    bursting.average = Ticks(kTicksPerSecond);
    const double fast = 2e9 * std::cbrt(0.8), slow = 2e9 * std::cbrt(0.1);
    const auto clock = [&](double average, double from, double to) {
        return static_cast<double>(mean_clock({1, 0}, bursting, kClock, kClock, {average, from, to}).value());
    };
    // From idle 100 W the average of 900 W comes to 200 W when exp(-t) = 7 / 8.
    const double ends = std::log(8.0 / 7);
    CHECK(clock(100'000, 0, ends) == Approx(fast).epsilon(1e-6));
    CHECK(clock(100'000, ends, 10) == Approx(slow).epsilon(1e-6));
    CHECK(clock(100'000, 0, 2 * ends) == Approx((fast + slow) / 2).epsilon(1e-6));
    CHECK(clock(100'000, ends / 2, 2.5 * ends) == Approx((fast + 3 * slow) / 4).epsilon(1e-6));
    CHECK(clock(200'000, 0, 1) == Approx(slow).epsilon(1e-6));
    CHECK(average_after(100'000, 900'000, ends, bursting) == Approx(200'000));
    // Work that draws no more than the cap is never slowed down, however long it goes on.
    CHECK(mean_clock({0.1, 0}, bursting, kClock, kClock, {100'000, 1000, 2000}) == kClock);
    // What a slower clock did is as much at a faster one: at 1 GHz half of what tensor cores could do.
    CHECK(mean_clock({0.5, 0}, bursting, Hertz(1'000'000'000), kClock, {100'000, 0, ends}).value() ==
          Approx(fast).epsilon(1e-6));
    bursting.burst.reset();
    CHECK(clock(100'000, 0, ends) == Approx(slow).epsilon(1e-6));
}

TEST_CASE("A chip is at ease until it has drawn more than its cap for a window, whether that slows it or not",
          "[simt]") {
    SimtSpec chip;
    chip.memory.kind = DramSpec::Kind::Ideal;  // of any bandwidth
    chip.core_clock = kClock;
    chip.power = spec();
    chip.power.burst = Milliwatts(2'000'000);  // which nothing here draws
    chip.power.average = Ticks(kTicksPerSecond);
    chip.power.window = Ticks(1000);
    // In 1000 ticks, two cycles.
    const auto at_ease_after = [&](double work) {
        ClockControl control(chip, {});
        control.begin_kernel(Ticks(0), Bytes(0), {});
        control.end_kernel(Ticks(1000), Bytes(0), work);
        control.begin_kernel(Ticks(1000), Bytes(0), {});
        CHECK(control.clock() == kClock);
        return control.at_ease();
    };
    CHECK(at_ease_after(1.4));        // 100 + 560 W
    CHECK_FALSE(at_ease_after(1.6));  // 100 + 640 W
    // A kernel longer than a window is judged by what it is expected to draw.
    ClockControl control(chip, {});
    control.begin_kernel(Ticks(0), Bytes(0), {10, 7, Bytes(0)});
    CHECK(control.at_ease());
    control.begin_kernel(Ticks(10), Bytes(0), {10, 8, Bytes(0)});
    CHECK_FALSE(control.at_ease());
}

TEST_CASE("Without a burst a chip is at ease however it is slowed: what it drew long ago does not count",
          "[simt]") {
    SimtSpec chip;
    chip.memory.kind = DramSpec::Kind::Ideal;
    chip.core_clock = kClock;
    chip.power = spec();
    chip.power.window = Ticks(1000);
    ClockControl control(chip, {}), other(chip, {});
    // Tensor cores do as much of it as their clock allows.
    const auto kernel = [](ClockControl& of, std::int64_t at, double work) {
        of.begin_kernel(Ticks(at), Bytes(0), {});
        const double slower = static_cast<double>(of.clock().value()) / static_cast<double>(kClock.value());
        of.end_kernel(Ticks(at + 1000), Bytes(0), work * slower);
    };
    // One was busy for long, the other idle: after some windows of the same work they go alike.
    for (std::int64_t at = 0; at < 100'000; at += 1000) kernel(control, at, 2), kernel(other, at, 0);
    for (std::int64_t at = 100'000; at < 110'000; at += 1000)
        kernel(control, at, 1.8), kernel(other, at, 1.8);
    control.begin_kernel(Ticks(110'000), Bytes(0), {});
    other.begin_kernel(Ticks(110'000), Bytes(0), {});
    CHECK(control.clock() < kClock);
    CHECK(std::abs(control.clock().value() - other.clock().value()) <= 1);
    CHECK(control.at_ease());
}

TEST_CASE("A kernel longer than the window is held to what may be drawn at once, whatever its turn leaves",
          "[simt]") {
    SimtSpec chip;
    chip.memory.kind = DramSpec::Kind::Ideal;
    chip.core_clock = kClock;
    chip.power = spec();  // 100 W idle, 800 of tensor cores
    chip.power.cap = Milliwatts(300'000);
    chip.power.window = Ticks(1'000'000);
    // Each turn: ten windows of rest, and two in which tensor cores are `busy`; cycles are 500 ticks.
    const auto clock_of = [&](double busy, Ticks kernel) {
        ClockControl control(chip, {});
        Ticks now(0);
        for (int turn = 0; turn < 2; ++turn) {
            if (turn > 0) control.begin_turn(now, Bytes(0));
            control.begin_kernel(now, Bytes(0), {});
            now += Ticks(10'000'000);
            control.end_kernel(now, Bytes(0), 0);
            control.begin_kernel(now, Bytes(0), {});
            if (turn > 0) return control.clock();
            now += kernel;
            control.end_kernel(now, Bytes(0), busy * static_cast<double>(kernel.value()) / 500);
        }
        return Hertz(0);
    };
    // 800 W of which 200 are left; in the mean of a turn it draws 133.
    CHECK(static_cast<double>(clock_of(1, Ticks(2'000'000)).value()) == Approx(2e9 * std::cbrt(0.25)));
    CHECK(clock_of(0.25, Ticks(2'000'000)) == kClock);
    // In less than a window it is part of the mean.
    CHECK(clock_of(1, Ticks(900'000)) == kClock);
    // A burst leaves 400 W.
    chip.power.burst = Milliwatts(500'000);
    chip.power.average = Ticks(kTicksPerSecond);
    CHECK(static_cast<double>(clock_of(1, Ticks(2'000'000)).value()) == Approx(2e9 * std::cbrt(0.5)));
}

TEST_CASE("A turn that took no time leaves the clock of the one before", "[simt]") {
    SimtSpec chip = of_300_watts();
    ClockControl control(chip, {});
    control.begin_kernel(Ticks(0), Bytes(0), {});
    control.end_kernel(Ticks(900'000), Bytes(0), 1800);  // all of its cycles of 500 ticks
    control.begin_turn(Ticks(900'000), Bytes(0));
    control.begin_turn(Ticks(900'000), Bytes(0));
    control.begin_kernel(Ticks(900'000), Bytes(0), {});
    CHECK(static_cast<double>(control.clock().value()) == Approx(2e9 * std::cbrt(0.25)));
}

TEST_CASE("Kernels behind one that the cap held keep its clock for as long as it takes to rise", "[simt]") {
    SimtSpec chip = of_300_watts();
    const double held = 2e9 * std::cbrt(0.25);
    // Two turns: tensor cores busy for two windows, ten windows of rest, and then so many more.
    const auto clocks_of = [&](Ticks rise, Ticks more) {
        chip.power.rise = rise;
        ClockControl control(chip, {});
        Ticks now(0);
        std::vector<double> clocks;
        const auto run = [&](Ticks time, double work) {
            const double cycles = static_cast<double>(time.value()) / 500;
            control.begin_kernel(now, Bytes(0), {cycles, work * cycles, Bytes(0)});
            clocks.push_back(static_cast<double>(control.clock().value()));
            now += time;
            control.end_kernel(now, Bytes(0), work * cycles * clocks.back() / 2e9);
        };
        for (int turn = 0; turn < 2; ++turn) {
            if (turn > 0) control.begin_turn(now, Bytes(0));
            run(Ticks(2'000'000), 1);
            run(Ticks(10'000'000), 0);
            run(more, 0);
        }
        return clocks;
    };
    const auto check = [&](const std::vector<double>& found, const std::vector<double>& expected) {
        REQUIRE(found.size() == expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-6));
    };
    // A turn by itself draws what it may.
    check(clocks_of(Ticks(0), Ticks(20'000'000)), {held, 2e9, 2e9, held, 2e9, 2e9});
    check(clocks_of(Ticks(5'000'000), Ticks(20'000'000)), {held, held, 2e9, held, held, 2e9});
    check(clocks_of(Ticks(15'000'000), Ticks(20'000'000)), {held, held, held, held, held, held});
}

TEST_CASE("A power cap that leaves nothing for the SMs is refused", "[simt]") {
    const std::string head = "device: Mine\nextends: a100\n";
    const std::string burst = head + "calibrated: {burst_power: 500 W}\n";
    CHECK_THROWS_AS(systole::test::gpu_spec(head + "power: {cap: 150 W}\n"), UserError);
    CHECK_THROWS_AS(systole::test::gpu_spec(head + "power: {window: 0 ms}\n"), UserError);
    CHECK_THROWS_AS(systole::test::gpu_spec(head + "calibrated: {burst_power: 399 W}\n"), UserError);
    CHECK_THROWS_AS(systole::test::gpu_spec(burst + "power: {average: 0 ms}\n"), UserError);
    CHECK(systole::test::gpu_spec(burst).power.burst == Milliwatts(500'000));
    const PowerSpec slow = systole::test::gpu_spec(head + "power: {rise: 3 ms, l2_follows: off}\n").power;
    CHECK(slow.rise == Ticks(kTicksPerSecond / 1000 * 3));
    CHECK_FALSE(slow.l2_follows);
    CHECK(systole::test::gpu_spec(head + "power: {cap: 0 W}\n").power.cap == std::nullopt);
}

}  // namespace systole::simt
