// SPDX-License-Identifier: Apache-2.0
#include "models/memory/controller/bank_timing.h"

#include <bit>

#include "sim/base/check.h"

namespace systole {
namespace {

constexpr std::int64_t kLongAgo = std::int64_t{1} << 40;  // longer than any latency

/// All are ACTs, or all are columns.
bool of_one_kind(const ConstraintRow& row) {
    const auto all = [&](const auto& is_such) {
        return std::all_of(row.preceding.begin(), row.preceding.end(), is_such) &&
               std::all_of(row.following.begin(), row.following.end(), is_such);
    };
    return all(is_column) || all([](Command command) { return command == Command::Act; });
}

}  // namespace

BankTiming::BankTiming(const DramSpec& spec)
    : bank_bits_(std::countr_zero(static_cast<unsigned>(spec.banks_per_group))),
      groups_(static_cast<std::size_t>(spec.bank_groups)),
      banks_(static_cast<std::size_t>(spec.banks())),
      ready_(static_cast<std::size_t>(kCommands) * (1 + groups_ + banks_)) {
    last_.fill(-kLongAgo);
    for (const ConstraintRow& row : constraint_table_of(spec.standard).rows) {
        if (row.scope == Scope::Channel) continue;
        const std::int64_t latency = evaluate_latency(row.latency, spec.timing).value();
        SYSTOLE_CHECK(latency < kLongestLatency, "{} is {} clocks", row.latency, latency);
        SYSTOLE_CHECK(row.scope != Scope::Group || of_one_kind(row),
                      "commands of two kinds keep each other away in a bank group");
        row.window == 1 ? fold(row, latency) : fold_window(row, latency);
    }
}

std::size_t BankTiming::first_node(Scope scope, std::size_t row) const {
    return scope == Scope::PseudoChannel ? row : scope == Scope::Group ? row + 1 : row + 1 + groups_;
}

std::size_t BankTiming::node(Scope scope, int bank) const {
    return scope == Scope::PseudoChannel ? 0
           : scope == Scope::Group       ? group_of(bank)
                                         : static_cast<std::size_t>(bank);
}

void BankTiming::fold(const ConstraintRow& row, std::int64_t latency) {
    for (const Command preceding : row.preceding) {
        for (const Command following : row.following) {
            if (!names_bank(following)) {
                delays_.push_back({preceding, following, latency});
                continue;
            }
            // issue_in_bank() relies on it.
            SYSTOLE_CHECK(!is_column(preceding) || is_column(following) || row.scope == Scope::Bank,
                          "a column keeps row commands away beyond its bank");
            // A command of all banks meets every bank.
            const Scope scope = names_bank(preceding) ? row.scope : Scope::PseudoChannel;
            fold(preceding, scope, row_of(following), latency);
            if (is_column(preceding) && is_column(following) && is_read(preceding) != is_read(following))
                fold(preceding, scope,
                     index(is_read(following) ? Command::ReadAp : Command::WriteAp) * nodes(), latency);
        }
    }
}

void BankTiming::fold(Command preceding, Scope scope, std::size_t row, std::int64_t latency) {
    std::vector<Effect>& effects = effects_[index(preceding)];
    const std::size_t at = first_node(scope, row);
    const auto same =
        std::find_if(effects.begin(), effects.end(), [at](const Effect& effect) { return effect.at == at; });
    if (same != effects.end()) {
        same->latency = std::max(same->latency, latency);
        return;
    }
    const Effect effect{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(index(scope)), latency};
    effects.insert(scope == Scope::Bank ? effects.begin() : effects.end(), effect);
    if (scope == Scope::Bank) ++in_bank_[index(preceding)];
}

Cycles BankTiming::earliest_of_all(Command command) const {
    std::int64_t ready = anywhere(command).value();
    for (const Delay& delay : delays_)
        if (delay.following == command)
            ready = std::max(ready, last_[index(delay.preceding)] + delay.latency);
    return Cycles(ready);
}

bool BankTiming::same_from(const BankTiming& other, Cycles now) const {
    const auto same = [&](std::int64_t a, std::int64_t b) {
        return std::max(a, now.value()) == std::max(b, now.value());
    };
    if (!std::ranges::equal(ready_, other.ready_, same)) return false;
    for (const Delay& delay : delays_)
        if (!same(last_[index(delay.preceding)] + delay.latency,
                  other.last_[index(delay.preceding)] + delay.latency))
            return false;
    for (std::size_t w = 0; w < windows_.size(); ++w)
        for (std::size_t r = 0; r < windows_[w].rings.size(); ++r) {
            const Window::Ring &one = windows_[w].rings[r], &two = other.windows_[w].rings[r];
            for (std::size_t i = 0; i < one.times.size(); ++i)
                if (!same(one.times[(one.oldest + i) % one.times.size()] + windows_[w].latency,
                          two.times[(two.oldest + i) % two.times.size()] + windows_[w].latency))
                    return false;
        }
    return true;
}

Cycles BankTiming::windows_over() const {
    std::int64_t over = 0;
    for (const Window& window : windows_)
        for (const Window::Ring& ring : window.rings)
            over = std::max(over, *std::ranges::max_element(ring.times) + window.latency);
    return Cycles(over);
}

void BankTiming::fold_window(const ConstraintRow& row, std::int64_t latency) {
    Window window{row.scope, {}, {}, latency, {}};
    for (const Command preceding : row.preceding) window.preceding[index(preceding)] = true;
    for (const Command following : row.following)
        window.at.push_back(first_node(row.scope, row_of(following)));
    // Nothing has happened before time zero: slots far in the past never bind.
    Window::Ring ring;
    ring.times.assign(static_cast<std::size_t>(row.window), -latency);
    const std::size_t nodes = row.scope == Scope::PseudoChannel ? 1
                              : row.scope == Scope::Group       ? groups_
                                                                : banks_;
    window.rings.assign(nodes, ring);
    windows_.push_back(std::move(window));
}

void BankTiming::slide(Window& window, int bank, std::int64_t clock) {
    const std::size_t node = this->node(window.scope, bank);
    Window::Ring& ring = window.rings[node];
    ring.times[ring.oldest] = clock;
    ring.oldest = ring.oldest + 1 == ring.times.size() ? 0 : ring.oldest + 1;
    for (const std::size_t at : window.at) raise(at + node, ring.times[ring.oldest] + window.latency);
}

}  // namespace systole
