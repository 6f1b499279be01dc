// SPDX-License-Identifier: Apache-2.0
#include "sim/account/energy_ledger.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "sim/base/checked.h"
#include "sim/base/error.h"
#include "sim/base/text.h"

namespace systole {

std::string_view to_string(EnergyPart part) {
    static constexpr std::array<std::string_view, kEnergyParts> kNames{
        "matrix", "vector", "instructions", "on_chip", "memory", "host", "chips", "static"};
    return kNames[static_cast<std::size_t>(part)];
}

void EnergyLedger::enter(EnergyEntry entry) {
    const auto energy = checked_mul(entry.each.value(), entry.count);
    const auto sum = energy ? checked_add(total_.value(), *energy) : std::nullopt;
    if (!sum)
        throw UserError(fmt::format("{}: {} x {} fJ of {} are more than the {} that can be accounted for",
                                    entry.path, entry.count, entry.each.value(), entry.event,
                                    format_energy(Femtojoules::max())));
    total_ = Femtojoules(*sum);
    entries_.push_back(std::move(entry));
}

std::string energy_sentence(const EnergyLedger& ledger) {
    if (ledger.empty()) return "";
    std::vector<std::pair<std::string, std::int64_t>> events;
    for (const EnergyEntry& entry : ledger.entries()) {
        const auto known = std::find_if(events.begin(), events.end(),
                                        [&](const auto& event) { return event.first == entry.event; });
        if (known == events.end())
            events.emplace_back(entry.event, entry.energy().value());
        else
            known->second += entry.energy().value();
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<std::string> shares;
    for (const auto& [event, energy] : events) {
        const double share = static_cast<double>(energy) / static_cast<double>(ledger.total().value());
        if (energy > 0) shares.push_back(fmt::format("{} % {}", format_percent(share), event));
    }
    if (shares.empty()) return "Energy 0 J.";
    return fmt::format("Energy {}: {}.", format_energy(ledger.total()), fmt::join(shares, ", "));
}

}  // namespace systole
