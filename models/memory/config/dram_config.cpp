// SPDX-License-Identifier: Apache-2.0
#include "models/memory/config/dram_config.h"

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <map>
#include <vector>

#include "models/memory/addresses/address_map.h"
#include "models/memory/config/dram_parts_config.h"
#include "models/memory/standards/constraint_table.h"
#include "sim/base/error.h"
#include "sim/config/quantity.h"

namespace systole {
namespace {

using config::Section;

constexpr int kMaxBanks = 64;  // a channel's banks fit a 64-bit set
constexpr double kMostEcc = 0.5;

/// In GB/s with as many digits as datasheets give.
std::string write_bandwidth(std::int64_t bytes_per_second) {
    return fmt::format("{:.4g} GB/s", static_cast<double>(bytes_per_second) / 1e9);
}

/// Reads a count that must be a power of two, because an address field holds it.
int power_of_two(Section& memory, const char* key, const char* meaning, std::int64_t high, bool& good) {
    const std::int64_t value = memory.count(key, meaning, {1, high});
    if (!std::has_single_bit(static_cast<std::uint64_t>(value))) {
        memory.fail(key, fmt::format("expected a power of two, not {}", value));
        good = false;
    }
    return static_cast<int>(value);
}

void read_organisation(Section& memory, const ConstraintTable& table, DramSpec& spec, bool& good) {
    spec.channels = power_of_two(memory, "channels",
                                 "independent channels, each with command buses of its own", 1024, good);
    spec.pseudo_channels = static_cast<int>(
        memory.count("pseudo_channels", "data buses of a channel, behind shared command buses", {1, 2}, 1));
    if (spec.pseudo_channels > table.pseudo_channels)
        memory.fail("pseudo_channels", fmt::format("{} has no pseudo-channels: expected 1, not {}",
                                                   table.standard, spec.pseudo_channels));
    spec.bank_groups = power_of_two(memory, "bank_groups", "bank groups of a pseudo-channel", 16, good);
    spec.banks_per_group = power_of_two(memory, "banks_per_group", "banks of a bank group", 64, good);
    spec.rows = static_cast<int>(memory.count("rows", "rows of a bank", {1, 1 << 24}));
    spec.row_bytes =
        memory.bytes("row_bytes", "one row of one bank, all devices of the channel together", {8, 1 << 20});
    const std::int64_t data_bits =
        power_of_two(memory, "data_bits", "width of a channel's data bus", 1024, good);
    const std::int64_t length =
        power_of_two(memory, "burst_length", "transfers of one column command", 32, good);
    spec.burst_bytes = Bytes(std::max<std::int64_t>(data_bits * length / 8, 1));
    spec.timing["BL"] = std::max<std::int64_t>(length / table.transfers_per_clock, 1);
    if (data_bits < 8) memory.fail("data_bits", "expected at least 8 bits"), good = false;
    if (length < table.transfers_per_clock) {
        memory.fail("burst_length", fmt::format("expected at least {} transfers, one clock of {}",
                                                table.transfers_per_clock, table.standard));
        good = false;
    }
    if (spec.banks() > kMaxBanks) {
        memory.fail("banks_per_group",
                    fmt::format("{} banks in a channel; at most {}", spec.banks(), kMaxBanks));
        good = false;
    }
    if (!std::has_single_bit(static_cast<std::uint64_t>(spec.row_bytes.value())) ||
        spec.row_bytes < spec.burst_bytes) {
        memory.fail("row_bytes", fmt::format("expected a power of two, and at least one burst ({} B)",
                                             spec.burst_bytes.value()));
        good = false;
    }
}

/// The named maps, each checked against the organisation if that is `good`.
std::map<std::string, std::string> read_named_maps(Section& memory, const DramSpec& spec, bool good) {
    std::map<std::string, std::string> maps;
    Section named = memory.section("address_maps");
    for (const std::string& name : named.keys()) {
        DramSpec candidate = spec;
        candidate.address_map = maps[name] = named.text(name, "an address map that `address_map` may name");
        if (parse_address_map(name)) named.fail(name, fmt::format("'{}' is a map itself; no name", name));
        if (!good) continue;
        if (const std::string fault = address_map_fault(candidate); !fault.empty()) named.fail(name, fault);
    }
    return maps;
}

void read_address_map(Section& memory, DramSpec& spec, bool good) {
    spec.address_map = memory.text(
        "address_map",
        "address fields above the burst offset, lowest first, or the name of one of address_maps");
    const std::map<std::string, std::string> maps = read_named_maps(memory, spec, good);
    if (!memory.has("address_map")) return;
    if (const auto named = maps.find(spec.address_map); named != maps.end()) {
        spec.address_map = named->second;  // its faults are told where it is written
        return;
    }
    if (!parse_address_map(spec.address_map) && !maps.empty()) {
        std::vector<std::string> names;
        for (const auto& [name, map] : maps) names.push_back(name);
        if (const std::string meant = did_you_mean(spec.address_map, names); !meant.empty())
            return memory.fail("address_map", fmt::format("'{}' is neither a map nor the name of one{}",
                                                          spec.address_map, meant));
    }
    if (!good) return;
    if (const std::string fault = address_map_fault(spec); !fault.empty()) memory.fail("address_map", fault);
}

/// A stated bandwidth must be what the organisation reaches; published figures are rounded.
void check_bandwidth(Section& memory, const DramSpec& spec, bool good) {
    if (!memory.has("bandwidth")) return;
    const BytesPerSecond stated =
        memory.bandwidth("bandwidth", "what all data buses together move: checked, not used");
    if (!good) return;
    const std::int64_t reached = spec.peak().value();
    if (std::abs(stated.value() - reached) <= reached / 100) return;
    memory.fail("bandwidth",
                fmt::format("{} are stated, but {} data buses of {} B a burst in {} clocks of {} reach {}",
                            write_bandwidth(stated.value()), spec.data_buses(), spec.burst_bytes.value(),
                            spec.timing.at("BL"),
                            config::format_quantity(spec.clock.value(), config::Dimension::Frequency),
                            write_bandwidth(reached)));
}

void read_dram(Section& memory, DramSpec& spec) {
    std::vector<std::string> names;
    for (const ConstraintTable& table : constraint_tables()) names.emplace_back(table.standard);
    const std::size_t standard = memory.choice("standard", "whose timing rules apply", names);
    const ConstraintTable& table = constraint_tables()[standard];
    spec.standard = names[standard];
    spec.clock = memory.clock("clock", "command clock (CK)");
    spec.ecc_share = memory.number(
        "ecc_share", "of the data buses' time, what check bits among the data take (inline ECC)", 0.0,
        kMostEcc, 0.0);
    spec.clock = Hertz(std::llround(static_cast<double>(spec.clock.value()) * (1 - spec.ecc_share)));
    bool good = true;
    read_organisation(memory, table, spec, good);
    read_dram_timing(memory, table, spec);
    read_dram_policy(memory, table, spec);
    read_dram_energy(memory, table, spec);
    read_address_map(memory, spec, good);
    check_bandwidth(memory, spec, good);
}

constexpr Bytes kLeastMoved(1'000'000'000);     // bytes a second: less is a slip of the pen
constexpr Ticks kLongestAnswer(1'000'000'000);  // a millisecond

void read_sram(Section& memory, DramSpec& spec) {
    spec.max_payload = memory.bytes("max_payload", "the largest transaction the memory takes", {64, 1 << 24},
                                    Bytes(32 * 1024));
    spec.flat_capacity = memory.bytes("capacity", "size of the memory on the chip");
    spec.sram_bandwidth =
        memory.bandwidth("bandwidth", "reads and writes of the memory on the chip together");
    if (spec.sram_bandwidth.value() < kLeastMoved.value())
        memory.fail("bandwidth", "less than 1 GB/s, which no memory on a chip has");
    spec.sram_latency = memory.time("latency", "from a request's turn to its data, besides their own time");
    if (spec.sram_latency > kLongestAnswer)
        memory.fail("latency", "longer than a millisecond, which no memory on a chip takes");
}

}  // namespace

DramSpec read_dram_spec(Section memory) {
    DramSpec spec;
    spec.kind = static_cast<DramSpec::Kind>(
        memory.choice("kind", "dram; ideal: a memory that answers in no time; sram: memory on the chip",
                      {"dram", "ideal", "sram"}, std::size_t{0}));
    if (spec.kind == DramSpec::Kind::Sram) {
        read_sram(memory, spec);
        return spec;
    }
    const bool ideal = spec.kind == DramSpec::Kind::Ideal;
    spec.max_payload = memory.bytes("max_payload", "the largest transaction the memory takes", {64, 1 << 24},
                                    Bytes(32 * 1024));
    // A DRAM made ideal (--set memory.kind=ideal) keeps its organisation, which then only says how large it
    // is.
    const bool organised = !ideal || memory.has("standard");
    if (organised) read_dram(memory, spec);
    if (ideal)
        spec.flat_capacity =
            memory.bytes("capacity", "size of the ideal memory", {},
                         organised ? std::optional(spec.bus_capacity() * spec.data_buses()) : std::nullopt);
    return spec;
}

}  // namespace systole
