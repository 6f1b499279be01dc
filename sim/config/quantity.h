// SPDX-License-Identifier: Apache-2.0
// Numbers and quantities with units as docs/formats.md writes them: read from text exactly, in integers, and
// written back so that they read the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace systole::config {

/// A value, or what is wrong with its text ("'1050' has no unit; expected a frequency such as '940 MHz'").
template <class T>
struct Parsed {
    std::optional<T> value;
    std::string problem;
};

/// What a unit measures; each kind is counted in its smallest whole unit, prices and years in parts of one.
enum class Dimension {
    Frequency,       ///< in hertz: Hz, kHz, MHz, GHz
    Size,            ///< in bytes: B, kB, MB, GB, TB (powers of 10), KiB to TiB (powers of 2)
    Bandwidth,       ///< in bytes per second: a size per "s"
    Time,            ///< in picoseconds: ps, ns, us, ms, s
    Energy,          ///< in femtojoules: fJ, pJ, nJ, uJ
    Power,           ///< in milliwatts: mW, W
    Price,           ///< in millionths of a dollar: USD
    PricePerHour,    ///< likewise: USD/h
    PricePerEnergy,  ///< likewise: USD/kWh
    Years,           ///< in thousandths: year, years
};

/// A decimal integer in [low, high]; no leading zeros, no plus sign.
Parsed<std::int64_t> parse_integer(std::string_view text, std::int64_t low, std::int64_t high);

/// A decimal number in [low, high], such as "12" or "-0.8"; no exponents.
Parsed<double> parse_number(std::string_view text, double low, double high);

/// "1.05 GHz" -> 1050000000. The result must be whole in the dimension's smallest unit and lie in [low,
/// high].
Parsed<std::int64_t> parse_quantity(std::string_view text, Dimension dimension, std::int64_t low,
                                    std::int64_t high);

/// "a frequency".
std::string_view name_of(Dimension dimension);

/// The units that quantities of a dimension take, the smallest first: "Hz", "kHz", ...
std::vector<std::string_view> units_of(Dimension dimension);

/// The shortest decimal that parse_number reads back to the same value.
std::string format_number(double value);

/// `value` (>= 0) in the largest unit that leaves it whole: "1050 MHz", "24 MiB"; what has no unit that does,
/// in decimals: "3.22 USD/h".
std::string format_quantity(std::int64_t value, Dimension dimension);

}  // namespace systole::config
