// SPDX-License-Identifier: Apache-2.0
// Both readers of arithmetic: expressions of traces, in whole numbers, and formulas of experiments. What is
// read is worked out with names of any value.
#include "sim/base/expression.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "sim/sweep/formula.h"
#include "tests/fuzz/fuzz_target.h"

namespace systole::fuzz {
namespace {

constexpr std::array<std::int64_t, 8> kValues{0,
                                              1,
                                              -1,
                                              3,
                                              4096,
                                              std::int64_t{1} << 62,
                                              std::numeric_limits<std::int64_t>::max(),
                                              std::numeric_limits<std::int64_t>::min()};

void evaluate_expression(const std::string& text, std::size_t first) {
    const auto value = [&](std::size_t i) { return kValues[(first + i) % kValues.size()]; };
    try {
        evaluate(text, {{"batch", value(0)}, {"seq", value(3)}, {"i", value(5)}});
    } catch (const ExpressionError& error) {
        if (error.position() < 1 || error.position() > text.size() + 1)
            throw std::logic_error("a mistake outside of the expression");
    }
}

void evaluate_formula(const sweep::Formula& formula, std::size_t first) {
    constexpr std::array<double, 6> kNumbers{0, 1, -2.5, 1e300, 4096, 1e-300};
    std::size_t i = first;
    try {
        const double result = formula.evaluate([&](const std::string& name) -> std::optional<double> {
            if (name == "run.launch") return {};
            return kNumbers[i++ % kNumbers.size()];
        });
        if (!std::isfinite(result)) throw std::logic_error("a formula without a finite value");
        // What a point is set to must be read as the number that it is.
        if (!sweep::number_of(sweep::number_text(result))) throw std::logic_error("a number that is none");
    } catch (const UserError&) {
    }
}

}  // namespace

void read_input(const std::string& input) {
    for (std::size_t first = 0; first < kValues.size(); ++first) evaluate_expression(input, first);
    sweep::number_of(input);
    try {
        const sweep::Formula formula(input, {"e.yaml", 1, 1});
        for (std::size_t first = 0; first < 6; ++first) evaluate_formula(formula, first);
    } catch (const UserError&) {
    }
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{"batch",
                                                      "seq",
                                                      " i ",
                                                      "mxu.rows",
                                                      "workload.batch",
                                                      "run.launch",
                                                      "min(",
                                                      "max(",
                                                      "ceil_div(",
                                                      "ceil(",
                                                      "floor(",
                                                      ", ",
                                                      ")",
                                                      "((((((((",
                                                      " / ",
                                                      " * ",
                                                      " - ",
                                                      "- -",
                                                      "<=",
                                                      "==",
                                                      "!=",
                                                      " ? 1 : ",
                                                      "&&",
                                                      "||",
                                                      "!",
                                                      "^",
                                                      "sqrt(",
                                                      "log2(",
                                                      "sin(",
                                                      "sum(",
                                                      "avg(",
                                                      "rint(",
                                                      " MiB",
                                                      " GB/s",
                                                      " GHz",
                                                      " ns",
                                                      " USD",
                                                      "1e308",
                                                      "0x10",
                                                      "_pi",
                                                      "_e",
                                                      "9223372036854775807",
                                                      "\"",
                                                      "=",
                                                      "\xff",
                                                      "0"};
    return pieces;
}

}  // namespace systole::fuzz
