// SPDX-License-Identifier: Apache-2.0
#include "sim/config/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <span>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/units.h"

namespace systole::config {
namespace {

struct Unit {
    std::string_view name;
    std::int64_t scale;
};

// Smallest first.
constexpr std::array<Unit, 4> kFrequencies{
    {{"Hz", 1}, {"kHz", 1'000}, {"MHz", 1'000'000}, {"GHz", 1'000'000'000}}};
constexpr std::array<Unit, 9> kSizes{{{"B", 1},
                                      {"kB", 1'000},
                                      {"KiB", 1 << 10},
                                      {"MB", 1'000'000},
                                      {"MiB", 1 << 20},
                                      {"GB", 1'000'000'000},
                                      {"GiB", 1 << 30},
                                      {"TB", 1'000'000'000'000},
                                      {"TiB", std::int64_t{1} << 40}}};
constexpr std::array<Unit, 9> kBandwidths{{{"B/s", 1},
                                           {"kB/s", 1'000},
                                           {"KiB/s", 1 << 10},
                                           {"MB/s", 1'000'000},
                                           {"MiB/s", 1 << 20},
                                           {"GB/s", 1'000'000'000},
                                           {"GiB/s", 1 << 30},
                                           {"TB/s", 1'000'000'000'000},
                                           {"TiB/s", std::int64_t{1} << 40}}};
constexpr std::array<Unit, 5> kTimes{
    {{"ps", 1}, {"ns", 1'000}, {"us", 1'000'000}, {"ms", 1'000'000'000}, {"s", 1'000'000'000'000}}};
constexpr std::array<Unit, 4> kEnergies{{{"fJ", 1}, {"pJ", 1'000}, {"nJ", 1'000'000}, {"uJ", 1'000'000'000}}};
constexpr std::array<Unit, 2> kPowers{{{"mW", 1}, {"W", 1'000}}};
// Cents and days have fractions, too, and no unit that people would write.
constexpr std::array<Unit, 1> kPrices{{{"USD", 1'000'000}}};
constexpr std::array<Unit, 1> kPricesPerHour{{{"USD/h", 1'000'000}}};
constexpr std::array<Unit, 1> kPricesPerEnergy{{{"USD/kWh", 1'000'000}}};
constexpr std::array<Unit, 2> kYears{{{"year", 1'000}, {"years", 1'000}}};

struct Kind {
    std::span<const Unit> units;
    std::string_view example;
    /// Whether values have decimals though every one is counted in whole parts.
    bool has_decimals() const { return units.front().scale > 1; }
};

Kind kind_of(Dimension dimension) {
    switch (dimension) {
        case Dimension::Frequency:
            return {kFrequencies, "a frequency such as '940 MHz'"};
        case Dimension::Size:
            return {kSizes, "a size such as '24 MiB'"};
        case Dimension::Bandwidth:
            return {kBandwidths, "a bandwidth such as '900 GB/s'"};
        case Dimension::Energy:
            return {kEnergies, "an energy such as '900 pJ'"};
        case Dimension::Power:
            return {kPowers, "a power such as '30 mW'"};
        case Dimension::Price:
            return {kPrices, "a price such as '30000 USD'"};
        case Dimension::PricePerHour:
            return {kPricesPerHour, "a price such as '3.22 USD/h'"};
        case Dimension::PricePerEnergy:
            return {kPricesPerEnergy, "a price such as '0.08 USD/kWh'"};
        case Dimension::Years:
            return {kYears, "a time such as '4 years'"};
        case Dimension::Time:
            break;
    }
    return {kTimes, "a time such as '700 ns'"};
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::size_t count_digits(std::string_view text) {
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
}

/// A number split off the front of a text; `rest` is what follows. No `digits`: there is no number.
struct Decimal {
    bool negative = false;
    std::string_view digits;    ///< before the point
    std::string_view fraction;  ///< after it
    std::string_view rest;
    bool leading_zero() const { return digits.size() > 1 && digits.front() == '0'; }
};

Decimal split_decimal(std::string_view text) {
    Decimal number;
    number.negative = text.starts_with('-');
    if (number.negative) text.remove_prefix(1);
    number.digits = text.substr(0, count_digits(text));
    text.remove_prefix(number.digits.size());
    if (text.starts_with('.') && text.size() > 1 && is_digit(text[1])) {
        number.fraction = text.substr(1, count_digits(text.substr(1)));
        text.remove_prefix(1 + number.fraction.size());
    }
    number.rest = text;
    return number;
}

/// Messages quote what was written, but not a megabyte of it.
std::string quote(std::string_view text) {
    std::size_t shown = 60;
    if (text.size() <= shown) return fmt::format("'{}'", text);
    // Not in the middle of a UTF-8 character. What begins with no character's first byte is no text at all.
    while (shown > 0 && (text[shown] & 0xC0) == 0x80) --shown;
    return fmt::format("'{}…'", text.substr(0, shown));
}

template <class T>
Parsed<T> problem(std::string message) {
    return {std::nullopt, std::move(message)};
}

/// The value of `digits` followed by `fraction`, or nothing if it leaves 64 bits.
std::optional<std::int64_t> to_integer(std::string_view digits, std::string_view fraction = "") {
    std::int64_t value = 0;
    for (const std::string_view part : {digits, fraction})
        for (const char digit : part)
            if (__builtin_mul_overflow(value, 10, &value) ||
                __builtin_add_overflow(value, digit - '0', &value))
                return std::nullopt;
    return value;
}

/// value / scale, exactly; `scale` is a power of ten.
std::string decimals(std::int64_t value, std::int64_t scale) {
    std::string digits = fmt::to_string(scale + value % scale);
    digits.front() = '.';
    digits.erase(digits.find_last_not_of('0') + 1);
    return fmt::to_string(value / scale) + (digits == "." ? "" : digits);
}

/// What the counts of a kind are counts of: "ps", "0.001 years".
std::string smallest_of(const Kind& kind) {
    const Unit& unit = kind.units.back();
    return kind.has_decimals() ? fmt::format("{} {}", decimals(1, unit.scale), unit.name)
                               : std::string(kind.units.front().name);
}

/// "" if `text`, whose value is `value`, lies in [low, high]; `write` puts the bounds into words.
template <class T, class Write>
std::string outside(std::string_view text, T value, T low, T high, Write write) {
    if (value < low) return fmt::format("{} is too small; the least is {}", quote(text), write(low));
    if (value > high) return fmt::format("{} is too large; the most is {}", quote(text), write(high));
    return "";
}

/// `number` in the smallest unit of its kind, exactly; a problem does not quote the text.
Parsed<std::int64_t> scale(const Decimal& number, const Unit& unit, std::string_view smallest) {
    if (number.negative) return problem<std::int64_t>("is negative");
    const std::string not_whole = fmt::format("is not a whole number of {}", smallest);
    const std::string_view fraction = number.fraction.substr(0, number.fraction.find_last_not_of('0') + 1);
    const std::optional<std::int64_t> mantissa = to_integer(number.digits, fraction);
    if (!mantissa) return problem<std::int64_t>("leaves 64 bits");
    // Of a power of two, n decimals of which the last is no 0 are whole only where all digits together are a
    // multiple of 5^n: 5^27 is the last in 64 bits. Powers of ten have no more than 12.
    if (fraction.size() > 27) return problem<std::int64_t>(not_whole);
    Int128 divisor = 1;
    for (std::size_t i = 0; i < fraction.size(); ++i) divisor *= 10;
    const Int128 product = Int128{*mantissa} * unit.scale;
    if (product % divisor != 0) return problem<std::int64_t>(not_whole);
    if (product / divisor > std::numeric_limits<std::int64_t>::max())
        return problem<std::int64_t>("leaves 64 bits");
    return {static_cast<std::int64_t>(product / divisor), ""};
}

}  // namespace

Parsed<std::int64_t> parse_integer(std::string_view text, std::int64_t low, std::int64_t high) {
    const Decimal number = split_decimal(text);
    const auto wrong = [&](std::string_view why) {
        return problem<std::int64_t>(fmt::format("{} {}", quote(text), why));
    };
    if (number.digits.empty()) return wrong("is not a whole number");
    if (number.leading_zero()) return wrong("has a leading zero; numbers are decimal only");
    if (!number.fraction.empty()) return wrong("is not a whole number");
    if (!number.rest.empty()) return wrong("is not a plain whole number; a count has no unit");
    const std::optional<std::int64_t> magnitude = to_integer(number.digits);
    if (!magnitude) return wrong("leaves 64 bits");
    const std::int64_t value = number.negative ? -*magnitude : *magnitude;
    std::string message = outside(text, value, low, high, [](std::int64_t bound) { return bound; });
    if (!message.empty()) return problem<std::int64_t>(std::move(message));
    return {value, ""};
}

Parsed<double> parse_number(std::string_view text, double low, double high) {
    const Decimal number = split_decimal(text);
    const auto wrong = [&](std::string_view why) {
        return problem<double>(fmt::format("{} {}", quote(text), why));
    };
    if (number.digits.empty()) return wrong("is not a number");
    if (number.leading_zero()) return wrong("has a leading zero; numbers are decimal only");
    if (!number.rest.empty()) return wrong("is not a plain decimal number such as '0.8'");
    double value = 0;
    const auto result =
        std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (result.ec != std::errc()) return wrong("leaves the range of a double");
    std::string message = outside(text, value, low, high, format_number);
    if (!message.empty()) return problem<double>(std::move(message));
    return {value, ""};
}

Parsed<std::int64_t> parse_quantity(std::string_view text, Dimension dimension, std::int64_t low,
                                    std::int64_t high) {
    const Kind kind = kind_of(dimension);
    const auto wrong = [&](const std::string& why) {
        return problem<std::int64_t>(fmt::format("{} {}", quote(text), why));
    };
    const Decimal number = split_decimal(text);
    if (number.digits.empty()) return wrong(fmt::format("is not {}", kind.example));
    if (number.leading_zero()) return wrong("has a leading zero; numbers are decimal only");
    const std::string_view name =
        number.rest.substr(std::min(number.rest.find_first_not_of(' '), number.rest.size()));
    if (name.empty()) return wrong(fmt::format("has no unit; expected {}", kind.example));
    const auto unit = std::find_if(kind.units.begin(), kind.units.end(),
                                   [&](const Unit& candidate) { return candidate.name == name; });
    if (unit == kind.units.end()) {
        std::vector<std::string> names;
        for (const Unit& known : kind.units) names.emplace_back(known.name);
        return wrong(fmt::format("has an unknown unit {}{}; expected {}", quote(name),
                                 did_you_mean(name, names), kind.example));
    }
    const Parsed<std::int64_t> scaled = scale(number, *unit, smallest_of(kind));
    if (!scaled.value) return wrong(scaled.problem);
    const std::int64_t value = *scaled.value;
    if (kind.has_decimals() && value == 0 && low > 0) return wrong("is zero; expected more than 0");
    std::string message = outside(text, value, low, high,
                                  [&](std::int64_t bound) { return format_quantity(bound, dimension); });
    if (!message.empty()) return problem<std::int64_t>(std::move(message));
    return {value, ""};
}

std::string_view name_of(Dimension dimension) {
    const std::string_view example = kind_of(dimension).example;
    return example.substr(0, example.find(" such as"));
}

std::vector<std::string_view> units_of(Dimension dimension) {
    std::vector<std::string_view> names;
    for (const Unit& unit : kind_of(dimension).units) names.push_back(unit.name);
    return names;
}

std::string format_number(double value) {
    std::array<char, 400> buffer{};  // the longest double without an exponent has some 330 characters
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
    return {buffer.data(), end.ptr};
}

std::string format_quantity(std::int64_t value, Dimension dimension) {
    const Kind kind = kind_of(dimension);
    if (kind.has_decimals())
        return fmt::format("{} {}", decimals(value, kind.units.back().scale), kind.units.back().name);
    const Unit* best = &kind.units.front();
    for (const Unit& unit : kind.units)
        if (value != 0 && value % unit.scale == 0) best = &unit;
    return fmt::format("{} {}", value / best->scale, best->name);
}

}  // namespace systole::config
