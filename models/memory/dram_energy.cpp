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
    ledger.enter({path, "activate", "activates", "commands", counts.activates, each.act_pre});
    ledger.enter({path, "read", "read_bursts", "bursts", counts.read_bursts, each.read});
    ledger.enter({path, "write", "write_bursts", "bursts", counts.write_bursts, each.write});
    if (spec.refresh == RefreshPolicy::AllBank)
        ledger.enter({path, "refresh", "refreshes", "commands", counts.refreshes, each.refresh});
    if (spec.refresh == RefreshPolicy::PerBank)
        ledger.enter(
            {path, "refresh_bank", "bank_refreshes", "commands", counts.bank_refreshes, each.refresh_bank});
    const auto time = checked_mul(elapsed.value(), spec.data_buses());
    if (!time)
        throw UserError(fmt::format("{}: {} of {} pseudo-channels are more than can be accounted for", path,
                                    format_time(elapsed), spec.data_buses()));
    // a milliwatt is a femtojoule a picosecond
    ledger.enter({path, "background", "", "ps", *time, Femtojoules(each.background.value())});
}

}  // namespace systole
