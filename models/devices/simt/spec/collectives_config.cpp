// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/spec/collectives_config.h"

#include <fmt/format.h>

#include "sim/config/quantity.h"

namespace systole::simt {
namespace {

using config::Section;

constexpr std::int64_t kMostChannels = 64, kMostOfSwitch = 1024;
constexpr Ticks kLongestStep(kTicksPerSecond / 1000);
// Slips of the pen on either side, as of chip_link.bandwidth.
constexpr BytesPerSecond kSlowest(1'000'000), kFastest(1'000'000'000'000'000);
constexpr std::array<const char*, 4> kKinds = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"};

Ticks read_step(Section& section, const char* key, const char* meaning) {
    const Ticks time = section.time(key, meaning);
    if (time > kLongestStep) section.fail(key, "longer than a millisecond, which no library's is");
    return time;
}

BytesPerSecond read_rate(Section& section, const char* key, const char* meaning) {
    const BytesPerSecond rate = section.bandwidth(key, meaning);
    if (rate < kSlowest || rate > kFastest)
        section.fail(key, "expected 1 MB/s to 1 PB/s, as links between chips have");
    return rate;
}

std::array<Ticks, kWireProtocols> read_by_protocol(Section section, const char* meaning) {
    return {read_step(section, "ll", meaning), read_step(section, "ll128", meaning),
            read_step(section, "simple", meaning)};
}

StepTimes read_steps(const Section& section) {
    return {read_by_protocol(section.section("base"), "of a collective without data, its launch included"),
            read_by_protocol(section.section("step"), "from chip to chip")};
}

std::vector<Bytes> read_sizes(Section& table) {
    std::vector<Bytes> sizes;
    for (const std::string& text : table.list("sizes", "of messages for which there are bandwidths", {{}})) {
        const auto size = config::parse_quantity(text, config::Dimension::Size, 1, std::int64_t{1} << 40);
        if (!size.value)
            table.fail("sizes", size.problem);
        else if (!sizes.empty() && Bytes(*size.value) <= sizes.back())
            table.fail("sizes", fmt::format("{} is no larger than the size before it", text));
        sizes.emplace_back(size.value.value_or(1));  // rows are as long, whatever is wrong with it
    }
    return sizes;
}

/// One bandwidth for each size, or `none`.
MeasuredCollective read_row(Section& kind, const std::string& chips, const std::vector<Bytes>& sizes) {
    MeasuredCollective row;
    const std::vector<std::string> rates =
        kind.list(chips, "bus bandwidths measured with so many chips, one for each of the sizes, or none");
    const auto count = config::parse_integer(chips, 2, kMostOfSwitch);
    if (!count.value) kind.fail(chips, fmt::format("chips: {}", count.problem));
    row.chips = count.value.value_or(2);
    if (rates.size() != sizes.size()) {
        kind.fail(chips, fmt::format("{} bandwidths for {} sizes (collectives.measured.sizes)", rates.size(),
                                     sizes.size()));
        return row;
    }
    for (std::size_t i = 0; i < rates.size(); ++i) {
        if (rates[i] == "none") continue;
        const auto rate = config::parse_quantity(rates[i], config::Dimension::Bandwidth, kSlowest.value(),
                                                 kFastest.value());
        if (!rate.value)
            kind.fail(chips, rate.problem);
        else
            row.points.push_back({sizes[i], BytesPerSecond(*rate.value)});
    }
    return row;
}

std::vector<MeasuredCollective> read_measured(Section table) {
    const bool used =
        table.flag("use", "whether measured bandwidths correct what the library expects of itself", true);
    const std::vector<Bytes> sizes = read_sizes(table);
    std::vector<MeasuredCollective> measured;
    for (std::size_t k = 0; k < kKinds.size(); ++k) {
        Section kind = table.section(kKinds[k]);
        for (const std::string& chips : kind.keys()) {
            measured.push_back(read_row(kind, chips, sizes));
            measured.back().kind = static_cast<Collective::Kind>(k);
        }
    }
    if (!used) measured.clear();
    return measured;
}

}  // namespace

CollectivesSpec read_collectives(Section collectives) {
    CollectivesSpec spec;
    spec.most_chips = static_cast<int>(collectives.count(
        "most_chips", "that are joined without a network between nodes", {2, kMostOfSwitch}));
    spec.channels = static_cast<int>(
        collectives.count("channels", "rings or trees side by side, each with a CTA", {1, kMostChannels}));
    spec.channel_bandwidth =
        read_rate(collectives, "channel_bandwidth", "of one channel, as the library plans it");
    spec.ll_bandwidth =
        read_rate(collectives, "ll_bandwidth", "of all channels together in protocol LL, at most");
    spec.ll128 = collectives.flag("ll128", "whether links keep 128 bytes together, so that LL128 is safe");
    spec.ll128_channel = read_rate(collectives, "ll128_channel", "of one channel in protocol LL128, at most");
    spec.tree_channel = read_rate(collectives, "tree_channel", "of one channel of a tree, at most");
    spec.ring = read_steps(collectives.section("ring"));
    spec.tree = read_steps(collectives.section("tree"));
    spec.in_switch = collectives.flag("in_switch", "whether the switch adds (NVLink SHARP)");
    spec.in_switch_bandwidth = read_rate(collectives, "in_switch_bandwidth",
                                         "of all chips' parts together, as the library plans it");
    spec.in_switch_efficiency =
        collectives.number("in_switch_efficiency", "of that bandwidth, what the library expects", 0.01, 1.0);
    spec.in_switch_latency =
        read_step(collectives, "in_switch_latency", "of a collective that the switch adds");
    spec.measured = read_measured(collectives.section("measured"));
    return spec;
}

}  // namespace systole::simt
