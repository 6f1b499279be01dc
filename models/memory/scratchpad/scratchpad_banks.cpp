// SPDX-License-Identifier: Apache-2.0
#include "models/memory/scratchpad/scratchpad_banks.h"

#include "sim/base/check.h"

namespace systole {

std::string_view to_string(BankClient client) {
    constexpr std::array<std::string_view, kBankClients> kNames{"stream", "tile", "vector", "dma"};
    return kNames[static_cast<std::size_t>(client)];
}

ScratchpadBanks::ScratchpadBanks(const ScratchpadSpec& spec)
    : map_(spec.map()), width_(spec.bank_bytes), range_(map_) {
    if (spec.bank_access == BankAccess::Private) return;
    reads_.emplace(spec.banks, spec.bank_ports);
    if (spec.bank_access == BankAccess::Split) writes_.emplace(spec.banks, spec.bank_ports);
}

const BankLoad& ScratchpadBanks::range(Bytes address, Bytes bytes) {
    range_.clear();
    range_.add(address / width_, (address + bytes - Bytes(1)) / width_);
    return range_;
}

Cycles ScratchpadBanks::take(BankCalendar& calendar, const Work& work, const BankLoad& load) {
    const Cycles taken = calendar.take(work.now, work.begin, work.least, load);
    Stats& stats = stats_[static_cast<std::size_t>(work.client)];
    stats.accesses += load.total();
    stats.lost += taken - work.least;
    return taken;
}

}  // namespace systole
