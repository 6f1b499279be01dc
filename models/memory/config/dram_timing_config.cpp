// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "models/memory/config/dram_parts_config.h"

namespace systole {
namespace {

using config::Section;

/// `larger` must be at least the sum `least`.
struct Relation {
    std::string_view larger, least, why;
};

/// What the parameters of every standard must obey; a relation of names that a standard lacks does not apply.
constexpr Relation kRelations[] = {
    {"RC", "RAS + RP", "a bank's cycle is to open, restore and close a row"},
    {"RAS", "RCDRD", "a row must stay open until it can be read"},
    {"RAS", "RCDWR", "a row must stay open until it can be written"},
    {"RAS", "RCD", "a row must stay open until it can be read"},
    {"CCD_L", "CCD_S", "within a bank group columns are no closer than across"},
    {"CCD_S", "BL", "bursts must not overlap on the data bus"},
    {"CCD", "BL", "bursts must not overlap on the data bus"},
    {"RRD_L", "RRD_S", "within a bank group activations are no closer than across"},
    {"FAW", "RRD_S", "four activations take no less than one"},
    {"FAW", "RRD", "four activations take no less than one"},
    {"WTR_L", "WTR_S", "within a bank group the turnaround is no shorter than across"},
    {"RTW", "CL + BL - CWL", "write data must not meet read data on the bus"},
    {"RPAB", "RP", "to close all banks takes no less than to close one"},
    {"REFI", "RFC + RC + RAS", "refresh must leave time to open a row, use it and close it"},
    {"RFC", "RFCSB", "to refresh all banks takes no less than to refresh one"},
    {"REFISB", "RREFD", "refreshes of single banks keep this distance"},
    {"REFISB", "PBR2PBR", "refreshes of single banks keep this distance"},
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

/// Bank by bank in turn, every bank must be refreshed once in REFI, and have time for work between.
void check_bank_refresh(Section& timing, const DramSpec& spec) {
    for (const char* name : {"REFISB", "REFI", "RFCSB", "RC", "RAS"})
        if (!spec.timing.contains(name)) return;
    const std::int64_t interval = spec.timing.at("REFISB"), banks = spec.banks();
    const std::int64_t most = ceil_div(spec.timing.at("REFI"), banks);
    const std::int64_t least =
        ceil_div(spec.timing.at("RFCSB") + spec.timing.at("RC") + spec.timing.at("RAS"), banks);
    if (interval > most)
        timing.fail("REFISB",
                    fmt::format("{} is more than REFI / {} banks = {}: every bank must be refreshed "
                                "once in REFI",
                                interval, banks, most));
    if (interval < least)
        timing.fail("REFISB",
                    fmt::format("{} is less than (RFCSB + RC + RAS) / {} banks = {}: refresh must leave a "
                                "bank time for work",
                                interval, banks, least));
}

}  // namespace

void read_dram_timing(const Section& memory, const ConstraintTable& table, DramSpec& spec) {
    Section timing = memory.section("timing");
    for (const std::string_view name : table.parameters) {
        const std::string meaning = fmt::format("JEDEC's t{}, in command clocks", name);
        const std::int64_t clocks = timing.count(name, meaning, {1, kMaxDramClocks});
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
    if (table.refreshes_banks()) check_bank_refresh(timing, spec);
}

}  // namespace systole
