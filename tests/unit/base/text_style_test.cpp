// SPDX-License-Identifier: Apache-2.0
#include "sim/base/text_style.h"

#include <catch2/catch.hpp>

using namespace systole;

TEST_CASE("ink is an escape sequence where there is colour, and nothing elsewhere", "[text]") {
    TextStyle style;
    const Ink ink{Ink::Weight::Strong, 166};
    CHECK(painted("memory", ink, style) == "memory");
    style.colour = true;
    CHECK(painted("memory", ink, style) == "\033[1;38;5;166mmemory\033[0m");
    CHECK(painted("memory", kFaint, style) == "\033[2mmemory\033[0m");
    CHECK(painted("memory", kPlain, style) == "memory");
    CHECK(painted("", ink, style).empty());
}

TEST_CASE("a sparkline has one bar of eight heights for each value", "[text]") {
    CHECK(sparkline({0, 12.4, 12.5, 49.9, 50, 87.5, 100}, 100) == "▁▁▂▄▅██");
    CHECK(sparkline({-1, 200}, 100) == "▁█");
    CHECK(sparkline({}, 1).empty());
}
