// SPDX-License-Identifier: Apache-2.0
#include "sim/config/quantity.h"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

using namespace systole::config;

namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::string problem(std::string_view text, Dimension dimension) {
    return parse_quantity(text, dimension, 0, kMax).problem;
}

std::int64_t value(std::string_view text, Dimension dimension) {
    return parse_quantity(text, dimension, 0, kMax).value.value_or(-1);
}

}  // namespace

TEST_CASE("each unit of the documentation has its size", "[quantity]") {
    CHECK(value("7 Hz", Dimension::Frequency) == 7);
    CHECK(value("32 kHz", Dimension::Frequency) == 32'000);
    CHECK(value("1050 MHz", Dimension::Frequency) == 1'050'000'000);
    CHECK(value("1.05 GHz", Dimension::Frequency) == 1'050'000'000);
    CHECK(value("512 B", Dimension::Size) == 512);
    CHECK(value("3 kB", Dimension::Size) == 3'000);
    CHECK(value("3 KiB", Dimension::Size) == 3'072);
    CHECK(value("8 MB", Dimension::Size) == 8'000'000);
    CHECK(value("24 MiB", Dimension::Size) == 25'165'824);
    CHECK(value("8 GB", Dimension::Size) == 8'000'000'000);
    CHECK(value("2 GiB", Dimension::Size) == 2'147'483'648);
    CHECK(value("900 GB/s", Dimension::Bandwidth) == 900'000'000'000);
    CHECK(value("14 GiB/s", Dimension::Bandwidth) == 15'032'385'536);
    CHECK(value("2 TB", Dimension::Size) == 2'000'000'000'000);
    CHECK(value("1.5 TiB", Dimension::Size) == 1'649'267'441'664);
    CHECK(value("0.000000007450580596923828125 TiB", Dimension::Size) == 8192);  // 2^-27
    CHECK(value("4.8 TB/s", Dimension::Bandwidth) == 4'800'000'000'000);
    CHECK(value("0.25 TiB/s", Dimension::Bandwidth) == 274'877'906'944);
    CHECK(value("5 ps", Dimension::Time) == 5);
    CHECK(value("700 ns", Dimension::Time) == 700'000);
    CHECK(value("1.5 us", Dimension::Time) == 1'500'000);
    CHECK(value("2 ms", Dimension::Time) == 2'000'000'000);
    CHECK(value("0 s", Dimension::Time) == 0);
    CHECK(value("0.000000000001 s", Dimension::Time) == 1);
    CHECK(value("1.500000000000000000000000000000000000 us", Dimension::Time) == 1'500'000);
    CHECK(value("909 pJ", Dimension::Energy) == 909'000);
    CHECK(value("1.5 nJ", Dimension::Energy) == 1'500'000);
    CHECK(value("7 fJ", Dimension::Energy) == 7);
    CHECK(value("2 uJ", Dimension::Energy) == 2'000'000'000);
    CHECK(value("33 mW", Dimension::Power) == 33);
    CHECK(value("1.5 W", Dimension::Power) == 1'500);
    CHECK(value("30000 USD", Dimension::Price) == 30'000'000'000);
    CHECK(value("3.22 USD/h", Dimension::PricePerHour) == 3'220'000);
    CHECK(value("0.0806 USD/kWh", Dimension::PricePerEnergy) == 80'600);
    CHECK(value("1 year", Dimension::Years) == 1'000);
    CHECK(value("4.5 years", Dimension::Years) == 4'500);
    CHECK(value("940MHz", Dimension::Frequency) == 940'000'000);
}

TEST_CASE("a wrong quantity is told what was expected", "[quantity]") {
    CHECK(problem("1050", Dimension::Frequency) ==
          "'1050' has no unit; expected a frequency such as '940 MHz'");
    CHECK(problem("fast", Dimension::Frequency) == "'fast' is not a frequency such as '940 MHz'");
    CHECK(problem("", Dimension::Time) == "'' is not a time such as '700 ns'");
    CHECK(
        problem("1050 Mhz", Dimension::Frequency) ==
        "'1050 Mhz' has an unknown unit 'Mhz' (did you mean 'MHz'?); expected a frequency such as '940 MHz'");
    CHECK(problem("5 J", Dimension::Energy).find("unknown unit 'J'") != std::string::npos);
    CHECK(problem("0.5 fJ", Dimension::Energy) == "'0.5 fJ' is not a whole number of fJ");
    CHECK(problem("33", Dimension::Power) == "'33' has no unit; expected a power such as '30 mW'");
    CHECK(problem("3.2", Dimension::PricePerHour) ==
          "'3.2' has no unit; expected a price such as '3.22 USD/h'");
    CHECK(problem("3 USD/h", Dimension::Price) ==
          "'3 USD/h' has an unknown unit 'USD/h'; expected a price such as '30000 USD'");
    CHECK(problem("0.0000001 USD", Dimension::Price) ==
          "'0.0000001 USD' is not a whole number of 0.000001 USD");
    CHECK(problem("0.0001 years", Dimension::Years) == "'0.0001 years' is not a whole number of 0.001 years");
    CHECK(problem("-1 USD", Dimension::Price) == "'-1 USD' is negative");
    CHECK(parse_quantity("0 USD", Dimension::Price, 1, kMax).problem ==
          "'0 USD' is zero; expected more than 0");
    CHECK(problem("900 GB", Dimension::Bandwidth).find("has an unknown unit 'GB'") != std::string::npos);
    CHECK(problem("010 MiB", Dimension::Size) == "'010 MiB' has a leading zero; numbers are decimal only");
    CHECK(problem("0x10 MiB", Dimension::Size).find("unknown unit 'x10 MiB'") != std::string::npos);
    CHECK(problem("1e3 MHz", Dimension::Frequency).find("unknown unit 'e3 MHz'") != std::string::npos);
    CHECK(problem("-1 ns", Dimension::Time) == "'-1 ns' is negative");
    CHECK(problem("0.5 B", Dimension::Size) == "'0.5 B' is not a whole number of B");
    // More decimals than 128 bits have powers of ten.
    CHECK(problem("0." + std::string(39, '0') + "1 TiB", Dimension::Size)
              .ends_with("is not a whole number of B"));
    CHECK(problem("0.0000000037252902984619140625 TiB", Dimension::Size).ends_with("leaves 64 bits"));
    CHECK(problem("0.0005 ns", Dimension::Time) == "'0.0005 ns' is not a whole number of ps");
    CHECK(problem("9223373 s", Dimension::Time) == "'9223373 s' leaves 64 bits");
    CHECK(problem("99999999999999999999 B", Dimension::Size) == "'99999999999999999999 B' leaves 64 bits");
    CHECK(parse_quantity("2 THz", Dimension::Frequency, 1, 1'000'000'000'000).problem.find("unknown unit") !=
          std::string::npos);
    CHECK(parse_quantity("1001 GHz", Dimension::Frequency, 1, 1'000'000'000'000).problem ==
          "'1001 GHz' is too large; the most is 1000 GHz");
}

TEST_CASE("whole numbers are decimal and within their limits", "[quantity]") {
    CHECK(parse_integer("128", 1, 256).value == 128);
    CHECK(parse_integer("-5", -5, 0).value == -5);
    CHECK(parse_integer("9223372036854775807", 0, kMax).value == kMax);
    CHECK(parse_integer("010", 0, kMax).problem == "'010' has a leading zero; numbers are decimal only");
    CHECK(parse_integer("0x10", 0, kMax).problem ==
          "'0x10' is not a plain whole number; a count has no unit");
    CHECK(parse_integer("24 MiB", 0, kMax).problem ==
          "'24 MiB' is not a plain whole number; a count has no unit");
    CHECK(parse_integer("1.5", 0, kMax).problem == "'1.5' is not a whole number");
    CHECK(parse_integer("+1", 0, kMax).problem == "'+1' is not a whole number");
    CHECK(parse_integer("many", 0, kMax).problem == "'many' is not a whole number");
    CHECK(parse_integer("0", 1, 256).problem == "'0' is too small; the least is 1");
    CHECK(parse_integer("-1", 1, 256).problem == "'-1' is too small; the least is 1");
    CHECK(parse_integer("257", 1, 256).problem == "'257' is too large; the most is 256");
    CHECK(parse_integer("9223372036854775808", 0, kMax).problem == "'9223372036854775808' leaves 64 bits");
}

TEST_CASE("plain numbers are decimal and within their range", "[quantity]") {
    CHECK(parse_number("0.8", 0, 1).value == 0.8);
    CHECK(parse_number("-12", -20, 0).value == -12.0);
    CHECK(parse_number("1.5", 0, 1).problem == "'1.5' is too large; the most is 1");
    CHECK(parse_number("1e3", 0, 1e9).problem == "'1e3' is not a plain decimal number such as '0.8'");
    CHECK(parse_number("nan", 0, 1).problem == "'nan' is not a number");
    CHECK(parse_number("00.5", 0, 1).problem == "'00.5' has a leading zero; numbers are decimal only");
}

TEST_CASE("written quantities and numbers read back to the same value", "[quantity]") {
    CHECK(format_quantity(1'050'000'000, Dimension::Frequency) == "1050 MHz");
    CHECK(format_quantity(25'165'824, Dimension::Size) == "24 MiB");
    CHECK(format_quantity(8'000'000'000, Dimension::Size) == "8 GB");
    CHECK(format_quantity(0, Dimension::Time) == "0 ps");
    CHECK(format_quantity(3'220'000, Dimension::PricePerHour) == "3.22 USD/h");
    CHECK(format_quantity(80'600, Dimension::PricePerEnergy) == "0.0806 USD/kWh");
    CHECK(format_quantity(30'000'000'000, Dimension::Price) == "30000 USD");
    CHECK(format_quantity(1, Dimension::Price) == "0.000001 USD");
    CHECK(format_quantity(4'500, Dimension::Years) == "4.5 years");
    CHECK(format_number(0.1) == "0.1");
    CHECK(format_number(1e-7) == "0.0000001");
    constexpr std::uint64_t kSeed = 11;
    INFO("seed " << kSeed);
    std::mt19937_64 random(kSeed);
    for (int i = 0; i < 20'000; ++i) {
        const auto number = static_cast<std::int64_t>(random() >> (1 + random() % 60));
        for (const Dimension dimension : {Dimension::Frequency, Dimension::Size, Dimension::Bandwidth,
                                          Dimension::Time, Dimension::Price, Dimension::Years}) {
            INFO(format_quantity(number, dimension));
            REQUIRE(value(format_quantity(number, dimension), dimension) == number);
        }
        const double real = static_cast<double>(number) / static_cast<double>(random() | 1);
        REQUIRE(parse_number(format_number(real), 0, 1e30).value == real);
    }
}

TEST_CASE("messages quote a long text in part, at a whole character", "[quantity]") {
    std::string text(59, 'x');
    text += "\xE2\x82\xAC and more";
    CHECK(parse_integer(text, 0, 1).problem == "'" + std::string(59, 'x') + "…' is not a whole number");
}

TEST_CASE("bytes that begin no character are quoted without a look before the text", "[quantity]") {
    // Of a larger text: whoever looked before the part would find the start of a character there.
    const std::string around = "x" + std::string(80, '\xAE');
    CHECK(parse_integer(std::string_view(around).substr(1), 0, 1).problem == "'…' is not a whole number");
}
