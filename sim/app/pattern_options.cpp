// SPDX-License-Identifier: Apache-2.0
#include "sim/app/pattern_options.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "sim/app/shared_options.h"
#include "sim/base/error.h"
#include "sim/config/quantity.h"

namespace systole::app {
namespace {

using Kind = PatternSpec::Kind;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4096;

struct Option {
    const char *name, *value, *meaning;
    std::array<bool, 5> concerns;  // by PatternSpec::Kind
};

constexpr std::array<bool, 5> kAll{true, true, true, true, true};
constexpr std::array<Option, 12> kOptions{{
    {"requests", "N", "how many (default 131072)", kAll},
    {"base", "BYTES", "the first byte that is used (default 0 B)", kAll},
    {"span", "BYTES", "so many bytes are used, again and again (default: the whole memory)", kAll},
    {"stride", "BYTES", "stride: from one request to the next (default 4 KiB)", {false, true}},
    {"tile",
     "ROWSxBYTES",
     "tile: rows of the matrix, and bytes of each (default 128x128B)",
     {false, false, false, true}},
    {"width", "BYTES", "tile: one row of the whole matrix (default 4 KiB)", {false, false, false, true}},
    {"chunk",
     "BYTES",
     "add: of one operand before the next (default: a burst)",
     {false, false, false, false, true}},
    {"skew",
     "BYTES",
     "add: operands begin so much later than at their third (default 0 B)",
     {false, false, false, false, true}},
    {"writes", "PERCENT", "so many requests write, chosen at random (default 0%)", {true, true, true, true}},
    {"load", "PERCENT", "offered, of the memory's peak (default: as fast as it takes them)", kAll},
    {"seed", "N", "of everything random (default 1)", kAll},
    {"save-trace", "FILE", "write the requests there as a trace, gzipped if FILE ends in .gz", kAll},
}};

std::int64_t read_count(const Arguments& arguments, const char* name, std::int64_t low,
                        std::int64_t fallback) {
    const auto text = arguments.option(name);
    if (!text) return fallback;
    const auto parsed = config::parse_integer(*text, low, kMost);
    if (!parsed.value) arguments.misused(fmt::format("--{}: {}", name, parsed.problem));
    return *parsed.value;
}

std::int64_t bytes_of(const Arguments& arguments, const char* name, const std::string& text, std::int64_t low,
                      std::int64_t high) {
    const auto parsed = config::parse_quantity(text, config::Dimension::Size, low, high);
    if (!parsed.value) arguments.misused(fmt::format("--{}: {}", name, parsed.problem));
    return *parsed.value;
}

std::int64_t read_bytes(const Arguments& arguments, const char* name, std::int64_t low, std::int64_t high,
                        std::int64_t fallback) {
    const auto text = arguments.option(name);
    return text ? bytes_of(arguments, name, *text, low, high) : fallback;
}

/// "33%" -> 330000.
std::int64_t read_millionths(const Arguments& arguments, const char* name, double low) {
    const auto text = arguments.option(name);
    if (!text) return 0;
    if (!text->ends_with('%'))
        arguments.misused(fmt::format("--{} takes a percentage such as 33%, not '{}'", name, *text));
    const auto parsed = config::parse_number(text->substr(0, text->size() - 1), low, 100);
    if (!parsed.value) arguments.misused(fmt::format("--{} {}: {}", name, *text, parsed.problem));
    return std::llround(*parsed.value * 10'000);
}

void read_tile(const Arguments& arguments, PatternSpec& spec) {
    const auto text = arguments.option("tile");
    if (!text) return;
    const std::size_t by = text->find('x');
    if (by == std::string::npos)
        arguments.misused(fmt::format("--tile takes ROWSxBYTES such as 64x1KiB, not '{}'", *text));
    const auto rows = config::parse_integer(text->substr(0, by), 1, 1 << 30);
    if (!rows.value) arguments.misused("--tile: " + rows.problem);
    spec.tile_rows = *rows.value;
    spec.tile_bytes = bytes_of(arguments, "tile", text->substr(by + 1), 1, 1 << 30);
}

}  // namespace

void add_pattern(boost::program_options::options_description& options) {
    add_option(options, "pattern", "NAME", "in place of TRACE: stream, stride, random, tile or add");
    for (const Option& option : kOptions) add_option(options, option.name, option.value, option.meaning);
}

PatternTarget pattern_target(const DramSpec& memory) {
    return {memory.burst_bytes.value(), memory.timing.at("BL"), memory.data_buses()};
}

PatternSpec read_pattern(const Arguments& arguments, const DramSpec& memory) {
    const std::string name = arguments.choice("pattern", pattern_names());
    PatternSpec spec;
    while (pattern_names()[static_cast<std::size_t>(spec.kind)] != name)
        spec.kind = static_cast<Kind>(static_cast<int>(spec.kind) + 1);
    for (const Option& option : kOptions)
        if (arguments.has(option.name) && !option.concerns[static_cast<std::size_t>(spec.kind)])
            arguments.misused(fmt::format("--{} does not concern the pattern {}", option.name, name));
    const std::int64_t burst = memory.burst_bytes.value(), capacity = memory.capacity().value();
    spec.requests = read_count(arguments, "requests", 1, spec.requests);
    spec.base = read_bytes(arguments, "base", 0, capacity - burst, 0);
    spec.span = read_bytes(arguments, "span", burst, capacity - spec.base, capacity - spec.base);
    spec.stride =
        read_bytes(arguments, "stride", burst, spec.span, std::max<std::int64_t>(spec.stride, burst));
    spec.width = read_bytes(arguments, "width", burst, spec.span, std::max<std::int64_t>(spec.width, burst));
    spec.tile_bytes = std::max(spec.tile_bytes, burst);
    read_tile(arguments, spec);
    spec.chunk = read_bytes(arguments, "chunk", burst, spec.span, burst);
    spec.skew = read_bytes(arguments, "skew", 0, spec.span, 0);
    spec.writes = read_millionths(arguments, "writes", 0);
    spec.load = read_millionths(arguments, "load", 0.01);
    spec.seed = static_cast<std::uint64_t>(read_count(arguments, "seed", 0, 1));
    if (const std::string fault = pattern_fault(spec, pattern_target(memory)); !fault.empty())
        arguments.misused(fmt::format("--pattern {}: {}", name, fault));
    return spec;
}

void refuse_pattern(const Arguments& arguments) {
    for (const Option& option : kOptions)
        if (arguments.has(option.name))
            arguments.misused(fmt::format("--{} goes with --pattern, not with a trace", option.name));
}

}  // namespace systole::app
