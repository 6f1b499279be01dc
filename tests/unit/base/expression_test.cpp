// SPDX-License-Identifier: Apache-2.0
#include "sim/base/expression.h"

#include <catch2/catch.hpp>
#include <random>

using namespace systole;

namespace {

const std::map<std::string, std::int64_t> kNames{{"batch", 2}, {"hidden", 768}, {"seq", 127}, {"x_1", 5}};

/// What evaluate complains about, or "fine".
std::string complaint(const std::string& text) {
    try {
        evaluate(text, kNames);
    } catch (const ExpressionError& error) {
        return error.what();
    }
    return "fine";
}

}  // namespace

TEST_CASE("expressions follow the usual precedence, from the left", "[expression]") {
    CHECK(evaluate("42", {}) == 42);
    CHECK(evaluate("0", {}) == 0);
    CHECK(evaluate("2 + 3 * 4", {}) == 14);
    CHECK(evaluate("(2 + 3) * 4", {}) == 20);
    CHECK(evaluate("20 - 5 - 3", {}) == 12);
    CHECK(evaluate("24 / 4 / 2", {}) == 3);
    CHECK(evaluate("24 / 4 * 2", {}) == 12);
    CHECK(evaluate("1-2", {}) == -1);
    CHECK(evaluate(" ( ( 7 ) ) ", {}) == 7);
    CHECK(evaluate("9223372036854775807", {}) == 9223372036854775807);
}

TEST_CASE("expressions know their names", "[expression]") {
    CHECK(evaluate("4 * hidden", kNames) == 3072);
    CHECK(evaluate("(seq + 1) / 2", kNames) == 64);
    CHECK(evaluate("batch*x_1", kNames) == 10);
}

TEST_CASE("every mistake in an expression is named with its character", "[expression]") {
    CHECK(complaint("") == "expected a number, a name or '(' at character 1");
    CHECK(complaint("2 +") == "expected a number, a name or '(' at character 4");
    CHECK(complaint("2 3") == "expected an operator at character 3");
    CHECK(complaint("2x") == "expected an operator at character 2");
    CHECK(complaint("2 ^ 3") == "expected an operator at character 3");
    CHECK(complaint("(2 + 3") == "expected ')' for the '(' of character 1 at character 7");
    CHECK(complaint("2 + 3)") == "a ')' without its '(' at character 6");
    CHECK(complaint("-1") == "expected a number, a name or '(' at character 1");
    CHECK(complaint("010") == "a number with a leading zero at character 1");
    CHECK(complaint("4 * hiden") == "unknown name 'hiden' at character 5 (did you mean 'hidden'?)");
    CHECK(complaint("weights") == "unknown name 'weights' at character 1");
    CHECK(complaint("seq / 2") == "127 / 2 is not a whole number at character 5");
    CHECK(complaint("1 / 0") == "1 / 0 at character 3");
    CHECK(complaint("9223372036854775808") == "a number that leaves 64 bits at character 1");
    CHECK(complaint("9223372036854775807 + 1") == "9223372036854775807 + 1 leaves 64 bits at character 21");
    CHECK(complaint("0 - 9223372036854775807 - 2") ==
          "-9223372036854775807 - 2 leaves 64 bits at character 25");
    CHECK(complaint("4294967296 * 4294967296") == "4294967296 * 4294967296 leaves 64 bits at character 12");
}

TEST_CASE("the lesser, the greater, and a quotient rounded up", "[expression]") {
    const std::map<std::string, std::int64_t> names{{"experts", 8}, {"pairs", 20}, {"min", 3}};
    CHECK(evaluate("min(experts, pairs)", names) == 8);
    CHECK(evaluate("max(experts, pairs) * 2", names) == 40);
    CHECK(evaluate("ceil_div(pairs, min(experts, pairs))", names) == 3);
    CHECK(evaluate("ceil_div (16, experts) + 1", names) == 3);
    CHECK(evaluate("ceil_div(0, 7)", names) == 0);
    CHECK(evaluate("min + 1", names) == 4);  // a name of a parameter, too
    CHECK(evaluate("min(2 - 5, (1))", names) == -3);
    CHECK(evaluate("ceil_div(9223372036854775807, 2)", {}) == 4'611'686'018'427'387'904);
}

TEST_CASE("mistakes in a function are named with their character", "[expression]") {
    CHECK(complaint("mim(1, 2)") == "unknown function 'mim' at character 1 (did you mean 'min'?)");
    CHECK(complaint("1 + min(1)") == "expected ',': 'min' takes two numbers at character 10");
    CHECK(complaint("min(1, 2, 3)") == "expected ')' for the '(' of character 4 at character 9");
    CHECK(complaint("max(1, 2") == "expected ')' for the '(' of character 4 at character 9");
    CHECK(complaint("1, 2") == "expected an operator at character 2");
    CHECK(complaint("min(, 2)") == "expected a number, a name or '(' at character 5");
    CHECK(complaint("ceil_div(1, 0)") ==
          "ceil_div of 1 by 0: expected a number from 0 on, and one from 1 on at character 1");
    CHECK_FALSE(complaint("ceil_div(0 - 1, 2)").empty());
    std::string deep = "1";
    for (int i = 0; i < 64; ++i) deep = "min(" + deep + ",2)";
    CHECK(evaluate(deep, {}) == 1);
    CHECK_THAT(complaint("max(" + deep + ",2)"), Catch::Contains("parentheses deeper than 64"));
}

TEST_CASE("the one quotient outside 64 bits is refused, not trapped on", "[expression]") {
    CHECK(complaint("(0 - 9223372036854775807 - 1) / (0 - 1)") ==
          "-9223372036854775808 * -1 leaves 64 bits at character 31");
    CHECK(evaluate("6 / (0 - 1)", {}) == -6);
}

TEST_CASE("deep and long expressions end", "[expression]") {
    const auto nested = [](int depth) { return std::string(depth, '(') + "1" + std::string(depth, ')'); };
    CHECK(evaluate(nested(64), {}) == 1);
    CHECK(complaint(nested(65)) == "parentheses deeper than 64 at character 65");
    CHECK(complaint(std::string(1'000'000, '(')) == "parentheses deeper than 64 at character 65");
    std::string sum = "1";
    for (int i = 1; i < 100'000; ++i) sum += "+1";
    CHECK(evaluate(sum, {}) == 100'000);
}

TEST_CASE("arbitrary text is answered or refused", "[expression]") {
    constexpr std::uint64_t kSeed = 7;
    INFO("seed " << kSeed);
    std::mt19937_64 random(kSeed);
    const std::string alphabet = "0123456789+-*/(),min seqx_.\xff";
    for (int i = 0; i < 50'000; ++i) {
        std::string text;
        for (auto n = random() % 20; n > 0; --n) text += alphabet[random() % alphabet.size()];
        INFO(text);
        CHECK_FALSE(complaint(text).empty());
    }
}
