// SPDX-License-Identifier: Apache-2.0
#include "sim/device/growing_turns.h"

#include <algorithm>

#include "sim/workload/shorter_graph.h"

namespace systole {
namespace {

/// Of fewer marked turns some may not have settled.
constexpr std::size_t kFirstLook = 6;
/// Turns that are left at first, and twice as many as begin ahead.
constexpr std::size_t kFewTurns = 12;
/// The first turn, which is not marked, and the last ones; and as many again.
constexpr std::size_t kMargin = 2 * (1 + kLastTurns);

/// At most half as many again as there are, for the first ones may be those that differ.
std::size_t look_after(const TurnMarks& marks, Ticks jitter) {
    const std::size_t turns = turns_of(marks), wanted = turns_wanted_by_time(marks, jitter);
    return std::max(turns + 1, std::min(wanted, turns + turns / 2));
}

}  // namespace

GrowingTurns::GrowingTurns(const EqualTurns& all, const GrowingRules& rules)
    : all_(all), rules_(rules), looks_(all.blocks.size(), {kFirstLook}) {
    std::vector<std::size_t> turns;
    for (const EqualTurns::Block& block : all.blocks) {
        worth_it_ += block.worth_it() ? 1 : 0;
        turns.push_back(block.worth_it() ? std::min(block.turns, kFewTurns + 2 * rules.ahead) : block.turns);
    }
    left_ = with_turns(all, std::move(turns));
}

std::optional<TurnsLeft> GrowingTurns::look(const std::vector<Mark>& met,
                                            const std::vector<std::size_t>& begun) {
    const std::vector<TurnMarks> marks = by_block(left_.marked, met);
    std::size_t b = marks.size() - 1;
    while (b > 0 && marks[b].empty()) --b;  // the one under way
    if (looks_[b].over) return std::nullopt;
    std::vector<std::size_t> turns = left_.turns, marked = left_.marked;
    if (marks[b].size() > 1 && turns_of(marks[b]) >= kFirstLook) {
        const std::size_t fewest = std::max(marks[b].size(), begun[b]) + kLastTurns;
        looks_[b].over = fewest <= turns[b] && tells(marks[b], b, fewest);
        if (looks_[b].over) turns[b] = fewest, marked[b] = marks[b].size();
    }
    if (!looks_[b].over) {
        turns[b] = more(b, marks[b].size(), begun[b]);
        marked[b] = turns[b] - kLastTurns;
    }
    if (turns == left_.turns && marked == left_.marked) return std::nullopt;
    left_ = with_turns(all_, std::move(turns), std::move(marked));
    return left_;
}

/// Twice as many when half of them have ended, or the last ones are about to begin; not when they have.
std::size_t GrowingTurns::more(std::size_t block, std::size_t marks, std::size_t begun) const {
    const std::size_t turns = left_.turns[block];
    const bool begin_soon = std::max(2 * marks, marks + rules_.ahead + kMargin) >= turns;
    if (!begin_soon || begun + kLastTurns > turns) return turns;
    return std::min(2 * turns, all_.blocks[block].turns);
}

bool GrowingTurns::tells(const TurnMarks& marks, std::size_t block, std::size_t turns) {
    std::size_t& next = looks_[block].next;
    if (turns_of(marks) >= next) {
        next = look_after(marks, rules_.jitter);
        if (enough(marks, agreement_by_time(marks, rules_.jitter), block, turns)) return true;
    }
    const RefreshWindow window = refresh_window(marks, rules_.refreshes, worth_it_);
    return enough(marks, {window.turns, 1, window.off}, block, turns);
}

/// Of each block by itself, so that all together are known as well as is promised.
bool GrowingTurns::enough(const TurnMarks& marks, const Agreement& agreed, std::size_t block,
                          std::size_t turns) const {
    if (agreed.turns == 0) return false;
    const std::size_t all = all_.blocks[block].turns;
    const Ticks ends = doubt_of_ends(worth_it_, rules_.jitter);
    const Int128 doubt =
        (doubt_of(marks, agreed, all - turns) + Ticks(ends.value() / static_cast<std::int64_t>(worth_it_)))
            .value();
    const Int128 time = Int128{(marks.back().time - marks.front().time).value()} *
                        static_cast<std::int64_t>(all) / static_cast<std::int64_t>(turns_of(marks));
    return doubt * kInRounds.promise <= time;
}

}  // namespace systole
