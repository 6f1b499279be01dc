// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/range.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "tests/unit/sweep/support.h"

using namespace systole;
using namespace systole::sweep;
using systole::sweep::test::complaint;

namespace {

using Texts = std::vector<std::string>;

const SourceMark kPlace{"f.yaml", 4, 9};

std::string linear_mistake(const std::string& from, const std::string& to, const std::string& count) {
    return complaint([&] { linear_values(from, to, count, kPlace); });
}

std::string log2_mistake(const std::string& from, const std::string& to) {
    return complaint([&] { log2_values(from, to, kPlace); });
}

std::string span_mistake(const std::string& from, const std::string& to) {
    return complaint([&] { check_span({from, to}, kPlace); });
}

constexpr double kLast = 0x1.fffffffffffffp-1;

}  // namespace

TEST_CASE("linear ranges hold both ends, and whole numbers between whole ends", "[range]") {
    CHECK(linear_values("1", "9", "5", kPlace) == Texts{"1", "3", "5", "7", "9"});
    CHECK(linear_values("0", "10", "4", kPlace) == Texts{"0", "3", "7", "10"});
    CHECK(linear_values("1", "4", "3", kPlace) == Texts{"1", "3", "4"});  // a half goes away from the start
    CHECK(linear_values("-2", "2", "3", kPlace) == Texts{"-2", "0", "2"});
    CHECK(linear_values("9", "1", "3", kPlace) == Texts{"9", "5", "1"});
}

TEST_CASE("linear ranges of quantities are exact in the smallest unit", "[range]") {
    CHECK(linear_values("900 MHz", "1.1 GHz", "3", kPlace) == Texts{"900 MHz", "1 GHz", "1100 MHz"});
    CHECK(linear_values("0 B", "1 KiB", "3", kPlace) == Texts{"0 B", "512 B", "1 KiB"});
    CHECK(linear_values("2 ns", "1 ns", "3", kPlace) == Texts{"2 ns", "1500 ps", "1 ns"});
    CHECK(linear_values("0 ps", "9223372036854775807 ps", "3", kPlace)[1] == "4611686018427387904 ps");
}

TEST_CASE("whole numbers at the ends of 64 bits do not overflow", "[range]") {
    const std::string most = "9223372036854775807";
    CHECK(linear_values('-' + most, most, "3", kPlace) == Texts{'-' + most, "0", most});
    CHECK(log2_values("4611686018427387904", "4611686018427387904", kPlace) == Texts{"4611686018427387904"});
    CHECK(log2_mistake("4611686018427387904", most).find("doubling") != std::string::npos);
    CHECK(value_within({'-' + most, most}, 0) == '-' + most);
    CHECK(value_within({'-' + most, most}, 0.5) == "0");
    CHECK(config::parse_integer(value_within({"5", most}, kLast), 5, 9223372036854775807).value);
    CHECK(value_within({"0", "999999999999999"}, kLast) == "999999999999999");
}

TEST_CASE("linear ranges of decimals hold what anybody would write", "[range]") {
    CHECK(linear_values("0.1", "0.5", "5", kPlace) == Texts{"0.1", "0.2", "0.3", "0.4", "0.5"});
    CHECK(linear_values("1", "2.5", "4", kPlace) == Texts{"1", "1.5", "2", "2.5"});
    CHECK(linear_values("0.3", "0", "4", kPlace) == Texts{"0.3", "0.2", "0.1", "0"});
}

TEST_CASE("what arithmetic leaves behind near zero is no value", "[range]") {
    CHECK(linear_values("-0.1", "0.2", "4", kPlace) == Texts{"-0.1", "0", "0.1", "0.2"});
    CHECK(linear_values("-0.3", "0.6", "10", kPlace)[3] == "0");
    CHECK(linear_values("0.7", "-0.7", "15", kPlace)[7] == "0");
}

TEST_CASE("decimal ranges keep whole numbers of many digits", "[range]") {
    CHECK(linear_values("1.5", "1099511627777.5", "2", kPlace) == Texts{"1.5", "1099511627777.5"});
    CHECK(linear_values("1.0", "1099511627777.0", "2", kPlace) == Texts{"1", "1099511627777"});
}

TEST_CASE("mistakes of linear ranges are told at their place", "[range]") {
    const std::string at = "f.yaml:4:9: error: ";
    CHECK(linear_mistake("1", "2 GHz", "3") == at + "'1' and '2 GHz' are not of one kind");
    CHECK(linear_mistake("1 GHz", "2 GiB", "3") == at + "'1 GHz' and '2 GiB' are not of one kind");
    CHECK(linear_mistake("ws", "os", "3") ==
          at + "'ws' is no end of a range; expected a number, or a quantity such as '900 MHz'");
    CHECK(linear_mistake("1", "9", "1") ==
          at + "{linear: [FROM, TO, COUNT]}: COUNT '1' is too small; the least is 2");
    CHECK(linear_mistake("1", "9", "1000001") ==
          at + "{linear: [FROM, TO, COUNT]}: COUNT '1000001' is too large; the most is 1000000");
    CHECK(linear_mistake("1", "9", "-3").find("too small") != std::string::npos);
    CHECK(linear_mistake("1", "9", "2.5").find("is not a whole number") != std::string::npos);
    CHECK(linear_mistake("1", "9", "99999999999999999999").find("leaves 64 bits") != std::string::npos);
    CHECK(linear_mistake("1", "3", "4") == at + "4 values from 1 to 3 are not all different: 2 comes twice");
    CHECK(linear_mistake("5", "5", "2") == at + "2 values from 5 to 5 are not all different: 5 comes twice");
    for (const char* end :
         {"", " ", "nan", "inf", "1e5", "0x10", "007", "-1 GHz", "9223372036854775808 B", "1.5 B"}) {
        INFO(end);
        CHECK(linear_mistake(end, "9", "3").starts_with(at));
    }
}

TEST_CASE("log2 ranges double from the first end to the last", "[range]") {
    CHECK(log2_values("1", "8", kPlace) == Texts{"1", "2", "4", "8"});
    CHECK(log2_values("3", "24", kPlace) == Texts{"3", "6", "12", "24"});
    CHECK(log2_values("512 KiB", "2 MiB", kPlace) == Texts{"512 KiB", "1 MiB", "2 MiB"});
    CHECK(log2_values("500 MHz", "1 GHz", kPlace) == Texts{"500 MHz", "1 GHz"});
    CHECK(log2_values("7", "7", kPlace) == Texts{"7"});
    CHECK(log2_values("1", "4611686018427387904", kPlace).size() == 63);
}

TEST_CASE("mistakes of log2 ranges are told at their place", "[range]") {
    const std::string at = "f.yaml:4:9: error: ";
    CHECK(log2_mistake("1", "6") == at + "doubling 1 does not lead to 6; 8 would be next");
    CHECK(log2_mistake("1 KiB", "3 KiB") ==
          at + "doubling 1 KiB does not lead to 3 KiB; 4 KiB would be next");
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {"0", "8"}, {"-2", "8"}, {"0.5", "4"}, {"1", "4.0"}, {"0 B", "4 B"}}) {
        INFO(from);
        CHECK(log2_mistake(from, to) ==
              at + "{log2: [FROM, TO]} takes whole numbers from 1 on, or quantities");
    }
    CHECK(log2_mistake("8", "1").starts_with(at));
    CHECK(log2_mistake("1", "8 B") == at + "'1' and '8 B' are not of one kind");
}

TEST_CASE("a span has two ends of one kind", "[range]") {
    CHECK(span_mistake("1", "2") == "fine");
    CHECK(span_mistake("2 GHz", "1 GHz") == "fine");
    CHECK(span_mistake("0", "0.5") == "fine");
    CHECK(span_mistake("1", "2 GHz") == "f.yaml:4:9: error: '1' and '2 GHz' are not of one kind");
    CHECK(span_mistake("1 GHz", "1000 MHz") ==
          "f.yaml:4:9: error: a range from 1 GHz to 1000 MHz holds one value");
    CHECK(span_mistake("1", "1").find("holds one value") != std::string::npos);
    CHECK(span_mistake("1", "1.0").find("holds one value") != std::string::npos);
    CHECK(span_mistake("0.5", "0.50").find("holds one value") != std::string::npos);
}

TEST_CASE("a share of a span is a value within it", "[range]") {
    CHECK(value_within({"1", "4"}, 0) == "1");
    CHECK(value_within({"1", "4"}, 0.2499) == "1");
    CHECK(value_within({"1", "4"}, 0.25) == "2");
    CHECK(value_within({"1", "4"}, kLast) == "4");
    CHECK(value_within({"4", "1"}, 0) == "4");
    CHECK(value_within({"4", "1"}, kLast) == "1");
    CHECK(value_within({"-1", "1"}, 0.5) == "0");
    CHECK(value_within({"1 GHz", "2 GHz"}, 0.5) == "1500 MHz");
    CHECK(value_within({"0.5", "1.5"}, 0.25) == "0.75");
    CHECK(value_within({"1.5", "0.5"}, 0.25) == "1.25");
}
