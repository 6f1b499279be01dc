// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram_energy.h"

#include <fmt/format.h>

#include "sim/base/checked.h"
#include "sim/base/error.h"
#include "sim/base/text.h"

namespace systole {

void enter_energy(const DramSpec& spec, const DramChannel::Stats& counts, Ticks elapsed,
                  const std::string& path, EnergyLedger& ledger) {
    if (!spec.energy || !spec.is_dram()) return;
    const DramEnergy& each = *spec.energy;
    const auto enter = [&](const char* event, const char* counter, const char* unit, std::int64_t count,
                           Femtojoules one, EnergyFollows follows) {
        ledger.enter({path, event, counter, unit, count, one, EnergyPart::Memory, follows});
    };
    using enum EnergyFollows;
    enter("activate", "activates", "commands", counts.activates, each.act_pre, DramMoved);
    enter("read", "read_bursts", "bursts", counts.read_bursts, each.read, DramRead);
    enter("write", "write_bursts", "bursts", counts.write_bursts, each.write, DramWritten);
    if (spec.refresh == RefreshPolicy::AllBank)
        enter("refresh", "refreshes", "commands", counts.refreshes, each.refresh, Time);
    if (spec.refresh == RefreshPolicy::PerBank)
        enter("refresh_bank", "bank_refreshes", "commands", counts.bank_refreshes, each.refresh_bank, Time);
    const auto time = checked_mul(elapsed.value(), spec.data_buses());
    if (!time)
        throw UserError(fmt::format("{}: {} of {} pseudo-channels are more than can be accounted for", path,
                                    format_time(elapsed), spec.data_buses()));
    // a milliwatt is a femtojoule a picosecond
    enter("background", "", "ps", *time, Femtojoules(each.background.value()), Time);
}

}  // namespace systole
