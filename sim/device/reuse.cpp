// SPDX-License-Identifier: Apache-2.0
#include "sim/device/reuse.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/check.h"
#include "sim/base/checked.h"
#include "sim/base/error.h"
#include "sim/base/text.h"
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

/// The layers of `times` turns behind the marked ones.
std::vector<std::string> names_behind(const EqualTurns& all, const EqualTurns::Block& block,
                                      const TurnMarks& marks, std::size_t times) {
    const auto first =
        all.names.begin() + static_cast<std::ptrdiff_t>(block.first_layer + marks.size() * block.layers);
    return {first, first + static_cast<std::ptrdiff_t>(times * block.layers)};
}

void refuse_too_long(const MarkedRun& run, const TurnMarks& marks, std::size_t times) {
    const std::size_t turns = marks.size() - 1;
    const auto rounds = static_cast<std::int64_t>((times + turns - 1) / turns);
    const auto more = checked_mul((marks.back().time - marks.front().time).value(), rounds);
    const auto all = more ? checked_add(*more, run.checked.result.total.end.value()) : std::nullopt;
    if (!all || *all > run.longest.value())
        throw UserError(
            fmt::format("'{}' takes more than {} of simulated time on this machine; that is more "
                        "than can be accounted for",
                        run.checked.result.trace, format_time(run.longest)));
}

/// A run in which some blocks have lost turns.
struct Attempt {
    std::vector<std::size_t> turns;  // by block
    MarkedRun run;
    std::vector<TurnMarks> marks;   // by block; none of one that has lost none
    std::vector<Agreement> agreed;  // by block: of the marked turns
};

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
        : all_(all), run_(std::move(run)), rules_(rules) {
        for (const EqualTurns::Block& block : all.blocks) worth_it_.push_back(block.worth_it());
    }

    std::optional<DeviceResult> result() {
        if (std::ranges::find(worth_it_, true) == worth_it_.end()) return std::nullopt;
        std::optional<Attempt> first = attempt(turns_at_first(), Looks::Yes);
        return first ? result_of(*std::move(first)) : std::nullopt;
    }

    /// The same by another rule if the first few turns do not agree.
    std::optional<Reused> result_or(const TurnRule& otherwise) {
        if (std::ranges::find(worth_it_, true) == worth_it_.end()) return std::nullopt;
        std::optional<Attempt> first = attempt(turns_at_first(), Looks::Yes);
        if (!first) return std::nullopt;
        std::optional<DeviceResult> result;
        TurnRule rule = rules_.rule;
        if (long_enough(*first) && agree(*first)) {
            result = lengthen(*first);
        } else {
            rule = otherwise;
            Reuse other(all_, run_, {rules_.most_layers, otherwise, rules_.at_first});
            const TurnsLeft left = with_turns(all_, first->turns);
            result = other.result_of(other.judged(left, std::move(first->run)));
        }
        if (!result) return std::nullopt;
        return Reused{*std::move(result), rule};
    }

    /// The same where a run can get more turns on the way.
    std::optional<DeviceResult> result_growing(const GrowingRules& rules, const RunGrowing& run) {
        if (std::ranges::find(worth_it_, true) == worth_it_.end()) return std::nullopt;
        if (rules.few_agree) {
            std::optional<Attempt> few = attempt(turns_at_first(), Looks::No);
            if (!few || !long_enough(*few)) return std::nullopt;
            if (agree(*few)) return lengthen(*few);
        }
        GrowingTurns growing(all_, rules);
        std::optional<MarkedRun> marked = run(growing.left(), [&growing](const auto& met, const auto& begun) {
            return growing.look(met, begun);
        });
        if (!marked) return std::nullopt;
        Attempt grown = judged(growing.left(), *std::move(marked));
        return agree(grown) ? lengthen(grown) : std::nullopt;
    }

private:
    /// By as many runs more as it takes.
    std::optional<DeviceResult> result_of(Attempt first) const {
        if (!long_enough(first)) return std::nullopt;
        std::optional<Attempt> last = std::move(first);
        for (std::vector<std::size_t> spent = last->turns; !agree(*last);) {
            const auto turns = turns_then(*last, spent);
            if (!turns || !(last = attempt(*turns, Looks::No))) return std::nullopt;
            for (std::size_t b = 0; b < spent.size(); ++b) spent[b] += last->turns[b];
        }
        return lengthen(*last);
    }

    bool by_chance() const { return rules_.rule.differ == TurnsDiffer::ByChance; }

    std::vector<std::size_t> turns_at_first() const {
        const std::size_t at_first = kAround + rules_.at_first.value_or(by_chance() ? kSample : kFew);
        std::vector<std::size_t> turns;
        for (std::size_t b = 0; b < worth_it_.size(); ++b)
            turns.push_back(worth_it_[b] ? at_first : all_.blocks[b].turns);
        return turns;
    }

    /// As many as the last attempt asks for; nothing if it asks for no more than it had, or if all are as
    /// cheap, `spent` included. What the first few ask for is not trusted: they may not have settled yet.
    std::optional<std::vector<std::size_t>> turns_then(const Attempt& last,
                                                       const std::vector<std::size_t>& spent) const {
        std::vector<std::size_t> turns = last.turns;
        const std::vector<std::size_t> all_wanted = turns_wanted_of(last);
        for (std::size_t b = 0; b < turns.size(); ++b) {
            if (!worth_it_[b]) continue;
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
            if (!worth_it_[b] || last.agreed[b].turns > 0) continue;
            const std::size_t own =
                kAround + turns_wanted(last.run.checked.result, last.marks[b], last.run.jitter, rules_.rule);
            for (std::size_t other = 0; other < wanted.size(); ++other)
                if (worth_it_[other] && std::abs(mean(other) - mean(b)) <= mean(b) / kAlike)
                    wanted[other] = std::max(wanted[other], own);
        }
        return wanted;
    }

    /// Turns so short that more would be wanted than there are in a first look mostly differ by a refresh,
    /// too: as many as agree then, so that these are not sought attempt by attempt. Of several blocks each
    /// has to agree: as many as do if turns differ by two.
    std::size_t of_short_turns(const TurnMarks& marks, Ticks jitter) const {
        // What is seen is held to half of what a refresh is that nobody saw.
        const std::size_t seen_over_unseen = only_one() ? 2 : 4;
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
            left.turns[only_one().value()] = run->marks.size() + kLastTurns;
            left = with_turns(all_, std::move(left.turns));
        }
        if (!run->alike && left.turns != all_turns()) return std::nullopt;
        return judged(left, std::move(*run));
    }

    std::vector<std::size_t> all_turns() const {
        std::vector<std::size_t> turns;
        for (const EqualTurns::Block& block : all_.blocks) turns.push_back(block.turns);
        return turns;
    }

    Attempt judged(const TurnsLeft& left, MarkedRun run) const {
        Attempt attempt{left.turns, std::move(run), {}, {}};
        attempt.marks = by_block(left.marked, attempt.run.marks);
        for (std::size_t b = 0; b < attempt.turns.size(); ++b)
            attempt.agreed.push_back(
                worth_it_[b] ? agreement(attempt.run.checked.result, attempt.marks[b], attempt.run.jitter,
                                         rules_.rule, attempt.run.refreshes,
                                         static_cast<std::size_t>(std::ranges::count(worth_it_, true)))
                             : Agreement{});
        return attempt;
    }

    /// The block, if it is the only one, of which turns are left out.
    std::optional<std::size_t> only_one() const {
        if (std::ranges::count(worth_it_, true) != 1) return std::nullopt;
        return static_cast<std::size_t>(std::ranges::find(worth_it_, true) - worth_it_.begin());
    }

    /// Of so many, as soon as they tell the mean; if all that are marked do not, as many as would; all if
    /// they may stand for no others.
    OtherTurns other_turns(const std::vector<std::size_t>& turns, Looks looks) const {
        const auto block = only_one();
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

    bool agree(const Attempt& attempt) const {
        for (std::size_t b = 0; b < worth_it_.size(); ++b)
            if (left_out(attempt, b) > 0 && (attempt.agreed[b].turns == 0 || !borne_out(attempt, b)))
                return false;
        return sure_enough(attempt);
    }

    /// The turn behind those that are left out takes as long as those that agreed, but for a refresh at
    /// either of its ends: two turns may be alike by chance. Where turns go in rounds, or differ by chance,
    /// one turn tells nothing.
    bool borne_out(const Attempt& attempt, std::size_t block) const {
        const Agreement& agreed = attempt.agreed[block];
        if (by_chance() || agreed.round > 1) return true;
        const TurnMarks& marks = attempt.marks[block];
        const std::size_t layers = all_.blocks[block].layers;
        const std::size_t behind = attempt.turns[block] - kLastTurns - marks.size();  // turns of no mark
        const std::size_t first = marks.back().layers + behind * layers;
        const std::vector<ResultRow>& rows = attempt.run.checked.result.layers;
        const Ticks time = rows[first + layers - 1].end - rows[first].begin;
        Ticks least = Ticks::max(), most;
        for (std::size_t turn = turns_of(marks) - agreed.turns; turn < turns_of(marks); ++turn) {
            least = std::min(least, time_of(marks, turn));
            most = std::max(most, time_of(marks, turn));
        }
        const Ticks room = 2 * attempt.run.jitter + Ticks(most.value() / rules_.rule.promise);
        return least - room <= time && time <= most + room;
    }

    std::size_t left_out(const Attempt& attempt, std::size_t block) const {
        return all_.blocks[block].turns - attempt.turns[block];
    }

    /// About what all turns would take, those left out like the marked ones.
    Ticks time_of_all(const Attempt& attempt) const {
        Int128 all = attempt.run.checked.result.total.time().value();
        for (std::size_t b = 0; b < worth_it_.size(); ++b) {
            const TurnMarks& marks = attempt.marks[b];
            if (marks.size() < 2) continue;
            all += Int128{(marks.back().time - marks.front().time).value()} *
                   static_cast<std::int64_t>(left_out(attempt, b)) /
                   static_cast<std::int64_t>(turns_of(marks));
        }
        return Ticks(static_cast<std::int64_t>(std::min<Int128>(all, Ticks::max().value())));
    }

    /// By how much ends of blocks of which turns are left out make it uncertain.
    Ticks doubt_of_all_ends(const Attempt& attempt) const {
        std::size_t blocks = 0;
        for (std::size_t b = 0; b < worth_it_.size(); ++b) blocks += left_out(attempt, b) > 0 ? 1 : 0;
        return doubt_of_ends(blocks, attempt.run.jitter);
    }

    /// Nothing that turns tell could make a run known as well as is promised if it is so short.
    bool long_enough(const Attempt& attempt) const {
        return Int128{doubt_of_all_ends(attempt).value()} * rules_.rule.promise <=
               time_of_all(attempt).value();
    }

    /// Whether the whole run is known within what is promised: what turns that are left out may differ by,
    /// and the last ones for them, and a refresh more or less at either end of what comes behind a block.
    bool sure_enough(const Attempt& attempt) const {
        Int128 doubt = doubt_of_all_ends(attempt).value();
        for (std::size_t b = 0; b < worth_it_.size(); ++b) {
            const std::size_t times = left_out(attempt, b);
            if (times > 0) doubt += doubt_of(attempt.marks[b], attempt.agreed[b], times, rules_.rule).value();
        }
        return doubt * rules_.rule.promise <= time_of_all(attempt).value();
    }

    /// The result made as long as that of all turns. Nothing if the last ones of a round that is cut off
    /// would be faster than the device.
    std::optional<DeviceResult> lengthen(Attempt& attempt) const {
        for (std::size_t b = worth_it_.size(); b-- > 0;) {  // from the last on: marks before it stay true
            const std::size_t times = left_out(attempt, b);
            if (times == 0) continue;
            const TurnMarks& all = attempt.marks[b];
            const auto agreed = static_cast<std::ptrdiff_t>(attempt.agreed[b].turns);
            const TurnMarks marks(all.end() - (agreed + 1), all.end());
            refuse_too_long(attempt.run, marks, times);
            repeat_turns(attempt.run.checked, marks, times, names_behind(all_, all_.blocks[b], all, times));
        }
        // Turns that had begun when it was known that they need not come behind those left out now.
        std::vector<ResultRow>& rows = attempt.run.checked.result.layers;
        SYSTOLE_CHECK(rows.size() == all_.names.size(), "{} rows for {} names", rows.size(),
                      all_.names.size());
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i].name = all_.names[i];
        if (above_peaks(attempt.run.checked.result, attempt.run.checked.expected)) return std::nullopt;
        check_invariants(attempt.run.checked.result, attempt.run.checked.expected);
        return std::move(attempt.run.checked.result);
    }

    const EqualTurns& all_;
    const RunAttempt run_;
    const ReuseRules rules_;
    std::vector<bool> worth_it_;  // by block: some of its turns can be left out
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
