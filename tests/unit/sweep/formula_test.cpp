// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/formula.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "tests/unit/sweep/support.h"

using namespace systole;
using namespace systole::sweep;
using systole::sweep::test::complaint;

namespace {

using Known = std::map<std::string, double>;

double value(const std::string& text, const Known& known = {}) {
    return Formula(text, {"f.yaml", 2, 3}).evaluate([&](const std::string& name) -> std::optional<double> {
        const auto found = known.find(name);
        if (found == known.end()) return {};
        return found->second;
    });
}

std::string mistake(const std::string& text, const Known& known = {}) {
    return complaint([&] { value(text, known); });
}

const std::string kTail = "; expected arithmetic such as 'mxu.rows <= 4 * workload.batch'";

}  // namespace

TEST_CASE("formulas are arithmetic over dotted names", "[formula]") {
    CHECK(value("1 + 2 * 3") == 7);
    CHECK(value("2 ^ 3 ^ 2") == 512);
    CHECK(value("-(2 - 5)") == 3);
    CHECK(value("mxu.rows * mxu.cols", {{"mxu.rows", 128}, {"mxu.cols", 3}}) == 384);
    CHECK(value("min(3, a.b_2, 7)", {{"a.b_2", -4}}) == -4);
    CHECK(value("x > 2 ? 10 : 20", {{"x", 3}}) == 10);
    CHECK(value("ceil_div(7, 2) + floor(2.9) + ceil(0.1)") == 7);
    CHECK(value("1e3 + 0.5") == 1000.5);
}

TEST_CASE("comparisons are one or zero", "[formula]") {
    CHECK(value("3 <= 3") == 1);
    CHECK(value("3 != 3") == 0);
    CHECK(value("a == 2 && b >= 1 || a > 9", {{"a", 2}, {"b", 0}}) == 0);
    CHECK(value("(a == 2) + (b == 0)", {{"a", 2}, {"b", 0}}) == 2);
}

TEST_CASE("units count in hertz, bytes, seconds, joules and watts", "[formula]") {
    CHECK(value("1.2 GHz") == 1.2e9);
    CHECK(value("16 MiB") == 16.0 * 1024 * 1024);
    CHECK(value("3 kB") == 3000);
    CHECK(value("900 GB/s") == 900e9);
    CHECK(value("2 KiB/s") == 2048);
    CHECK(value("700 ns") == 700e-9);
    CHECK(value("5 pJ") == 5e-12);
    CHECK(value("30 mW") == 0.03);
    CHECK(value("3.22 USD/h") == 3.22);
    CHECK(value("0.08 USD/kWh") == 0.08);
    CHECK(value("30000 USD") == 30000);
    CHECK(value("4.5 years") == 4.5);
    CHECK(value("4 GB/s / 2 B") == 2e9);
    CHECK(value("bytes / s.s", {{"bytes", 8}, {"s.s", 2}}) == 4);
}

TEST_CASE("a quantity is the same number in a formula and in a configuration", "[formula]") {
    for (const char* unit :
         {"Hz",  "kHz",  "MHz",   "GHz", "B",    "kB",   "MB",   "GB",    "KiB",   "MiB",     "GiB",  "TB",
          "TiB", "TB/s", "TiB/s", "B/s", "kB/s", "MB/s", "GB/s", "MiB/s", "ps",    "ns",      "us",   "ms",
          "s",   "fJ",   "pJ",    "nJ",  "uJ",   "mW",   "W",    "USD",   "USD/h", "USD/kWh", "years"})
        for (int thousandths = 1; thousandths < 2000; thousandths += 7) {
            const std::string text = fmt::format("{} {}", config::format_number(thousandths / 1000.0), unit);
            const std::optional<double> of_configuration = number_of(text);
            if (!of_configuration) continue;  // not whole in its smallest unit
            INFO(text);
            REQUIRE(value(text) == *of_configuration);
        }
}

TEST_CASE("a formula says which names it uses, sorted and once", "[formula]") {
    CHECK(Formula("b.x + a + b.x * min(c, 1 GHz)", {}).names() == std::vector<std::string>{"a", "b.x", "c"});
    CHECK(Formula("1 + 1", {}).names().empty());
}

TEST_CASE("a formula that was moved still knows its names", "[formula]") {
    Formula first("a * 2", {"f.yaml", 1, 1});
    Formula second("b", {});
    second = std::move(first);
    const Formula third(std::move(second));
    CHECK(third.text() == "a * 2");
    CHECK(third.where().line == 1);
    CHECK(third.evaluate([](const std::string&) { return 21.0; }) == 42);
}

TEST_CASE("what is no arithmetic is refused at its place", "[formula]") {
    const std::string at = "f.yaml:2:3: error: ";
    CHECK(mistake("") == at + "'' holds nothing" + kTail);
    CHECK(mistake("  ") == at + "'  ' holds nothing" + kTail);
    CHECK(mistake("a = 1") == at + "'a = 1' assigns at character 3 (equality is written '==')" + kTail);
    CHECK(mistake("a === 1") == at + "'a === 1' assigns at character 5 (equality is written '==')" + kTail);
    CHECK(mistake("a += 1").find("assigns at character 4") != std::string::npos);
    CHECK(mistake("\"a\"") == at + "'\"a\"' holds text" + kTail);
    CHECK(mistake("1, 2") == at + "'1, 2' has several values" + kTail);
    CHECK(mistake("1 +") == at + "'1 +' ends too early" + kTail);
    CHECK(mistake("(1 + 2") == at + "'(1 + 2' has a parenthesis that never closes, at character 7" + kTail);
    CHECK(mistake("1 2") == at + "'1 2' has '2' where it cannot be, at character 3" + kTail);
    CHECK(mistake("a > 1 ? 2") == at + "'a > 1 ? 2' has a '?' without its ':'" + kTail);
    CHECK(mistake("1 : 2") == at + "'1 : 2' has a ':' without its '?'" + kTail);
    CHECK(mistake("2 * 1e999") == at + "'2 * 1e999' has too large a number, at character 5" + kTail);
    CHECK(mistake(std::string(1001, '1')) == at + "a formula has 1001 characters; the most is 1000");
    for (const char* broken :
         {")", "1 + + ", "nothing(1)", "min()", "a b", "2 mxu.rows", "a ? 1", "'x' == y", "a;b", "a ≤ 4",
          "1..2 + ..", "@", "1e999", "GHz", "a[1]", "\\", "$", "\x01", "~"}) {
        INFO(broken);
        CHECK(mistake(broken, {{"a", 1}, {"b", 1}, {"y", 1}}).starts_with(at));
    }
}

TEST_CASE("units stand behind numbers and parentheses, never behind names", "[formula]") {
    const Known known{{"x", 2}, {"a.b", 3}};
    CHECK(mistake("x MiB", known) ==
          "f.yaml:2:3: error: 'x MiB' has 'MiB' behind a name, at character 3; units stand behind numbers "
          "and ')'" +
              kTail);
    CHECK(mistake("x > 1 && x MiB > 3", known).find("has 'MiB' behind a name, at character 12") !=
          std::string::npos);
    CHECK(mistake("x + a.b\tB/s", known).find("has 'B' behind a name") != std::string::npos);
    CHECK(value("(x + 1) KiB", known) == 3072);
    CHECK(value("max(x, a.b) kB + 1e3 B", known) == 4000);
    CHECK(value("x * 2 KiB", known) == 4096);
}

TEST_CASE("no name means something by itself", "[formula]") {
    CHECK(value("_pi + _e", {{"_pi", 1}, {"_e", 2}}) == 3);
    CHECK(Formula("_pi * 2", {}).names() == std::vector<std::string>{"_pi"});
}

TEST_CASE("deep and long formulas are read", "[formula]") {
    const std::string open(400, '('), close(400, ')');
    CHECK(value(open + "1" + close) == 1);
    std::string sum = "1";
    for (int i = 0; i < 499; ++i) sum += "+1";
    CHECK(value(sum) == 500);
}

TEST_CASE("a name without a number is named", "[formula]") {
    CHECK(mistake("x + y", {{"x", 1}}) == "f.yaml:2:3: error: 'x + y' uses 'y', which is no number" + kTail);
}

TEST_CASE("what is no finite number says where", "[formula]") {
    CHECK(mistake("a / b", {{"a", 0}, {"b", 0}}) ==
          "f.yaml:2:3: error: 'a / b' is no finite number where a = 0, b = 0");
    CHECK(mistake("1 / 0") == "f.yaml:2:3: error: '1 / 0' is no finite number");
    CHECK(mistake("10 ^ 400") == "f.yaml:2:3: error: '10 ^ 400' is no finite number");
    CHECK(mistake("sqrt(0 - a)", {{"a", 1}}).find("is no finite number where a = 1") != std::string::npos);
    CHECK(mistake("ceil_div(1, a)", {{"a", 0}}).find("is no finite number") != std::string::npos);
}

TEST_CASE("values of configurations are numbers, quantities and switches", "[formula]") {
    CHECK(number_of("12") == 12.0);
    CHECK(number_of("-0.8") == -0.8);
    CHECK(number_of("24 MiB") == 24.0 * 1024 * 1024);
    CHECK(number_of("1.05 GHz") == 1.05e9);
    CHECK(number_of("300 GB/s") == 300e9);
    CHECK(number_of("700 ns") == 700e-9);
    CHECK(number_of("on") == 1.0);
    CHECK(number_of("off") == 0.0);
    for (const char* word : {"", " ", "ws", "[1, 2]", "nan", "inf", "0x10", "01", "+1", "1 parsec", "1/2",
                             "-1 GHz", "99999999999999999999 GiB"}) {
        INFO(word);
        CHECK_FALSE(number_of(word));
    }
}

TEST_CASE("computed numbers are written as anybody would write them", "[formula]") {
    CHECK(number_text(0.1 + 0.2) == "0.3");
    CHECK(number_text(0.1 * 30) == "3");
    CHECK(number_text(-2.5) == "-2.5");
    CHECK(number_text(-0.0) == "0");
    CHECK(number_text(1e-7) == "0.0000001");
    CHECK(number_text(2.5e-310) == "0." + std::string(309, '0') + "25");  // with fewer digits than others
}

TEST_CASE("computed whole numbers are written exactly", "[formula]") {
    CHECK(number_text(1099511627777) == "1099511627777");  // a TiB and a byte
    CHECK(number_text(9007199254740991) == "9007199254740991");
    CHECK(number_text(-1099511627777) == "-1099511627777");
}
