// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/memory/config/dram_parts_config.h"

namespace systole {
namespace {

using config::Section;

void read_refresh(Section& memory, const ConstraintTable& table, DramSpec& spec) {
    const std::vector<std::string> policies{"off", "all_bank", "per_bank"};
    spec.refresh = static_cast<RefreshPolicy>(
        memory.choice("refresh", "off, all banks every REFI, or one bank every REFISB", policies,
                      static_cast<std::size_t>(RefreshPolicy::AllBank)));
    if (spec.refresh == RefreshPolicy::PerBank && !table.refreshes_banks())
        memory.fail("refresh",
                    fmt::format("{} has no refresh of one bank: expected all_bank or off", table.standard));
    spec.refresh_postpone =
        static_cast<int>(memory.count("refresh_postpone", "refreshes that may be owed while bursts wait",
                                      {0, ConstraintTable::kPostponedRefreshes}, 0));
}

void read_writes(Section& memory, DramSpec& spec) {
    Section writes = memory.section("writes");
    const std::int64_t nearly_full = std::max<std::int64_t>((spec.queue * 4 + 4) / 5, 1);
    spec.writes.high = static_cast<int>(writes.count(
        "high", "waiting writes (bursts) that turn the data bus to writes", {1, spec.queue}, nearly_full));
    spec.writes.low =
        static_cast<int>(writes.count("low", "waiting writes at which the bus turns back, once reads wait",
                                      {0, spec.queue}, spec.queue / 5));
    if (spec.writes.low >= spec.writes.high)
        writes.fail("low", fmt::format("{} is not below high = {}", spec.writes.low, spec.writes.high));
}

}  // namespace

void read_dram_policy(Section memory, const ConstraintTable& table, DramSpec& spec) {
    read_refresh(memory, table, spec);
    spec.queue = static_cast<int>(memory.count(
        "queue", "bursts a pseudo-channel's scheduler sees, for each of reads and writes", {1, 4096}, 32));
    spec.shared_queue = memory.flag(
        "shared_queue", "the pseudo-channels of a channel share one queue of so many entries", false);
    spec.door = static_cast<int>(memory.count(
        "door",
        "requests that may wait before a full queue until initiators are held up; times the cores of a chip",
        {1, 4096}, 16));
    read_writes(memory, spec);
    const std::vector<std::string> pages{"open", "closed", "adaptive"};
    spec.page = static_cast<PagePolicy>(
        memory.choice("page",
                      "after a column: a row stays open, is closed when no burst waits for it, or is closed "
                      "when moreover one waits for another row of its bank",
                      pages, static_cast<std::size_t>(PagePolicy::Open)));
    spec.row_hit_cap = static_cast<int>(memory.count(
        "row_hit_cap", "hits of an open row while an older burst waits for its bank; 0: any number",
        {0, kMaxDramClocks}, 0));
    spec.patience = static_cast<int>(
        memory.count("patience", "bursts that may pass the oldest waiting one before its bank is kept for it",
                     {1, kMaxDramClocks}, 4096));
}

void read_dram_energy(const Section& memory, const ConstraintTable& table, DramSpec& spec) {
    if (!memory.has("energy")) return;
    Section energy = memory.section("energy");
    DramEnergy given;
    given.act_pre = energy.energy("act_pre", "to open a row and close it again");
    given.read = energy.energy("read", "one read burst, from the row to the pins");
    given.write = energy.energy("write", "one write burst, from the pins to the row");
    given.refresh = energy.energy("refresh", "one refresh of all banks of a pseudo-channel");
    if (table.refreshes_banks())
        given.refresh_bank = energy.energy("refresh_bank", "one refresh of one bank");
    given.background = energy.power("background", "a pseudo-channel that does nothing, all the time");
    spec.energy = given;
}

}  // namespace systole
