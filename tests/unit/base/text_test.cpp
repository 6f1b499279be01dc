// SPDX-License-Identifier: Apache-2.0
#include "sim/base/text.h"

#include <catch2/catch.hpp>

using namespace systole;

TEST_CASE("thousands are separated by commas", "[text]") {
    CHECK(with_thousands(0) == "0");
    CHECK(with_thousands(999) == "999");
    CHECK(with_thousands(1000) == "1,000");
    CHECK(with_thousands(1234567) == "1,234,567");
    CHECK(with_thousands(-999) == "-999");
    CHECK(with_thousands(-1000) == "-1,000");
    CHECK(with_thousands(std::numeric_limits<std::int64_t>::min()) == "-9,223,372,036,854,775,808");
}

TEST_CASE("times take the unit that leaves four digits", "[text]") {
    CHECK(format_energy(Femtojoules(5)) == "5.000 fJ");
    CHECK(format_energy(Femtojoules(12'300'000'000'000)) == "12.30 mJ");
    CHECK(format_time(Ticks(0)) == "0 ps");
    CHECK(format_time(Ticks(999)) == "999 ps");
    CHECK(format_time(Ticks(1000)) == "1.000 ns");
    CHECK(format_time(Ticks(81'321'000)) == "81.32 us");
    CHECK(format_time(Ticks(999'949'000)) == "999.9 us");
    CHECK(format_time(Ticks(999'951'000)) == "1.000 ms");
    CHECK(format_time(Ticks(5'000'000'000'000'000)) == "5000.0 s");
}

TEST_CASE("byte counts are decimal", "[text]") {
    CHECK(format_bytes(Bytes(812)) == "812 B");
    CHECK(format_bytes(Bytes(1024)) == "1.024 kB");
    CHECK(format_bytes(Bytes(51'280'000)) == "51.28 MB");
}

TEST_CASE("fractions print as percent with one decimal", "[text]") {
    CHECK(format_percent(0.4567) == "45.7");
    CHECK(format_percent(1) == "100.0");
}
