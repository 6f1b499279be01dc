// SPDX-License-Identifier: Apache-2.0
#include "sim/device/turn_attempt.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "sim/base/check.h"
#include "sim/base/checked.h"
#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/workload/shorter_graph.h"

namespace systole {
namespace {

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

}  // namespace

std::size_t AttemptJudge::blocks_worth_it() const {
    return static_cast<std::size_t>(std::ranges::count_if(all_.blocks, &EqualTurns::Block::worth_it));
}

bool AttemptJudge::worth_it() const {
    return blocks_worth_it() > 0;
}

std::optional<std::size_t> AttemptJudge::only_one() const {
    if (blocks_worth_it() != 1) return std::nullopt;
    return static_cast<std::size_t>(std::ranges::find_if(all_.blocks, &EqualTurns::Block::worth_it) -
                                    all_.blocks.begin());
}

Attempt AttemptJudge::judged(const TurnsLeft& left, MarkedRun run) const {
    Attempt attempt{left.turns, std::move(run), {}, {}};
    attempt.marks = by_block(left.marked, attempt.run.marks);
    for (std::size_t b = 0; b < attempt.turns.size(); ++b)
        attempt.agreed.push_back(all_.blocks[b].worth_it()
                                     ? agreement(attempt.run.checked.result, attempt.marks[b],
                                                 attempt.run.jitter, rule_, attempt.run.refreshes,
                                                 blocks_worth_it())
                                     : Agreement{});
    return attempt;
}

Attempt AttemptJudge::judged_anew(Attempt attempt) const {
    const TurnsLeft left = with_turns(all_, std::move(attempt.turns));
    return judged(left, std::move(attempt.run));
}

bool AttemptJudge::agree(const Attempt& attempt) const {
    for (std::size_t b = 0; b < all_.blocks.size(); ++b)
        if (left_out(attempt, b) > 0 && (attempt.agreed[b].turns == 0 || !borne_out(attempt, b)))
            return false;
    return sure_enough(attempt);
}

/// The turn behind those that are left out takes as long as those that agreed, but for a refresh at
/// either of its ends: two turns may be alike by chance. Where turns go in rounds, or differ by chance,
/// one turn tells nothing.
bool AttemptJudge::borne_out(const Attempt& attempt, std::size_t block) const {
    const Agreement& agreed = attempt.agreed[block];
    if (rule_.differ == TurnsDiffer::ByChance || agreed.round > 1) return true;
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
    const Ticks room = 2 * attempt.run.jitter + Ticks(most.value() / rule_.promise);
    return least - room <= time && time <= most + room;
}

std::size_t AttemptJudge::left_out(const Attempt& attempt, std::size_t block) const {
    return all_.blocks[block].turns - attempt.turns[block];
}

/// About what all turns would take, those left out like the marked ones.
Ticks AttemptJudge::time_of_all(const Attempt& attempt) const {
    Int128 all = attempt.run.checked.result.total.time().value();
    for (std::size_t b = 0; b < all_.blocks.size(); ++b) {
        const TurnMarks& marks = attempt.marks[b];
        if (marks.size() < 2) continue;
        all += Int128{(marks.back().time - marks.front().time).value()} *
               static_cast<std::int64_t>(left_out(attempt, b)) / static_cast<std::int64_t>(turns_of(marks));
    }
    return Ticks(static_cast<std::int64_t>(std::min<Int128>(all, Ticks::max().value())));
}

/// By how much ends of blocks of which turns are left out make it uncertain.
Ticks AttemptJudge::doubt_of_all_ends(const Attempt& attempt) const {
    std::size_t blocks = 0;
    for (std::size_t b = 0; b < all_.blocks.size(); ++b) blocks += left_out(attempt, b) > 0 ? 1 : 0;
    return doubt_of_ends(blocks, attempt.run.jitter);
}

bool AttemptJudge::long_enough(const Attempt& attempt) const {
    return Int128{doubt_of_all_ends(attempt).value()} * rule_.promise <= time_of_all(attempt).value();
}

/// What turns that are left out may differ by, and the last ones for them, and a refresh more or less at
/// either end of what comes behind a block.
Ticks AttemptJudge::doubt_of_all(const Attempt& attempt) const {
    Int128 doubt = doubt_of_all_ends(attempt).value();
    for (std::size_t b = 0; b < all_.blocks.size(); ++b) {
        const std::size_t times = left_out(attempt, b);
        if (times > 0) doubt += doubt_of(attempt.marks[b], attempt.agreed[b], times, rule_).value();
    }
    return Ticks(static_cast<std::int64_t>(std::min<Int128>(doubt, Ticks::max().value())));
}

/// Whether the whole run is known within what is promised.
bool AttemptJudge::sure_enough(const Attempt& attempt) const {
    return Int128{doubt_of_all(attempt).value()} * rule_.promise <= time_of_all(attempt).value();
}

std::optional<DeviceResult> AttemptJudge::lengthen(Attempt& attempt) const {
    const KnownTime known{doubt_of_all(attempt), rule_.differ == TurnsDiffer::ByChance};
    bool taken_over = false;
    for (std::size_t b = all_.blocks.size(); b-- > 0;) {  // from the last on: marks before it stay true
        const std::size_t times = left_out(attempt, b);
        if (times == 0) continue;
        taken_over = true;
        const TurnMarks& all = attempt.marks[b];
        const auto agreed = static_cast<std::ptrdiff_t>(attempt.agreed[b].turns);
        const TurnMarks marks(all.end() - (agreed + 1), all.end());
        refuse_too_long(attempt.run, marks, times);
        repeat_turns(attempt.run.checked, marks, times, names_behind(all_, all_.blocks[b], all, times));
    }
    // Turns that had begun when it was known that they need not come behind those left out now.
    std::vector<ResultRow>& rows = attempt.run.checked.result.layers;
    SYSTOLE_CHECK(rows.size() == all_.names.size(), "{} rows for {} names", rows.size(), all_.names.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].name = all_.names[i];
    if (above_peaks(attempt.run.checked.result, attempt.run.checked.expected)) return std::nullopt;
    check_invariants(attempt.run.checked.result, attempt.run.checked.expected);
    if (taken_over) attempt.run.checked.result.reuse = known;
    return std::move(attempt.run.checked.result);
}

}  // namespace systole
