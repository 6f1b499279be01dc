// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/matrix_account.h"

#include <catch2/catch.hpp>

namespace systole::systolic {
namespace {

const ClockDomain kClock(Hertz(1'000'000'000));
constexpr std::int64_t kSlots = 10;

PassTimes times(std::int64_t start, std::int64_t stream_end, std::int64_t done) {
    return {Cycles(0), Cycles(0), Cycles(start), Cycles(stream_end), Cycles(done)};
}

std::int64_t cycles(const MatrixAccount& account, SlotClass slot_class) {
    const auto rows = cut({&account.slots()}, {account.slots().charged_until()});
    return rows[0][static_cast<std::size_t>(slot_class)] / (kSlots * 1000);
}

}  // namespace

// A load in DRAM until 5, a pass 5…9 that drains until 12; a second load from 6 until 20, a pass 20…24
// draining until 27; then the vector unit until 30.
TEST_CASE("a wait belongs to the state of what it waited for", "[account]") {
    CausalLog log;
    MatrixAccount account(kClock, kSlots);
    const auto load1 = log.add(Ticks(5'000), CausalLog::kNone, SlotClass::Memory, 0);
    const auto pass1 = log.add(Ticks(5'000), log.add(Ticks(1'000), CausalLog::kNone, SlotClass::Launch, 0),
                               SlotClass::Memory, 1);
    account.pass(log, pass1, times(5, 9, 12), {kSlots, 4, kSlots, kSlots, Cycles(12)});
    const auto load2_start = log.add(Ticks(6'000), load1, SlotClass::Host, 2);
    const auto load2 = log.add(Ticks(20'000), load2_start, SlotClass::Memory, 2);
    const auto pass2 = log.add(Ticks(20'000), load2, SlotClass::Memory, 3);
    account.pass(log, pass2, times(20, 24, 27), {kSlots, 4, kSlots, kSlots, Cycles(27)});
    const auto streamed = log.add(Ticks(24'000), pass2, SlotClass::Dependency, 3);
    const auto drained = log.add(Ticks(27'000), streamed, SlotClass::Ramp, 3);
    const auto end = log.add(Ticks(30'000), drained, SlotClass::Vector, 4);
    account.finish(log, end);

    CHECK(account.slots().charged_until() == Ticks(30'000));
    CHECK(cycles(account, SlotClass::Launch) == 1);
    CHECK(cycles(account, SlotClass::Memory) == 4 + 11);  // 1…5, and 9…20: the first drain runs behind it
    CHECK(cycles(account, SlotClass::Useful) == 8);
    CHECK(cycles(account, SlotClass::Ramp) == 3);  // the last drain, which the vector unit waits for
    CHECK(cycles(account, SlotClass::Vector) == 3);
}

TEST_CASE("what other matrix units still do at the end is this unit's tail", "[account]") {
    CausalLog log;
    MatrixAccount idle(kClock, kSlots);
    const auto start = log.add(Ticks(2'000), CausalLog::kNone, SlotClass::Launch, 0);
    const auto streamed = log.add(Ticks(10'000), start, SlotClass::Dependency, 0);
    const auto drained = log.add(Ticks(13'000), streamed, SlotClass::Ramp, 0);
    const auto end = log.add(Ticks(15'000), drained, SlotClass::Vector, 1);
    idle.finish(log, end);
    CHECK(cycles(idle, SlotClass::Launch) == 2);
    CHECK(cycles(idle, SlotClass::Tail) == 11);
    CHECK(cycles(idle, SlotClass::Vector) == 2);
}

TEST_CASE("waits of one command for one thing are one stretch, however many events tell of them",
          "[account]") {
    CausalLog log;
    MatrixAccount account(kClock, kSlots, true);
    const auto launched = log.add(Ticks(1'000), CausalLog::kNone, SlotClass::Launch, 0);
    const auto begun = log.add(Ticks(2'000), launched, SlotClass::Memory, 1);
    const auto loaded = log.add(Ticks(5'000), begun, SlotClass::Memory, 1);
    const auto other = log.add(Ticks(8'000), loaded, SlotClass::Memory, 2);
    account.pass(log, log.add(Ticks(8'000), other, SlotClass::Memory, 3), times(8, 12, 15),
                 {kSlots, 4, kSlots, kSlots, Cycles(15)});
    std::vector<std::pair<std::int64_t, std::uint32_t>> stretches;
    for (const auto& stretch : account.stretches())
        stretches.emplace_back(stretch.end.value(), stretch.command);
    CHECK(stretches == decltype(stretches){{1'000, 0}, {5'000, 1}, {8'000, 2}, {12'000, 0}});
}

// A pass 0…4 that drains until 7, its sums readable at 10; another unit's drain lasts until 13.
TEST_CASE("at the end a unit's own drain, accumulators included, is ramp and only the rest tail",
          "[account]") {
    CausalLog log;
    MatrixAccount account(kClock, kSlots);
    const auto start = log.add(Ticks(0), CausalLog::kNone, SlotClass::Launch, 0);
    account.pass(log, start, times(0, 4, 7), {kSlots, 4, kSlots, kSlots, Cycles(10)});
    const auto streamed = log.add(Ticks(4'000), start, SlotClass::Dependency, 1);
    account.finish(log, log.add(Ticks(13'000), streamed, SlotClass::Ramp, 1));
    CHECK(cycles(account, SlotClass::Useful) == 4);
    CHECK(cycles(account, SlotClass::Ramp) == 6);
    CHECK(cycles(account, SlotClass::Tail) == 3);
}

TEST_CASE("a port that delivers less than a vector a cycle costs on_chip slots", "[account]") {
    CausalLog log;
    MatrixAccount account(kClock, kSlots);
    const auto start = log.add(Ticks(0), CausalLog::kNone, SlotClass::Launch, 0);
    account.pass(log, start, times(0, 7, 7), {kSlots, 4, 6, 6, Cycles(7)});
    const auto rows = cut({&account.slots()}, {Ticks(7'000)});
    CHECK(rows[0][static_cast<std::size_t>(SlotClass::Useful)] == 4 * 6 * 1000);
    CHECK(rows[0][static_cast<std::size_t>(SlotClass::Padding)] == 4 * 4 * 1000);
    CHECK(rows[0][static_cast<std::size_t>(SlotClass::OnChip)] == 3 * 10 * 1000);
}

}  // namespace systole::systolic
