// SPDX-License-Identifier: Apache-2.0
#include "sim/account/turn_agreement.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "sim/base/check.h"

namespace systole {
namespace {

/// Of the time that turns left out are given at most one in so many may be wrong: half of what is promised.
constexpr std::int64_t kFineness = 2000;
/// Of the time of turns at most one in so many may be the refreshes by which any such turns may differ.
constexpr std::int64_t kRefreshFineness = 1000;
/// Of fewer rounds nobody knows whether they agree by chance; …
constexpr std::size_t kLeastRounds = 3;
/// … or, where a refresh tells in them, whether turns will not slip by one: those that meet 9.47 refreshes
/// each meet 9 and 10 by turns, and 9 twice after 15 of them.
constexpr std::size_t kLeastShortRounds = 8;
/// Of fewer turns nobody knows how much turns differ.
constexpr std::size_t kLeastSample = 4;
/// So many turns are a sample that is looked at while it grows, …
constexpr std::array<std::size_t, 3> kLooks{kLeastSample, 6, 8};
/// … and each look may be deceived in so many cases, all three together in one of 20 (Pocock 1977, table 1).
constexpr double kDeceived = 0.0221;

Ticks distance(Ticks a, Ticks b) {
    return a < b ? b - a : a - b;
}

/// Where chance decides on what passes the memory, of all else.
bool same_bytes(std::vector<Movement> a, std::vector<Movement> b, TurnsDiffer how) {
    // What a cache in front of the memory gave tells what those before it have found, too.
    const auto below = [](Place place) { return place == Place::Dram || place == Place::MemorySideCache; };
    const auto of_memory = [&](const Movement& m) { return below(m.from) || below(m.to); };
    if (how == TurnsDiffer::ByChance) {
        std::erase_if(a, of_memory);
        std::erase_if(b, of_memory);
    }
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Movement& one, const Movement& other) {
        return one.from == other.from && one.to == other.to && one.operand == other.operand &&
               one.bytes == other.bytes;
    });
}

bool rows_agree(const ResultRow& a, const ResultRow& b, Ticks most, TurnsDiffer how) {
    return a.op == b.op && a.macs == b.macs && a.matrix_macs == b.matrix_macs &&
           a.lane_cycles == b.lane_cycles && same_bytes(a.movements, b.movements, how) &&
           distance(a.time(), b.time()) <= most;
}

/// That the memory moved in a turn.
Bytes memory_bytes(const DeviceResult& result, const TurnMarks& marks, std::size_t turn) {
    Bytes bytes;
    for (std::size_t i = marks[turn].layers; i < marks[turn + 1].layers; ++i)
        bytes += result.layers[i].dram_read + result.layers[i].dram_written;
    return bytes;
}

/// Of several turns the time of the shortest, of the longest, and of all.
struct TurnTimes {
    Ticks least = Ticks::max(), most, sum;
    std::int64_t turns = 0;

    void add(Ticks turn) {
        least = std::min(least, turn);
        most = std::max(most, turn);
        sum += turn;
        ++turns;
    }
    /// How many turns would be enough, where one may have a refresh, of `jitter`, more than the next.
    std::size_t wanted(Ticks jitter) const {
        if (sum == Ticks(0)) return 2;
        const Int128 seen = Int128{(most - least).value()} * kFineness * turns;
        const Int128 unseen = Int128{jitter.value()} * kRefreshFineness * turns;
        const Int128 differing = std::max(seen, unseen);
        return static_cast<std::size_t>(std::max<Int128>(2, (differing + sum.value() - 1) / sum.value()));
    }
};

/// Of the last `count` marked turns.
TurnTimes times_of(const TurnMarks& marks, std::size_t count) {
    TurnTimes times;
    for (std::size_t n = 1; n <= count; ++n) times.add(time_of(marks, turns_of(marks) - n));
    return times;
}

/// Turns as a sample of all.
class Sample {
public:
    void add(std::int64_t value) {
        ++count_;
        const double off = static_cast<double>(value) - mean_;
        mean_ += off / static_cast<double>(count_);
        squares_ += off * (static_cast<double>(value) - mean_);
    }
    double deviation() const {
        return count_ < 2 ? 0 : std::sqrt(squares_ / static_cast<double>(count_ - 1));
    }
    /// How many would tell the mean to one part in `promise`.
    std::size_t wanted(std::int64_t promise) const {
        if (mean_ == 0) return kLeastSample;
        const double share = deviation() / mean_ * static_cast<double>(promise);
        const double normal = doubt(std::numeric_limits<std::int32_t>::max()) * share;
        auto count = std::max(kLeastSample, static_cast<std::size_t>(std::ceil(normal * normal)));
        while (doubt(count) * share > std::sqrt(static_cast<double>(count))) ++count;
        return count;
    }
    /// So many standard errors off may the mean of `count` be; of one nobody knows.
    static double doubt(std::size_t count) {
        if (count < 2) return 0;
        return quantile(complement(boost::math::students_t(static_cast<double>(count - 1)), kDeceived / 2));
    }
    std::size_t count() const { return static_cast<std::size_t>(count_); }

private:
    std::int64_t count_ = 0;
    double mean_ = 0, squares_ = 0;
};

/// Of the last `agreed` turns those at the end, at least half, whose mean is known best: spread over their
/// number. The first ones may still settle, and would stand for turns that have.
std::size_t settled(const TurnMarks& marks, std::size_t agreed) {
    std::size_t best = agreed;
    TurnTimes known = times_of(marks, agreed);
    for (std::size_t n = agreed; n-- > std::max<std::size_t>(2, (agreed + 1) / 2);) {
        const TurnTimes fewer = times_of(marks, n);
        const auto spread = [](const TurnTimes& t) { return Int128{(t.most - t.least).value()}; };
        if (spread(fewer) * known.turns >= spread(known) * fewer.turns) continue;
        best = n;
        known = fewer;
    }
    return best;
}

/// Turns one after the other, from either end, and how many are wanted of what differs like those so far.
class Wanted {
public:
    Wanted(const DeviceResult& result, const TurnMarks& marks, Ticks jitter, const TurnRule& rule)
        : result_(result), marks_(marks), jitter_(jitter), rule_(rule) {}

    std::size_t with(std::size_t turn) {
        const Ticks time = time_of(marks_, turn);
        if (rule_.differ == TurnsDiffer::InRounds) {
            times_.add(time);
            return times_.wanted(jitter_);
        }
        sample_.add(time.value());
        bytes_.add(memory_bytes(result_, marks_, turn).value());
        return std::max(sample_.wanted(rule_.promise), bytes_.wanted(rule_.promise));
    }

private:
    const DeviceResult& result_;
    const TurnMarks& marks_;
    const Ticks jitter_;
    const TurnRule rule_;
    TurnTimes times_;
    Sample sample_, bytes_;
};

/// The marked turns as rounds of so many, as far as they go from the last one back.
TurnMarks rounds_of(const TurnMarks& marks, std::size_t turns) {
    TurnMarks rounds;
    for (std::size_t at = turns_of(marks) % turns; at < marks.size(); at += turns)
        rounds.push_back(marks[at]);
    return rounds;
}

/// Rounds of one turn, and longer ones of which at least two are marked.
std::size_t longest_round(const TurnMarks& marks, const TurnRule& rule) {
    if (rule.differ == TurnsDiffer::ByChance) return 1;
    return std::clamp(turns_of(marks) / 2, std::size_t{1}, kLongestRound);
}

std::size_t rounds_wanted(const DeviceResult& result, const TurnMarks& marks, Ticks jitter,
                          const TurnRule& rule) {
    Wanted wanted(result, marks, jitter, rule);
    std::size_t enough = 0;
    for (std::size_t turn = 0; turn < turns_of(marks); ++turn) enough = wanted.with(turn);
    return enough;
}

/// So many rounds, at least `least` of the last ones, agree in their times, if at least half of all do: of
/// fewer some do by chance, the more often one looks.
std::size_t rounds_alike_in_time(const TurnMarks& rounds, std::size_t least, Ticks jitter) {
    TurnTimes times;
    std::size_t agreed = 0;
    for (std::size_t n = 1; n <= turns_of(rounds); ++n) {
        times.add(time_of(rounds, turns_of(rounds) - n));
        if (n >= least && times.wanted(jitter) <= n) agreed = n;
    }
    return 2 * agreed < turns_of(rounds) ? 0 : settled(rounds, agreed);
}

/// The rounds of which `alike(round)` tells of the most turns.
template <class Alike>
Agreement best_round(std::size_t longest, Alike alike) {
    Agreement best;
    for (std::size_t round = 1; round <= longest; ++round) {
        const std::size_t turns = alike(round) * round;
        if (turns > best.turns) best = {turns, round};
    }
    return best;
}

/// By which layers of a turn may differ from those of another, at most.
Ticks most_apart(const TurnMarks& rounds, std::size_t round, Ticks jitter, const TurnRule& rule) {
    const auto turn = time_of(rounds, turns_of(rounds) - 1).value() / static_cast<std::int64_t>(round);
    return 2 * jitter + Ticks(turn / rule.layers);
}

/// Layer by layer, turn `turn` does what the last one does, in about the same time.
bool like_the_last(const DeviceResult& result, const TurnMarks& marks, std::size_t turn, Ticks most,
                   const TurnRule& rule) {
    const Mark &begin = marks[turn], &last = marks[turns_of(marks) - 1];
    const std::size_t count = marks[1].layers - marks[0].layers;
    SYSTOLE_CHECK(marks[turn + 1].layers == begin.layers + count, "turns of {} and {} layers", count,
                  marks[turn + 1].layers - begin.layers);
    for (std::size_t i = 0; i < count; ++i)
        if (!rows_agree(result.layers[begin.layers + i], result.layers[last.layers + i], most, rule.differ))
            return false;
    return true;
}

/// A window of turns that tells what all take.
Agreement by_refreshes(const DeviceResult& result, const TurnMarks& marks, Ticks jitter,
                       const Refreshes& refreshes, std::size_t blocks) {
    const RefreshWindow window = refresh_window(marks, refreshes, blocks);
    const Ticks most = most_apart(marks, 1, jitter, kInRounds);
    for (std::size_t n = 1; n <= window.turns; ++n)
        if (!like_the_last(result, marks, turns_of(marks) - n, most, kInRounds)) return {};
    return {window.turns, 1, window.off};
}

/// So many rounds, of the last ones, agree as turns have to: layers are held to the time of a turn.
std::size_t rounds_that_agree(const DeviceResult& result, const TurnMarks& marks, std::size_t round,
                              Ticks jitter, const TurnRule& rule) {
    const std::size_t all = turns_of(marks);
    const Ticks most = most_apart(marks, round, jitter, rule);
    Wanted wanted(result, marks, jitter, rule);
    std::size_t agreed = 0;
    for (std::size_t n = 1; n <= all; ++n) {
        if (!like_the_last(result, marks, all - n, most, rule)) break;
        const std::size_t enough = wanted.with(all - n);
        if (n > 1 && enough <= n) agreed = n;
    }
    return rule.differ == TurnsDiffer::InRounds ? settled(marks, agreed) : agreed;
}

}  // namespace

std::size_t turns_that_agree(const DeviceResult& result, const TurnMarks& marks, Ticks jitter,
                             const TurnRule& rule) {
    return rounds_that_agree(result, marks, 1, jitter, rule);
}

std::int64_t carrying(const Mark& mark) {
    const auto transfer = std::ranges::find(mark.memory_bus, "transfer", &BusClocks::owner);
    return transfer == mark.memory_bus.end() ? 0 : transfer->clocks;
}

bool sample_suffices(const TurnMarks& marks, const TurnRule& rule) {
    if (marks.empty() || std::ranges::find(kLooks, turns_of(marks)) == kLooks.end()) return false;
    return sample_wanted(marks, rule) <= turns_of(marks);
}

std::size_t sample_wanted(const TurnMarks& marks, const TurnRule& rule) {
    Sample times, transfers;
    for (std::size_t turn = 0; turn < turns_of(marks); ++turn) {
        times.add(time_of(marks, turn).value());
        transfers.add(carrying(marks[turn + 1]) - carrying(marks[turn]));
    }
    return std::max(times.wanted(rule.promise), transfers.wanted(rule.promise));
}

Agreement agreement(const DeviceResult& result, const TurnMarks& marks, Ticks jitter, const TurnRule& rule,
                    const Refreshes& refreshes, std::size_t blocks) {
    const Agreement rounds = best_round(longest_round(marks, rule), [&](std::size_t round) {
        return rounds_that_agree(result, rounds_of(marks, round), round, jitter, rule);
    });
    if (rounds.turns > 0 || rule.differ == TurnsDiffer::ByChance) return rounds;
    return by_refreshes(result, marks, jitter, refreshes, blocks);
}

Agreement agreement_by_time(const TurnMarks& marks, Ticks jitter) {
    const auto fewest = [&](const TurnMarks& rounds, std::size_t round) -> std::size_t {
        if (round == 1) return 2;
        return time_of(rounds, turns_of(rounds) - 1) < kRefreshFineness * jitter ? kLeastShortRounds
                                                                                 : kLeastRounds;
    };
    return best_round(longest_round(marks, kInRounds), [&](std::size_t round) {
        const TurnMarks rounds = rounds_of(marks, round);
        return rounds_alike_in_time(rounds, fewest(rounds, round), jitter);
    });
}

Ticks uncertainty(const TurnMarks& marks, const Agreement& agreed, std::size_t times, const TurnRule& rule) {
    if (rule.differ == TurnsDiffer::ByChance) {
        Sample sample;
        for (std::size_t n = 1; n <= agreed.turns; ++n)
            sample.add(time_of(marks, turns_of(marks) - n).value());
        // What the sample does not tell of the mean, and what those left out differ from it.
        const auto left_out = static_cast<double>(times);
        const double turns = std::sqrt(left_out * left_out / static_cast<double>(agreed.turns) + left_out);
        return Ticks(static_cast<std::int64_t>(Sample::doubt(sample.count()) * turns * sample.deviation()));
    }
    if (agreed.off)
        return Ticks(
            static_cast<std::int64_t>(Int128{agreed.off->value()} * static_cast<std::int64_t>(times) /
                                      static_cast<std::int64_t>(agreed.turns)));
    const TurnTimes rounds = times_of(rounds_of(marks, agreed.round), agreed.turns / agreed.round);
    const auto left_out = static_cast<std::int64_t>((times + agreed.round - 1) / agreed.round);
    return Ticks(
        static_cast<std::int64_t>(Int128{(rounds.most - rounds.least).value()} * left_out / rounds.turns));
}

std::size_t turns_wanted(const DeviceResult& result, const TurnMarks& marks, Ticks jitter,
                         const TurnRule& rule) {
    std::size_t wanted = rounds_wanted(result, marks, jitter, rule);
    for (std::size_t round = 2; round <= longest_round(marks, rule); ++round)
        wanted = std::min(wanted, round * rounds_wanted(result, rounds_of(marks, round), jitter, rule));
    return wanted;
}

std::size_t turns_wanted_by_time(const TurnMarks& marks, Ticks jitter) {
    std::size_t wanted = std::numeric_limits<std::size_t>::max();
    for (std::size_t round = 1; round <= longest_round(marks, kInRounds); ++round) {
        const TurnMarks rounds = rounds_of(marks, round);
        wanted = std::min(wanted, round * times_of(rounds, turns_of(rounds)).wanted(jitter));
    }
    return wanted;
}

std::size_t turns_wanted_unseen(const TurnMarks& marks, Ticks jitter) {
    TurnTimes mean;
    mean.add(
        Ticks((marks.back().time - marks.front().time).value() / static_cast<std::int64_t>(turns_of(marks))));
    return mean.wanted(jitter);
}

}  // namespace systole
