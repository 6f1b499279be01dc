// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/spec/rate_config.h"

#include <fmt/format.h>

#include <charconv>

namespace systole::systolic {
namespace {

using Formats = std::pair<DType, DType>;

/// "int8", or "int16xint8": activations, then the second operand.
std::optional<Formats> parse_formats(std::string_view key) {
    if (const auto both = parse_dtype(key)) return Formats{*both, *both};
    const std::size_t cross = key.find('x');
    if (cross == std::string_view::npos) return std::nullopt;
    const auto activations = parse_dtype(key.substr(0, cross)), second = parse_dtype(key.substr(cross + 1));
    if (!activations || !second || *activations == *second) return std::nullopt;
    return Formats{*activations, *second};
}

/// Decimal digits without a leading zero, at most `most`.
std::optional<std::int64_t> parse_count(std::string_view text, std::int64_t most) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool plain = !text.empty() && text.front() != '-' && (text.front() != '0' || text.size() == 1);
    if (!plain || error != std::errc() || end != text.data() + text.size() || value > most)
        return std::nullopt;
    return value;
}

/// "2", "1", "1/4", "0".
std::optional<MacRate> parse_rate(std::string_view text) {
    if (text.substr(0, 2) != "1/") {
        const auto macs = parse_count(text, kHighestRate);
        return macs ? std::optional(MacRate{*macs, 1}) : std::nullopt;
    }
    const auto cycles = parse_count(text.substr(2), kMostMacCycles);
    return cycles && *cycles > 0 ? std::optional(MacRate{1, *cycles}) : std::nullopt;
}

MacRate read_rate(config::Section& rate, const std::string& key) {
    const std::string text = rate.text(
        key,
        "MACs per PE and cycle on operands of this format (of two: activations x second operand), or "
        "1/N: one in N cycles; 0: it takes none, as without the key");
    const auto value = parse_rate(text);
    if (!value)
        rate.fail(key,
                  fmt::format("'{}' is no rate: expected a whole number up to {}, or 1/N with N up to {}",
                              text, kHighestRate, kMostMacCycles));
    return value.value_or(MacRate{1});
}

}  // namespace

void read_rates(config::Section mxu, MxuSpec& spec) {
    config::Section rate = mxu.section("rate");
    const std::vector<std::string> keys = rate.keys();
    int zeros = 0;
    for (const std::string& key : keys) {
        const auto formats = parse_formats(key);
        const MacRate value = read_rate(rate, key);
        if (!formats)
            rate.fail(key,
                      fmt::format("unknown number format '{}', expected one of: {}, or two different "
                                  "ones such as int16xint8{}",
                                  key, fmt::join(dtype_names(), ", "), did_you_mean(key, dtype_names())));
        else if (value.macs > 0 && formats->first == formats->second)
            spec.rate[static_cast<std::size_t>(formats->first)] = value;
        else if (formats->first != formats->second)
            spec.mixed_rate.emplace(*formats, value);
        zeros += value.macs == 0;
    }
    constexpr const char* kNone =
        "the matrix units need a rate for at least one number format, such as 'rate: {bf16: 1}'";
    if (keys.empty())
        mxu.fail("rate", kNone);
    else if (zeros == static_cast<int>(keys.size()))
        rate.fail(keys.back(), kNone);  // says nothing if the value itself is what is wrong
}

}  // namespace systole::systolic
