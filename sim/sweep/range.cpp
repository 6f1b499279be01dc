// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "sim/base/units.h"
#include "sim/config/quantity.h"
#include "sim/sweep/formula.h"

namespace systole::sweep {
namespace {

using config::Dimension;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostSteps = 1'000'000;

/// An end: a whole number, of its dimension's smallest unit if it has one, or a decimal.
struct End {
    bool decimal = false;
    std::optional<Dimension> dimension;
    std::int64_t whole = 0;
    double number = 0;
    bool same_kind(const End& other) const { return dimension == other.dimension; }
    std::string text(std::int64_t value) const {
        return dimension ? config::format_quantity(value, *dimension) : fmt::to_string(value);
    }
};

End read_end(const std::string& text, const SourceMark& where) {
    End end;
    if (const auto whole = config::parse_integer(text, -kMost, kMost); whole.value) {
        end.whole = *whole.value;
        end.number = static_cast<double>(end.whole);
        return end;
    }
    if (const auto number = config::parse_number(text, -1e18, 1e18); number.value) {
        end.decimal = true;
        end.number = *number.value;
        return end;
    }
    for (const Dimension dimension : {Dimension::Frequency, Dimension::Size, Dimension::Bandwidth,
                                      Dimension::Time, Dimension::Energy, Dimension::Power, Dimension::Price,
                                      Dimension::PricePerHour, Dimension::PricePerEnergy, Dimension::Years})
        if (const auto quantity = config::parse_quantity(text, dimension, 0, kMost); quantity.value) {
            end.dimension = dimension;
            end.whole = *quantity.value;
            return end;
        }
    throw UserError(where, fmt::format("'{}' is no end of a range; expected a number, or a quantity such as "
                                       "'900 MHz'",
                                       text));
}

std::pair<End, End> read_ends(const std::string& from, const std::string& to, const SourceMark& where) {
    const End first = read_end(from, where), last = read_end(to, where);
    if (!first.same_kind(last))
        throw UserError(where, fmt::format("'{}' and '{}' are not of one kind", from, to));
    return {first, last};
}

/// from + (to - from) x step / steps, rounded to the nearest.
std::int64_t between(std::int64_t from, std::int64_t to, std::int64_t step, std::int64_t steps) {
    const Int128 way = (Int128{to} - from) * step;
    const Int128 half = way < 0 ? -(steps / 2) : steps / 2;
    return static_cast<std::int64_t>(from + (way + half) / steps);
}

/// from + (to - from) x share. What is left where the ends cancel out is zero.
double decimal_between(double from, double to, double share) {
    const double value = from + (to - from) * share;
    return std::abs(value) < 1e-12 * std::max(std::abs(from), std::abs(to)) ? 0 : value;
}

/// A decimal of a range: its ends as they are written.
std::string decimal_text(const End& from, const End& to, std::int64_t step, std::int64_t steps) {
    if (step == 0) return config::format_number(from.number);
    if (step == steps) return config::format_number(to.number);
    return number_text(
        decimal_between(from.number, to.number, static_cast<double>(step) / static_cast<double>(steps)));
}

}  // namespace

std::vector<std::string> linear_values(const std::string& from, const std::string& to,
                                       const std::string& count, const SourceMark& where) {
    const auto [first, last] = read_ends(from, to, where);
    const auto steps = config::parse_integer(count, 2, kMostSteps);
    if (!steps.value)
        throw UserError(where, fmt::format("{{linear: [FROM, TO, COUNT]}}: COUNT {}", steps.problem));
    std::vector<std::string> values;
    for (std::int64_t i = 0; i < *steps.value; ++i) {
        const std::int64_t last_step = *steps.value - 1;
        std::string value = first.decimal || last.decimal
                                ? decimal_text(first, last, i, last_step)
                                : first.text(between(first.whole, last.whole, i, last_step));
        if (!values.empty() && values.back() == value)
            throw UserError(where,
                            fmt::format("{} values from {} to {} are not all different: {} comes twice",
                                        *steps.value, from, to, value));
        values.push_back(std::move(value));
    }
    return values;
}

std::vector<std::string> log2_values(const std::string& from, const std::string& to,
                                     const SourceMark& where) {
    const auto [first, last] = read_ends(from, to, where);
    if (first.decimal || last.decimal || first.whole < 1)
        throw UserError(where, "{log2: [FROM, TO]} takes whole numbers from 1 on, or quantities");
    if (last.whole < first.whole)
        throw UserError(where, fmt::format("{{log2: [FROM, TO]}} goes up, and {} is less than {}", to, from));
    std::vector<std::string> values;
    std::int64_t value = first.whole;
    for (; value < last.whole && value <= kMost / 2; value *= 2) values.push_back(first.text(value));
    if (value != last.whole)
        throw UserError(where, fmt::format("doubling {} does not lead to {}; {} would be next", from, to,
                                           value > last.whole ? first.text(value) : "nothing"));
    values.push_back(first.text(value));
    return values;
}

void check_span(const Span& span, const SourceMark& where) {
    const auto [first, last] = read_ends(span.from, span.to, where);
    const bool equal =
        first.decimal || last.decimal ? first.number == last.number : first.whole == last.whole;
    if (equal)
        throw UserError(where, fmt::format("a range from {} to {} holds one value", span.from, span.to));
}

std::string value_within(const Span& span, double share) {
    const auto [first, last] = read_ends(span.from, span.to, {});
    if (first.decimal || last.decimal) return number_text(decimal_between(first.number, last.number, share));
    // Every whole number of the range has an equal share. A share has 53 bits, the range's width 65.
    const Int128 width = Int128{last.whole} - first.whole;
    const Int128 steps = (width < 0 ? -width : width) + 1;
    const Int128 way = steps * static_cast<std::int64_t>(std::ldexp(share, 53)) >> 53;
    return first.text(static_cast<std::int64_t>(first.whole + (width < 0 ? -way : way)));
}

}  // namespace systole::sweep
