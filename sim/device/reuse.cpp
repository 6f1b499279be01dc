// SPDX-License-Identifier: Apache-2.0
#include "sim/device/reuse.h"

#include <algorithm>
#include <utility>

#include "sim/device/growing_turns.h"

namespace systole {
namespace {

/// Turns that are simulated besides those that may stand for the ones left out: the first, and the last two.
constexpr std::size_t kAround = 1 + kLastTurns;
/// In a first run two tell enough where turns differ by refreshes alone; …
constexpr std::size_t kFew = 2;
/// … where they differ by chance, so many mostly tell their mean.
constexpr std::size_t kSample = 8;
/// Turns of blocks take as long that differ by at most one part in so many.
constexpr std::int64_t kAlike = 8;
/// If those have not agreed, at least so many.
constexpr std::size_t kThen = kAround + 6;
/// Where more are wanted, so many: enough to see whether they go in rounds, and most of what samples want.
constexpr std::size_t kThenAtMost = kAround + 2 * kLongestRound;

/// Asked when so many marks are met: with how many turns of each block the run goes on, if not as it is.
using OtherTurns = std::function<std::optional<TurnsLeft>(const std::vector<Mark>& met, bool alike)>;
/// As RunTurns; the marks are those of the turns with which it went on last.
using RunAttempt = std::function<std::optional<MarkedRun>(
    const std::vector<std::size_t>& turns, const std::vector<std::size_t>& marks, const OtherTurns& other)>;

/// Runs that do not ask.
RunAttempt attempts_of(const RunTurns& run) {
    return [&run](const auto& left, const auto& marks, const OtherTurns&) { return run(left, marks); };
}

class Reuse {
public:
    Reuse(const EqualTurns& all, RunAttempt run, const ReuseRules& rules)
        : all_(all), run_(std::move(run)), rules_(rules), judge_(all, rules.rule) {}

    std::optional<DeviceResult> result() const {
        std::optional<Attempt> first = first_attempt();
        return first ? result_of(*std::move(first)) : std::nullopt;
    }

    /// The same by another rule if the first few turns do not agree.
    std::optional<Reused> result_or(const TurnRule& otherwise) const {
        std::optional<Attempt> first = first_attempt();
        if (!first) return std::nullopt;
        const bool agreed = judge_.long_enough(*first) && judge_.agree(*first);
        const Reuse other(all_, run_, {rules_.most_layers, otherwise, rules_.at_first});
        std::optional<DeviceResult> result =
            agreed ? judge_.lengthen(*first) : other.result_of(other.judge_.judged_anew(*std::move(first)));
        if (!result) return std::nullopt;
        return Reused{*std::move(result), agreed ? rules_.rule : otherwise};
    }

    /// The same where a run can get more turns on the way.
    std::optional<DeviceResult> result_growing(const GrowingRules& rules, const RunGrowing& run) const {
        if (!judge_.worth_it()) return std::nullopt;
        if (rules.few_agree) {
            std::optional<Attempt> few = attempt(turns_at_first(), Looks::No);
            if (!few || !judge_.long_enough(*few)) return std::nullopt;
            if (judge_.agree(*few)) return judge_.lengthen(*few);
        }
        GrowingTurns growing(all_, rules);
        std::optional<MarkedRun> marked = run(growing.left(), [&growing](const auto& met, const auto& begun) {
            return growing.look(met, begun);
        });
        if (!marked) return std::nullopt;
        Attempt grown = judge_.judged(growing.left(), *std::move(marked));
        return judge_.agree(grown) ? judge_.lengthen(grown) : std::nullopt;
    }

private:
    std::optional<Attempt> first_attempt() const {
        return judge_.worth_it() ? attempt(turns_at_first(), Looks::Yes) : std::nullopt;
    }

    /// By as many runs more as it takes.
    std::optional<DeviceResult> result_of(Attempt first) const {
        if (!judge_.long_enough(first)) return std::nullopt;
        std::optional<Attempt> last = std::move(first);
        for (std::vector<std::size_t> spent = last->turns; !judge_.agree(*last);) {
            const auto turns = turns_then(*last, spent);
            if (!turns || !(last = attempt(*turns, Looks::No))) return std::nullopt;
            for (std::size_t b = 0; b < spent.size(); ++b) spent[b] += last->turns[b];
        }
        return judge_.lengthen(*last);
    }

    bool by_chance() const { return rules_.rule.differ == TurnsDiffer::ByChance; }

    std::vector<std::size_t> turns_at_first() const {
        const std::size_t at_first = kAround + rules_.at_first.value_or(by_chance() ? kSample : kFew);
        std::vector<std::size_t> turns;
        for (const EqualTurns::Block& block : all_.blocks)
            turns.push_back(block.worth_it() ? at_first : block.turns);
        return turns;
    }

    /// As many as the last attempt asks for; nothing if it asks for no more than it had, or if all are as
    /// cheap, `spent` included. What the first few ask for is not trusted: they may not have settled yet.
    std::optional<std::vector<std::size_t>> turns_then(const Attempt& last,
                                                       const std::vector<std::size_t>& spent) const {
        std::vector<std::size_t> turns = last.turns;
        const std::vector<std::size_t> all_wanted = turns_wanted_of(last);
        for (std::size_t b = 0; b < turns.size(); ++b) {
            if (!all_.blocks[b].worth_it()) continue;
            const std::size_t wanted = all_wanted[b];
            const bool cheap = wanted + spent[b] < all_.blocks[b].turns;
            const bool later = wanted + spent[b] + kThenAtMost < all_.blocks[b].turns;
            const std::size_t short_ones = by_chance() ? 0 : of_short_turns(last.marks[b], last.run.jitter);
            if (last.turns[b] < kThen && short_ones > kThenAtMost &&
                short_ones + spent[b] < all_.blocks[b].turns)
                turns[b] = short_ones;
            else if (last.turns[b] < kThen)
                turns[b] = std::max(kThen, later ? std::min(wanted, kThenAtMost) : cheap ? wanted : kThen);
            else if (cheap)
                turns[b] = std::max(wanted, last.turns[b]);
            else if (last.agreed[b].turns == 0)
                return std::nullopt;
        }
        if (turns == last.turns || layers_left(turns) > rules_.most_layers) return std::nullopt;
        return turns;
    }

    /// By block: as many as do not agree yet ask for, and as many of all others whose turns take as long;
    /// none of others still. With more turns of one block another's meet refreshes elsewhere, and may not
    /// agree then.
    std::vector<std::size_t> turns_wanted_of(const Attempt& last) const {
        std::vector<std::size_t> wanted(last.turns.size());
        const auto time = [&](std::size_t b) {
            return last.marks[b].back().time - last.marks[b].front().time;
        };
        const auto mean = [&](std::size_t b) {
            return time(b).value() / static_cast<std::int64_t>(turns_of(last.marks[b]));
        };
        for (std::size_t b = 0; b < wanted.size(); ++b) {
            if (!all_.blocks[b].worth_it() || last.agreed[b].turns > 0) continue;
            const std::size_t own =
                kAround + turns_wanted(last.run.checked.result, last.marks[b], last.run.jitter, rules_.rule);
            for (std::size_t other = 0; other < wanted.size(); ++other)
                if (all_.blocks[other].worth_it() && std::abs(mean(other) - mean(b)) <= mean(b) / kAlike)
                    wanted[other] = std::max(wanted[other], own);
        }
        return wanted;
    }

    /// Turns so short that more would be wanted than there are in a first look mostly differ by a refresh,
    /// too: as many as agree then, so that these are not sought attempt by attempt. Of several blocks each
    /// has to agree: as many as do if turns differ by two.
    std::size_t of_short_turns(const TurnMarks& marks, Ticks jitter) const {
        // What is seen is held to half of what a refresh is that nobody saw.
        const std::size_t seen_over_unseen = judge_.only_one() ? 2 : 4;
        const std::size_t unseen = turns_wanted_unseen(marks, jitter);
        return kAround + unseen > kThenAtMost ? kAround + seen_over_unseen * unseen : 0;
    }

    /// With so many turns of each block.
    std::size_t layers_left(const std::vector<std::size_t>& turns) const {
        std::size_t layers = all_.names.size();
        for (std::size_t b = 0; b < turns.size(); ++b)
            layers -= (all_.blocks[b].turns - turns[b]) * all_.blocks[b].layers;
        return layers;
    }

    /// Whether a sample is looked at while it grows: what sufficed by time alone may be too small all the
    /// same.
    enum class Looks { No, Yes };

    std::optional<Attempt> attempt(std::vector<std::size_t> turns, Looks looks) const {
        TurnsLeft left = with_turns(all_, std::move(turns));
        std::optional<MarkedRun> run = run_(left.turns, left.marks, other_turns(left.turns, looks));
        if (!run) return std::nullopt;
        if (run->marks.size() != left.marks.size()) {
            left.turns[judge_.only_one().value()] = run->marks.size() + kLastTurns;
            left = with_turns(all_, std::move(left.turns));
        }
        if (!run->alike && left.turns != all_turns()) return std::nullopt;
        return judge_.judged(left, std::move(*run));
    }

    std::vector<std::size_t> all_turns() const {
        std::vector<std::size_t> turns;
        for (const EqualTurns::Block& block : all_.blocks) turns.push_back(block.turns);
        return turns;
    }

    /// Of so many, as soon as they tell the mean; if all that are marked do not, as many as would; all if
    /// they may stand for no others.
    OtherTurns other_turns(const std::vector<std::size_t>& turns, Looks looks) const {
        const auto block = judge_.only_one();
        if (!by_chance() || looks == Looks::No || !block)
            return [](const std::vector<Mark>&, bool) { return std::nullopt; };
        return [this, left = turns, block](const std::vector<Mark>& met,
                                           bool alike) mutable -> std::optional<TurnsLeft> {
            const std::size_t met_and_last = met.size() + kLastTurns, before = left[*block];
            if (!alike)
                left[*block] = all_.blocks[*block].turns;
            else if (sample_suffices(met, rules_.rule))
                left[*block] = met_and_last;
            else if (met_and_last == before)
                left[*block] =
                    std::clamp(kAround + sample_wanted(met, rules_.rule), before, all_.blocks[*block].turns);
            return left[*block] == before ? std::nullopt : std::optional(with_turns(all_, left));
        };
    }

    const EqualTurns& all_;
    const RunAttempt run_;
    const ReuseRules rules_;
    const AttemptJudge judge_;
};

RunTurns runs_of(const Graph& graph, const RunShorter& run) {
    return [&](const std::vector<std::size_t>& turns, const std::vector<std::size_t>& marks) {
        return run(shorten(graph, turns), marks);
    };
}

}  // namespace

bool may_reuse(const Graph& graph) {
    return std::ranges::any_of(turns_of(graph).blocks, &EqualTurns::Block::worth_it);
}

std::optional<DeviceResult> run_reusing(const EqualTurns& turns, const RunTurns& run,
                                        const ReuseRules& rules) {
    return Reuse(turns, attempts_of(run), rules).result();
}

std::optional<DeviceResult> run_growing(const EqualTurns& turns, const RunTurns& at_first,
                                        const GrowingRules& rules, const RunGrowing& run) {
    return Reuse(turns, attempts_of(at_first), {}).result_growing(rules, run);
}

std::optional<DeviceResult> run_reusing(const Graph& graph, const RunShorter& run, const ReuseRules& rules) {
    return run_reusing(turns_of(graph), runs_of(graph, run), rules);
}

std::optional<Reused> run_reusing_or(const Graph& graph, const RunShorter& run, const ReuseRules& rules,
                                     const TurnRule& otherwise) {
    const EqualTurns turns = turns_of(graph);
    const RunTurns run_turns = runs_of(graph, run);
    return Reuse(turns, attempts_of(run_turns), rules).result_or(otherwise);
}

std::optional<DeviceResult> run_sampling(const Graph& graph, const std::vector<std::size_t>& joined,
                                         const RunSample& run, const TurnRule& rule) {
    const RunAttempt attempt = [&](const std::vector<std::size_t>& turns,
                                   const std::vector<std::size_t>& marks, const OtherTurns& other) {
        const GoOnWith go_on_with = [&](const std::vector<Mark>& met, bool alike) -> std::optional<GoOn> {
            const auto left = other(met, alike);
            return left ? std::optional(GoOn{shorten(graph, left->turns), left->marks}) : std::nullopt;
        };
        return run(shorten(graph, turns), marks, go_on_with);
    };
    return Reuse(turns_of(graph, joined), attempt, {.rule = rule}).result();
}

}  // namespace systole
