// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#include "sim/base/checked.h"
#include "sim/base/units.h"

using namespace systole;

TEST_CASE("checked arithmetic answers inside 64 bits and nothing outside", "[checked]") {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
    CHECK(checked_mul(3, -7) == -21);
    CHECK(checked_mul(kMax, 1) == kMax);
    CHECK(checked_mul(kMax, 0) == 0);
    CHECK_FALSE(checked_mul(std::int64_t{1} << 32, std::int64_t{1} << 31));
    CHECK_FALSE(checked_mul(kMin, -1));
    CHECK(checked_add(kMax - 1, 1) == kMax);
    CHECK(checked_add(kMax, kMin) == -1);
    CHECK_FALSE(checked_add(kMax, 1));
    CHECK_FALSE(checked_add(kMin, -1));
}

TEST_CASE("division rounds up where it says so", "[units]") {
    CHECK(ceil_div(0, 8) == 0);
    CHECK(ceil_div(1, 8) == 1);
    CHECK(ceil_div(8, 8) == 1);
    CHECK(ceil_div(9, 8) == 2);
    CHECK(ceil_div(std::numeric_limits<std::int64_t>::max(), 2) == std::int64_t{1} << 62);
    CHECK(round_up(130, 128) == 256);
    CHECK(round_up(128, 128) == 128);
    CHECK(to_bytes(Bits(4)) == Bytes(1));
    CHECK(to_bytes(Bits(12)) == Bytes(2));
}

TEST_CASE("quantities of one kind add, compare and divide", "[units]") {
    Bytes sum(5);
    sum += Bytes(7);
    sum -= Bytes(2);
    CHECK(sum == Bytes(10));
    CHECK(Bytes(3) * 4 == Bytes(12));
    CHECK(Bytes(13) / Bytes(4) == 3);
    CHECK(Bytes(1) < Bytes(2));
}
