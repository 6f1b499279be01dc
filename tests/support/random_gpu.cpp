// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "sim/config/quantity.h"

namespace systole::test {
namespace {

struct Amount {
    double number = 0;  ///< in `unit`
    std::string_view unit;
};

/// Of a text that was written by a configuration: a quantity in its smallest unit, or a plain number.
Amount amount_of(const std::string& text) {
    using config::Dimension;
    for (const Dimension dimension : {Dimension::Frequency, Dimension::Size, Dimension::Bandwidth,
                                      Dimension::Time, Dimension::Energy, Dimension::Power})
        if (const auto parsed =
                config::parse_quantity(text, dimension, 0, std::numeric_limits<std::int64_t>::max());
            parsed.value)
            return {static_cast<double>(*parsed.value), config::units_of(dimension).front()};
    std::size_t digits = 0;
    const double number = std::stod(text, &digits);
    if (digits != text.size()) throw std::runtime_error("no amount: " + text);
    return {number, ""};
}

std::vector<std::string> split(const std::string& text, const std::string& by) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (std::size_t at = text.find(by); at != std::string::npos; at = text.find(by, begin)) {
        parts.push_back(text.substr(begin, at - begin));
        begin = at + by.size();
    }
    parts.push_back(text.substr(begin));
    return parts;
}

}  // namespace

std::int64_t RandomGpu::spread(std::int64_t low, std::int64_t high) {
    const double bits = std::log2(static_cast<double>(high - low) + 1);
    const double drawn = std::exp2(std::uniform_real_distribution<double>(0, bits)(random_)) - 1;
    return std::min(high, low + static_cast<std::int64_t>(drawn));
}

std::string RandomGpu::quantity(const std::string& now, const std::string& low, const std::string& high) {
    constexpr double kMost = 9e17;  // whole numbers of the least unit
    const Amount from = amount_of(low), stands = amount_of(now);
    const Amount to = high.empty() ? Amount{kMost, from.unit} : amount_of(high);
    const auto is_whole = [](const Amount& amount) { return amount.number == std::floor(amount.number); };
    if (from.unit.empty() && !(is_whole(from) && is_whole(stands)))
        return fmt::format("{:.3f}", std::uniform_real_distribution<double>(from.number, to.number)(random_));
    const auto least = static_cast<std::int64_t>(from.number);
    const auto most = static_cast<std::int64_t>(std::min(to.number, kMost));
    const auto middle = static_cast<std::int64_t>(std::clamp(stands.number, from.number, to.number));
    std::int64_t drawn = 0;
    switch (between(0, 5)) {
        case 0:
            drawn = between(0, 1) == 0 ? least : most;
            break;
        case 1:
            drawn = spread(least, most);
            break;
        default:
            drawn = spread(std::max(least, middle / 8), middle < most / 8 ? middle * 8 : most);
    }
    return from.unit.empty() ? std::to_string(drawn) : fmt::format("{} {}", drawn, from.unit);
}

std::string RandomGpu::value(const config::Entry& entry) {
    const auto range = split(entry.limits, "..");
    if (range.size() == 2) return quantity(entry.value, range[0], range[1]);
    const auto open = split(entry.limits, " or more");
    if (open.size() == 2) return quantity(entry.value, open[0], "");
    const auto choices = split(entry.limits, ", ");
    return choices[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(choices.size()) - 1))];
}

std::vector<std::pair<std::string, std::string>> RandomGpu::settings(
    const std::vector<config::Entry>& entries) {
    std::map<std::string, std::vector<const config::Entry*>> sections;
    for (const config::Entry& entry : entries)
        // Prices are read beside the machine, and change nothing of what it does.
        if (!entry.limits.empty() && entry.path != "kind" && !entry.path.starts_with("cost."))
            sections[split(entry.path, ".").front()].push_back(&entry);
    // The multiprocessor and the arrays have most of what is new here.
    std::vector<std::string> names;
    for (const char* const name : {"sm", "sm", "sm", "l2", "mxu", "mxu", "placement"})
        if (sections.contains(name)) names.emplace_back(name);
    for (const auto& [name, keys] : sections) names.push_back(name);
    std::map<std::string, std::string> drawn;
    const std::int64_t count = std::int64_t{1} << between(0, 4);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto& keys =
            sections.at(names[static_cast<std::size_t>(between(0, std::int64_t(names.size()) - 1))]);
        const config::Entry& entry =
            *keys[static_cast<std::size_t>(between(0, std::int64_t(keys.size()) - 1))];
        drawn[entry.path] = value(entry);
    }
    return {drawn.begin(), drawn.end()};
}

std::string RandomGpu::network() {
    const std::int64_t most = between(0, 3) == 0 ? 1500 : 400;
    const std::int64_t batch = between(1, 4), m = spread(1, most), n = spread(1, most), k = spread(1, most);
    const auto function = [&] { return one_of("none", "none", "relu", "gelu", "tanh"); };
    // All layers make [batch, m, n], so that any of them can meet z.
    std::string layers, last = "x";
    const std::int64_t products = between(1, 3);
    for (std::int64_t i = 0; i < products; ++i) {
        const std::string name = fmt::format("product{}", i);
        layers += fmt::format("  - {{name: {}, op: matmul, in: {}, n: {}, bias: {}, activation: {}}}\n", name,
                              last, n, one_of("true", "false"), function());
        last = name;
    }
    const bool joined = between(0, 1) == 0, batched = between(0, 2) == 0;
    if (joined) {
        layers +=
            fmt::format("  - {{name: joined, op: elementwise, kind: {}, in: [{}, z], activation: {}}}\n",
                        one_of("add", "mul", "max"), last, function());
        last = "joined";
    }
    if (batched) layers += "  - {name: batched, op: batched_matmul, in: [x, y]}\n";
    const std::string dtype = one_of("bf16", "bf16", "fp16", "fp32", "int8", "int4", "fp8");
    const auto input = [&](const char* name, std::int64_t rows, std::int64_t columns) {
        return fmt::format("  {}: {{shape: [{}, {}, {}], dtype: {}}}\n", name, batch, rows, columns, dtype);
    };
    return "trace: random\ninputs:\n" + input("x", m, k) + (batched ? input("y", k, n) : "") +
           (joined ? input("z", m, n) : "") + "layers:\n" + layers +
           fmt::format("outputs: [{}{}]\n", last, batched ? ", batched" : "");
}

Protocol RandomGpu::protocol() {
    Protocol protocol = between(0, 1) == 0 ? Protocol::of_run() : Protocol::of_op();
    protocol.launch = static_cast<Protocol::Launch>(between(0, 2));
    protocol.refresh_phase = Ticks(between(0, 3'000'000));
    if (between(0, 2) > 0) return protocol;
    protocol.repeat = static_cast<int>(between(1, 3));
    protocol.weight_copies = static_cast<int>(between(0, 3));
    return protocol;
}

}  // namespace systole::test
