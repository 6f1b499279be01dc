// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/sm/tensor_time.h"

#include <catch2/catch.hpp>

namespace systole::simt {
namespace {

LostTime lost(const TensorTime& time, std::int64_t from, std::int64_t until) {
    LostTime lost{};
    time.add_lost(from, until, lost);
    return lost;
}

LostTime of(std::int64_t memory, std::int64_t on_chip, std::int64_t dependency) {
    LostTime lost{};
    lost[static_cast<std::size_t>(Loss::Memory)] = memory;
    lost[static_cast<std::size_t>(Loss::OnChip)] = on_chip;
    lost[static_cast<std::size_t>(Loss::Dependency)] = dependency;
    return lost;
}

}  // namespace

TEST_CASE("A stall is remembered as far as it outlasts the one before, and joined to one of its kind",
          "[simt]") {
    std::vector<Stall> stalls;
    remember(stalls, 10, Loss::Memory);
    remember(stalls, 10, Loss::OnChip);  // is over with it
    remember(stalls, 8, Loss::OnChip);
    remember(stalls, 15, Loss::Memory);
    remember(stalls, 16, Loss::OnChip);
    REQUIRE(stalls.size() == 2);
    CHECK(stalls[0].until == 15);
    CHECK(stalls[0].loss == Loss::Memory);
    CHECK(stalls[1].until == 16);
    CHECK(stalls[1].loss == Loss::OnChip);
}

// Lost to memory until 4 and to a dependency until 6; at work until 16, in two goes; lost to on-chip until
// 20, of a stall that lasts longer; at work until 30.
TEST_CASE("A tensor core's time is work or lost to the stalls of the warp that uses it next", "[simt]") {
    TensorTime time;
    time.charge({{4, Loss::Memory}}, 6);
    time.work(10);
    time.charge({}, 10);
    time.work(16);
    time.charge({{12, Loss::Memory}, {25, Loss::OnChip}}, 20);
    time.work(30);

    CHECK(time.busy(0, 30) == 20);
    CHECK(lost(time, 0, 30) == of(4, 4, 2));
    SECTION("of a window that begins and ends within pieces, what lies in it") {
        CHECK(time.busy(8, 18) == 8);
        CHECK(lost(time, 8, 18) == of(0, 2, 0));
        CHECK(time.busy(3, 5) == 0);
        CHECK(lost(time, 3, 5) == of(1, 0, 1));
        CHECK(time.busy(16, 20) == 0);
        CHECK(time.busy(6, 16) == 10);
        CHECK(lost(time, 6, 16) == of(0, 0, 0));
    }
    SECTION("what comes behind all of it is a dependency's") {
        CHECK(time.busy(28, 40) == 2);
        CHECK(lost(time, 28, 40) == of(0, 0, 10));
        CHECK(time.busy(35, 40) == 0);
        CHECK(lost(time, 35, 40) == of(0, 0, 5));
    }
}

}  // namespace systole::simt
