// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "models/devices/systolic/explore/array_recorder.h"
#include "sim/base/error.h"

namespace systole::systolic {
namespace {

void declare(UnitFinder& finder, const std::string& path) {
    WaveSignal signal;
    signal.path = path;
    finder.add(signal, {});
}

/// The edges of an array, and its first PE.
void declare_array(UnitFinder& finder, const std::string& unit, int rows, int cols) {
    declare(finder, unit + ".queue");
    for (int row = 0; row < rows; ++row) declare(finder, fmt::format("{}.left.row_{}", unit, row));
    for (int col = 0; col < cols; ++col) declare(finder, fmt::format("{}.shift.col_{}", unit, col));
    declare(finder, unit + ".pe_0_0.moving");
}

}  // namespace

TEST_CASE("arrays are found with their sizes, in the order in which they are declared", "[explore]") {
    UnitFinder finder;
    declare(finder, "chip.clock");
    declare_array(finder, "chip.core0.mxu0", 3, 12);
    declare_array(finder, "chip.core1.mxu1", 16, 16);
    REQUIRE(finder.units().size() == 2);
    CHECK(finder.units()[0].path == "chip.core0.mxu0");
    CHECK(finder.units()[0].rows == 3);
    CHECK(finder.units()[0].cols == 12);
    CHECK(finder.units()[1].path == "chip.core1.mxu1");
    CHECK(finder.units()[1].rows == 16);
    CHECK(finder.units()[1].cols == 16);
}

TEST_CASE("an array of more PEs than a page holds is refused by its size", "[explore]") {
    UnitFinder finder;
    REQUIRE_THROWS_WITH(declare_array(finder, "chip.mxu0", 17, 16),
                        Catch::Contains("array of 17 x 16: 272 PEs") && Catch::Contains("at most 256"));
}

}  // namespace systole::systolic
