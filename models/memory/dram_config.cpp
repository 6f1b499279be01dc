// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram_config.h"

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <vector>

#include "models/memory/address_map.h"
#include "models/memory/constraint_table.h"

namespace systole {
namespace {

using config::Section;

constexpr std::int64_t kMaxClocks = 1'000'000;
constexpr int kMaxBanks = 64;  // a channel's banks fit a 64-bit set

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
    spec.rows = power_of_two(memory, "rows", "rows of a bank", 1 << 24, good);
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

/// `larger` must be at least the sum `least`.
struct Relation {
    std::string_view larger, least, why;
};

/// What the parameters of every standard must obey; a relation of names that a standard lacks does not apply.
constexpr Relation kRelations[] = {
    {"RC", "RAS + RP", "a bank's cycle is to open, restore and close a row"},
    {"CCD_L", "CCD_S", "within a bank group columns are no closer than across"},
    {"CCD_S", "BL", "bursts must not overlap on the data bus"},
    {"CCD", "BL", "bursts must not overlap on the data bus"},
    {"RRD_L", "RRD_S", "within a bank group activations are no closer than across"},
    {"FAW", "RRD_S", "four activations take no less than one"},
    {"FAW", "RRD", "four activations take no less than one"},
    {"WTR_L", "WTR_S", "within a bank group the turnaround is no shorter than across"},
    {"RTW", "CL + BL - CWL", "write data must not meet read data on the bus"},
    {"REFI", "RFC + RC", "refresh must leave time for work"},
};

bool names_present(std::string_view expression, const TimingParameters& timing) {
    for (std::size_t at = 0; at < expression.size();) {
        const std::size_t end = std::min(expression.find(' ', at), expression.size());
        const std::string word(expression.substr(at, end - at));
        if (word != "+" && word != "-" && !timing.contains(word)) return false;
        at = end + 1;
    }
    return true;
}

void read_timing(Section& memory, const ConstraintTable& table, DramSpec& spec) {
    Section timing = memory.section("timing");
    for (const std::string_view name : table.parameters) {
        const std::string meaning =
            fmt::format("{} timing parameter t{}, in command clocks", table.standard, name);
        const std::int64_t clocks = timing.count(name, meaning, {1, kMaxClocks});
        if (timing.has(name)) spec.timing[std::string(name)] = clocks;
    }
    for (const Relation& relation : kRelations) {
        const std::string larger(relation.larger);
        if (!spec.timing.contains(larger) || !names_present(relation.least, spec.timing)) continue;
        const std::int64_t least = evaluate_latency(relation.least, spec.timing).value();
        if (spec.timing[larger] < least)
            timing.fail(larger, fmt::format("{} is less than {} = {}: {}", spec.timing[larger],
                                            relation.least, least, relation.why));
    }
}

void read_controller(Section& memory, DramSpec& spec) {
    spec.refresh =
        memory.choice("refresh", "off, or all banks every REFI", {"off", "all_bank"}, std::size_t{1}) == 0
            ? RefreshPolicy::Off
            : RefreshPolicy::AllBank;
    spec.queue = static_cast<int>(memory.count(
        "queue", "bursts a channel's scheduler sees, for each of reads and writes", {1, 4096}, 32));
    spec.door = static_cast<int>(memory.count(
        "door", "requests that may wait before a channel's full queue until initiators are held up",
        {1, 4096}, 16));
    Section writes = memory.section("writes");
    const std::int64_t nearly_full = std::max<std::int64_t>(spec.queue * 9 / 10, 1);
    spec.writes.high = static_cast<int>(writes.count(
        "high", "waiting writes (bursts) that turn the data bus to writes", {1, spec.queue}, nearly_full));
    spec.writes.low =
        static_cast<int>(writes.count("low", "waiting writes at which the bus turns back, once reads wait",
                                      {0, spec.queue}, spec.queue / 10));
    spec.patience = static_cast<int>(
        memory.count("patience", "bursts that may pass the oldest waiting one before it is served anyway",
                     {1, kMaxClocks}, 256));
    if (spec.writes.low >= spec.writes.high)
        writes.fail("low", fmt::format("{} is not below high = {}", spec.writes.low, spec.writes.high));
}

void read_dram(Section& memory, DramSpec& spec) {
    std::vector<std::string> names;
    for (const ConstraintTable& table : constraint_tables()) names.emplace_back(table.standard);
    const std::size_t standard = memory.choice("standard", "whose timing rules apply", names);
    const ConstraintTable& table = constraint_tables()[standard];
    spec.standard = names[standard];
    spec.clock = memory.frequency("clock", "command clock (CK); data moves on both edges");
    if (spec.clock > Hertz(kTicksPerSecond)) memory.fail("clock", "at most one edge a picosecond");
    if (spec.clock < Hertz(1'000'000)) memory.fail("clock", "slower than 1 MHz, which no DRAM is");
    bool good = true;
    read_organisation(memory, table, spec, good);
    read_timing(memory, table, spec);
    read_controller(memory, spec);
    spec.address_map = memory.text("address_map", "address fields above the burst offset, lowest first");
    if (!good || !memory.has("address_map")) return;
    if (const std::string fault = address_map_fault(spec); !fault.empty()) memory.fail("address_map", fault);
}

}  // namespace

DramSpec read_dram_spec(Section memory) {
    DramSpec spec;
    const bool ideal = memory.choice("kind", "dram, or ideal: a memory that answers in no time",
                                     {"dram", "ideal"}, std::size_t{0}) == 1;
    spec.kind = ideal ? DramSpec::Kind::Ideal : DramSpec::Kind::Dram;
    spec.max_payload = memory.bytes("max_payload", "the largest transaction the memory takes", {64, 1 << 24},
                                    Bytes(32 * 1024));
    // A DRAM made ideal (--set memory.kind=ideal) keeps its organisation, which then only says how large it
    // is.
    const bool organised = memory.has("standard");
    if (!ideal || organised) read_dram(memory, spec);
    if (ideal)
        spec.ideal_capacity =
            memory.bytes("capacity", "size of the ideal memory", {},
                         organised ? std::optional(spec.bus_capacity() * spec.data_buses()) : std::nullopt);
    return spec;
}

}  // namespace systole
