// SPDX-License-Identifier: Apache-2.0
#include "models/memory/bank_timing.h"

#include <bit>

#include "sim/base/check.h"

namespace systole {

BankTiming::BankTiming(const DramSpec& spec)
    : bank_bits_(std::countr_zero(static_cast<unsigned>(spec.banks_per_group))),
      groups_(static_cast<std::size_t>(spec.bank_groups)),
      banks_(static_cast<std::size_t>(spec.banks())) {
    const ConstraintTable* table = find_constraint_table(spec.standard);
    SYSTOLE_CHECK(table, "no constraint table for {}", spec.standard);
    for (const ConstraintRow& row : table->rows) {
        const Cycles latency = evaluate_latency(row.latency, spec.timing);
        if (row.window == 1) {
            fold(row, latency);
            continue;
        }
        const std::size_t nodes = row.scope >= Scope::PseudoChannel ? 1
                                  : row.scope == Scope::Group       ? groups_.size()
                                                                    : banks_.size();
        Window::Ring ring;
        // Nothing has happened before time zero: slots far in the past never bind.
        ring.times.assign(static_cast<std::size_t>(row.window), Cycles() - latency);
        windows_.push_back({row, latency, std::vector<Window::Ring>(nodes, ring)});
    }
}

void BankTiming::fold(const ConstraintRow& row, Cycles latency) {
    for (const Command preceding : row.preceding) {
        std::vector<Effect>& effects = effects_[static_cast<std::size_t>(preceding)];
        for (const Command following : row.following) {
            const auto same = std::find_if(effects.begin(), effects.end(), [&](const Effect& effect) {
                return effect.scope == row.scope && effect.following == following;
            });
            if (same == effects.end())
                effects.push_back({row.scope, following, latency});
            else
                same->latency = std::max(same->latency, latency);
        }
    }
}

BankTiming::Times& BankTiming::node(Scope scope, int bank) {
    switch (scope) {
        case Scope::Bank:
            return banks_[static_cast<std::size_t>(bank)];
        case Scope::Group:
            return groups_[group_of(bank)];
        case Scope::PseudoChannel:
        case Scope::Channel:
            break;
    }
    return channel_;
}

void BankTiming::issue(Command command, int bank, Cycles clock) {
    for (const Effect& effect : effects_[static_cast<std::size_t>(command)]) {
        Cycles& ready = node(effect.scope, bank)[static_cast<std::size_t>(effect.following)];
        ready = std::max(ready, clock + effect.latency);
    }
    for (Window& window : windows_) slide(window, command, bank, clock);
}

void BankTiming::slide(Window& window, Command command, int bank, Cycles clock) {
    const ConstraintRow& row = window.row;
    if (std::find(row.preceding.begin(), row.preceding.end(), command) == row.preceding.end()) return;
    const std::size_t index = row.scope >= Scope::PseudoChannel ? 0
                              : row.scope == Scope::Group       ? group_of(bank)
                                                                : static_cast<std::size_t>(bank);
    Window::Ring& ring = window.rings[index];
    ring.times[ring.oldest] = clock;
    ring.oldest = (ring.oldest + 1) % ring.times.size();
    for (const Command following : row.following) {
        Cycles& ready = node(row.scope, bank)[static_cast<std::size_t>(following)];
        ready = std::max(ready, ring.times[ring.oldest] + window.latency);
    }
}

}  // namespace systole
