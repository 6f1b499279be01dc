// SPDX-License-Identifier: Apache-2.0
#include "sim/account/turn_agreement.h"

#include <catch2/catch.hpp>
#include <functional>
#include <vector>

namespace systole {
namespace {

/// A run of turns whose layers take so long, and the marks between them.
struct Turns {
    DeviceResult result;
    TurnMarks marks;

    explicit Turns(const std::vector<std::vector<std::int64_t>>& layers_of_turns) {
        Ticks now;
        mark(now);
        for (const std::vector<std::int64_t>& layers : layers_of_turns) {
            for (const std::int64_t time : layers) {
                ResultRow& row = result.layers.emplace_back();
                row.op = "matmul";
                row.begin = now;
                row.end = now += Ticks(time);
                row.macs = row.matrix_macs = Macs(7);
                row.lane_cycles = 3;
                row.movements = {{Place::Dram, Place::Scratchpad, Operand::Weights, Bytes(64)},
                                 {Place::Scratchpad, Place::WeightFifo, Operand::Weights, Bytes(64)}};
                row.dram_read = Bytes(1000);
            }
            mark(now);
        }
    }

private:
    void mark(Ticks now) {
        Mark& mark = marks.emplace_back();
        mark.layers = result.layers.size();
        mark.time = now;
    }
};

/// Turns of one layer each.
Turns of(const std::vector<std::int64_t>& times) {
    std::vector<std::vector<std::int64_t>> layers;
    for (const std::int64_t time : times) layers.push_back({time});
    return Turns(layers);
}

std::size_t agreed(const Turns& turns, std::int64_t jitter = 0, const TurnRule& rule = kInRounds) {
    return turns_that_agree(turns.result, turns.marks, Ticks(jitter), rule);
}

/// 997 and 1003, in turn: of n even, the mean is 1000 and the variance 9n/(n - 1).
std::vector<std::int64_t> to_and_fro(std::size_t turns) {
    std::vector<std::int64_t> times;
    for (std::size_t i = 0; i < turns; ++i) times.push_back(i % 2 == 0 ? 997 : 1003);
    return times;
}

}  // namespace

TEST_CASE("turns that do the same in the same time all stand for those left out, and one alone does not") {
    CHECK(agreed(of({1000})) == 0);
    CHECK(agreed(of({1000, 1000})) == 2);
    CHECK(agreed(of({1000, 1000, 1000, 1000})) == 4);
}

TEST_CASE("a refresh is at most a thousandth of the turns that stand for others") {
    CHECK(agreed(of({1000, 1000}), 2) == 2);
    CHECK(agreed(of({1000, 1000}), 3) == 0);
    CHECK(agreed(of({1000, 1000, 1000}), 3) == 3);
    CHECK(agreed(of({1000, 1000, 1000}), 4) == 0);
}

TEST_CASE("the times of turns differ by a 2000th of their mean for each of them") {
    // The mean is 20,000: 10 for each of two turns.
    CHECK(agreed(of({19'990, 20'010})) == 2);
    CHECK(agreed(of({20'010, 19'990})) == 2);
    CHECK(agreed(of({19'989, 20'011})) == 0);
    // Three may differ by 30.
    CHECK(agreed(of({20'000, 19'985, 20'015})) == 3);
    CHECK(agreed(of({20'000, 19'984, 20'016})) == 0);
}

TEST_CASE("neighbouring layers may trade a 200th of the last turn, and two refreshes") {
    const auto traded = [](std::int64_t by) {
        return Turns(std::vector<std::vector<std::int64_t>>{{500 + by, 500 - by}, {500, 500}});
    };
    CHECK(agreed(traded(5)) == 2);
    CHECK(agreed(traded(6)) == 0);
    CHECK(agreed(traded(-5)) == 2);
    CHECK(agreed(traded(-6)) == 0);
    CHECK(agreed(traded(7), 1) == 2);
    CHECK(agreed(traded(8), 1) == 0);
}

TEST_CASE("each layer of a turn does what it does in the last turn") {
    const std::vector<std::function<void(ResultRow&)>> changes{
        [](ResultRow& row) { row.op = "conv2d"; },
        [](ResultRow& row) { row.macs += Macs(1); },
        [](ResultRow& row) { row.matrix_macs += Macs(1); },
        [](ResultRow& row) { ++row.lane_cycles; },
        [](ResultRow& row) { row.movements[0].bytes += Bytes(1); },
        [](ResultRow& row) { row.movements[0].from = Place::Host; },
        [](ResultRow& row) { row.movements[1].to = Place::Accumulator; },
        [](ResultRow& row) { row.movements[1].operand = Operand::Activations; },
        [](ResultRow& row) { row.movements.pop_back(); },
    };
    for (std::size_t i = 0; i < changes.size(); ++i) {
        INFO("change " << i);
        Turns turns(std::vector<std::vector<std::int64_t>>(5, {600, 400}));
        changes[i](turns.result.layers[3]);  // the second layer of the second turn of five
        CHECK(agreed(turns) == 3);
    }
}

TEST_CASE("of turns that agree the last half at least counts, as far as it tells better what one takes") {
    // One that had not settled.
    CHECK(agreed(of({10'004, 10'000, 10'000, 10'000, 10'000, 10'000})) == 5);
    CHECK(agreed(of({10'003, 10'000, 10'000})) == 2);
    // Each that is left out narrows the rest.
    CHECK(agreed(of({10'008, 10'006, 10'004, 10'002, 10'000, 10'000})) == 3);
    CHECK(agreed(of({10'010, 10'008, 10'006, 10'004, 10'002, 10'000, 10'000})) == 4);
    // Fewer of the same spread tell less.
    CHECK(agreed(of({10'000, 10'004, 10'000, 10'004})) == 4);
}

TEST_CASE("turns that differ by chance are a sample of four at least") {
    CHECK(agreed(of(std::vector<std::int64_t>(3, 1000)), 0, kByChance) == 0);
    CHECK(agreed(of(std::vector<std::int64_t>(4, 1000)), 0, kByChance) == 4);
    CHECK(agreed(of(std::vector<std::int64_t>(7, 1000)), 0, kByChance) == 7);
}

// Quantiles of Student's t by integration of its density: t(3) 4.3749, t(5) 3.2740, t(7) 2.9276, t(14) 2.573,
// t(15) 2.5522, t(16) 2.5341.
TEST_CASE("a sample tells the mean within a 500th in 19 of 20 cases, looked at three times") {
    // Of eight, the deviation is sqrt(72 / 7) / 1000 * 500 = 1.604 of what is allowed: 16 turns would be
    // known to 2.5522 * 1.604 / 4 = 1.023 of it, 17 to 2.5341 * 1.604 / sqrt(17) = 0.986. Of eighteen it
    // is 1.543.
    CHECK(agreed(of(to_and_fro(8)), 1, kByChance) == 0);
    CHECK(agreed(of(to_and_fro(18)), 1, kByChance) == 18);
    const Turns eight = of(to_and_fro(8)), eighteen = of(to_and_fro(18));
    CHECK(turns_wanted(eight.result, eight.marks, Ticks(1), kByChance) == 17);
    CHECK(turns_wanted(eighteen.result, eighteen.marks, Ticks(1), kByChance) == 16);
}

TEST_CASE("a sample that grows is looked at when there are four turns, six and eight") {
    for (const std::size_t turns : {1, 2, 3, 5, 7, 9, 18})
        CHECK_FALSE(sample_suffices(of(std::vector<std::int64_t>(turns, 1000)).marks));
    for (const std::size_t turns : {4, 6, 8})
        CHECK(sample_suffices(of(std::vector<std::int64_t>(turns, 1000)).marks));
    // Apart by 2d, n turns by turns deviate by d sqrt(n / (n - 1)): four are known to 4.3749 d / sqrt(3)
    // = 2.526 d, six to 3.2740 d / sqrt(5) = 1.464 d, eight to 2.9276 d / sqrt(7) = 1.107 d, of 200 in
    // 100,000.
    const auto suffices = [](std::size_t turns, std::int64_t apart) {
        std::vector<std::int64_t> times;
        for (std::size_t i = 0; i < turns; ++i) times.push_back(100'000 + (i % 2 == 0 ? apart : -apart));
        return sample_suffices(of(times).marks);
    };
    CHECK(suffices(4, 79));
    CHECK_FALSE(suffices(4, 80));
    CHECK(suffices(6, 136));
    CHECK_FALSE(suffices(6, 137));
    CHECK(suffices(8, 180));
    CHECK_FALSE(suffices(8, 181));
    CHECK_FALSE(sample_suffices({}));
    // The same of clocks in which the memory's buses carry something, where turns take the same time.
    const auto carries = [](std::int64_t apart) {
        TurnMarks marks = of(std::vector<std::int64_t>(4, 100'000)).marks;
        std::int64_t clocks = 0;
        for (std::size_t i = 0; i < marks.size(); ++i) {
            marks[i].memory_bus = {{"refresh", 7}, {"transfer", clocks}};
            clocks += 100'000 + (i % 2 == 0 ? apart : -apart);
        }
        return sample_suffices(marks);
    };
    CHECK(carries(79));
    CHECK_FALSE(carries(80));
}

TEST_CASE("a rough sample tells the mean within a 100th, and layers may trade a tenth of a turn") {
    // Four turns, apart by 2d by turns, are known to 4.3749 d / sqrt(3) = 2.526 d, of 1,000 in 100,000.
    const auto by_turns = [](std::int64_t d) {
        return of({100'000 - d, 100'000 + d, 100'000 - d, 100'000 + d});
    };
    CHECK(agreed(by_turns(395), 0, kRoughly) == 4);
    CHECK(agreed(by_turns(396), 0, kRoughly) == 0);
    CHECK(sample_suffices(by_turns(395).marks, kRoughly));
    CHECK_FALSE(sample_suffices(by_turns(396).marks, kRoughly));
    const Turns apart = by_turns(396);
    CHECK(sample_wanted(apart.marks, kRoughly) == 5);
    CHECK(sample_wanted(apart.marks) > 20);
    const auto trading = [](std::int64_t more) {
        return Turns({{500, 500}, {500 + more, 500 - more}, {500, 500}, {500, 500}, {500, 500}});
    };
    CHECK(agreed(trading(100), 0, kRoughly) == 5);
    CHECK(agreed(trading(101), 0, kRoughly) == 0);
    CHECK(agreed(trading(6), 0, kByChance) == 0);
}

TEST_CASE("the bytes of the memory are a sample, too, read and written together") {
    Turns turns = of(std::vector<std::int64_t>(8, 1000));
    const std::vector<std::int64_t> bytes = to_and_fro(8);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        turns.result.layers[i].dram_read = Bytes(400);
        turns.result.layers[i].dram_written = Bytes(bytes[i] - 400);
    }
    CHECK(turns_wanted(turns.result, turns.marks, Ticks(0), kByChance) == 17);
    CHECK(agreed(turns, 0, kByChance) == 0);
}

TEST_CASE("what chance decides on need not agree layer by layer, all other bytes do") {
    Turns turns = of(std::vector<std::int64_t>(6, 1000));
    turns.result.layers[2].movements[0].bytes += Bytes(64);
    turns.result.layers[3].movements.push_back(
        {Place::Scratchpad, Place::MemorySideCache, Operand::Outputs, Bytes(9)});
    CHECK(agreed(turns, 0, kByChance) == 6);
    CHECK(agreed(turns) == 2);
    turns.result.layers[2].movements[1].bytes += Bytes(1);
    CHECK(agreed(turns, 0, kByChance) == 0);
}

TEST_CASE("of two turns that differ too much so many would be needed") {
    const Turns turns = of({19'989, 20'011});  // 22 / 20,000 * 2000 = 2.2
    CHECK(turns_wanted(turns.result, turns.marks, Ticks(0)) == 3);
    const Turns hardly_more = of({460, 463});  // 3 / 461.5 * 2000 = 13.001
    CHECK(turns_wanted(hardly_more.result, hardly_more.marks, Ticks(0)) == 14);
    const Turns alike = of({1000, 1000});
    CHECK(turns_wanted(alike.result, alike.marks, Ticks(7)) == 7);
    CHECK(turns_wanted(alike.result, alike.marks, Ticks(0)) == 2);
    const Turns nothing = of({0, 0});
    CHECK(turns_wanted(nothing.result, nothing.marks, Ticks(5)) == 2);
}

TEST_CASE("turns that do not agree one by one agree in the shortest rounds that do") {
    const auto found = [](const std::vector<std::int64_t>& times, const TurnRule& rule = kInRounds) {
        const Turns turns = of(times);
        const Agreement agreed = agreement(turns.result, turns.marks, Ticks(0), rule);
        return std::pair(agreed.turns, agreed.round);
    };
    using Found = std::pair<std::size_t, std::size_t>;
    // A layer may differ by 1/200 of a turn, turns by 2/2000 of two, so single ones do not agree here.
    CHECK(found({10'000, 10'040, 10'000, 10'040, 10'000, 10'040}) == Found(6, 2));
    CHECK(found({10'000, 10'040, 10'000, 10'040, 10'000}) == Found(4, 2));
    CHECK(found({10'040, 10'000, 9'960, 10'040, 10'000, 9'960}) == Found(6, 3));
    CHECK(found({10'040, 10'000, 10'040, 9'900, 10'040, 10'000, 10'040, 9'900}) == Found(8, 4));
    CHECK(found({10'000, 10'000, 10'000, 10'000}) == Found(4, 1));
    // Three in a row agree, but four a round tell of all.
    CHECK(found({10'400, 10'000, 10'000, 10'000, 10'400, 10'000, 10'000, 10'000}) == Found(8, 4));
    // One round says nothing of the next; nor do rounds of five count, or those of a sample.
    CHECK(found({10'000, 10'040}) == Found(0, 1));
    CHECK(found({10'040, 10'000, 10'000, 10'000, 10'000, 10'040, 10'000, 10'000, 10'000, 10'000}).second !=
          5);
    CHECK(found({10'000, 10'400, 10'000, 10'400, 10'000, 10'400}, kByChance) == Found(0, 1));
}

TEST_CASE("layers of a round are held to those of the next, not to those of the next turn") {
    // Every other turn has a layer that takes a tenth longer.
    const auto found = [](std::int64_t last) {
        const Turns turns({{500, 500}, {550, 500}, {500, 500}, {550, last}});
        return agreement(turns.result, turns.marks, Ticks(0)).turns;
    };
    CHECK(found(500) == 4);
    CHECK(found(511) == 0);
}

TEST_CASE("rounds left out are as uncertain as those that stand for them are apart, one begun counts whole") {
    const Turns turns = of({9000, 1000, 2000, 1010, 2010});
    CHECK(uncertainty(turns.marks, {4, 2}, 10) == Ticks(50));  // 20 of two, five times
    CHECK(uncertainty(turns.marks, {4, 2}, 11) == Ticks(60));
}

TEST_CASE("as many turns are wanted as the rounds want that want the fewest") {
    // Turn by turn 4/1000 * 2000 = 8; rounds of two that agree, two: four turns.
    const Turns turns = of({998, 1002, 998, 1002, 998, 1002});
    CHECK(turns_wanted(turns.result, turns.marks, Ticks(0)) == 4);
    CHECK(turns_wanted(turns.result, turns.marks, Ticks(0), kByChance) > 4);
}

TEST_CASE("what turns do not show, a refresh more or less, asks for so many of them") {
    // 16 of 2000 a turn, by what one in 1000 may be: eight; whatever these turns differ by.
    CHECK(turns_wanted_unseen(of({1990, 2010}).marks, Ticks(16)) == 8);
    CHECK(turns_wanted_unseen(of({1990, 2010}).marks, Ticks(17)) == 9);
    CHECK(turns_wanted_unseen(of({1990, 2010, 2000}).marks, Ticks(0)) == 2);
    CHECK(turns_wanted_unseen(of({0, 0}).marks, Ticks(5)) == 2);
}

TEST_CASE("turns left out are as uncertain as those that stand for them are apart") {
    const Turns turns = of({20'000, 10'000, 10'010});
    CHECK(uncertainty(turns.marks, {2}, 100) == Ticks(500));   // 10 of two
    CHECK(uncertainty(turns.marks, {3}, 9) == Ticks(30'000));  // 10,000 of three
}

TEST_CASE("by chance turns left out are as uncertain as a sum of them and as the mean that stands for them") {
    // The deviation of four is sqrt(4 / 3); of five left out 4.3749 * sqrt(5 * 5 / 4 + 5) * 1.1547 = 16.9.
    const Turns turns = of({500, 999, 1001, 999, 1001});
    CHECK(uncertainty(turns.marks, {4}, 5, kByChance) == Ticks(16));
    CHECK(uncertainty(turns.marks, {1}, 5, kByChance) == Ticks(0));
}

TEST_CASE("turns that differ by refreshes agree as a window, if in all of it each does what the last does") {
    // Of 9,000, held up for 260 whenever a refresh falls due, every 3,900.
    const Refreshes refreshes{Ticks(260), Ticks(3900), Ticks(3900)};
    std::vector<std::int64_t> times;
    std::int64_t now = 0, due = 3900;
    Agreement agreed;
    while (agreed.turns == 0 && times.size() < 40) {
        const std::int64_t begin = now;
        for (now += 9000; due <= now; due += 3900) now += 260;
        times.push_back(now - begin);
        const Turns turns = of(times);
        CHECK(agreement(turns.result, turns.marks, Ticks(260)).turns == 0);
        agreed = agreement(turns.result, turns.marks, Ticks(260), kInRounds, refreshes);
    }
    REQUIRE(agreed.turns > 0);
    REQUIRE(agreed.off);
    CHECK(agreed.round == 1);
    Turns turns = of(times);
    CHECK(uncertainty(turns.marks, agreed, 3 * agreed.turns) == 3 * *agreed.off);
    turns.result.layers[times.size() - agreed.turns].macs += Macs(1);
    CHECK(agreement(turns.result, turns.marks, Ticks(260), kInRounds, refreshes).turns == 0);
}

TEST_CASE("while turns are simulated, half of them have to agree, and three rounds or eight") {
    const auto by_time = [](const std::vector<std::int64_t>& times, std::int64_t jitter = 0) {
        return agreement_by_time(of(times).marks, Ticks(jitter)).turns;
    };
    CHECK(by_time({1000, 1000}) == 2);
    CHECK(by_time({1300, 1100, 1000, 1000}) == 2);
    // Of five the last two are alike, perhaps by chance.
    const std::vector<std::int64_t> two_of_five{1700, 1300, 1100, 1000, 1000};
    CHECK(by_time(two_of_five) == 0);
    CHECK(turns_that_agree(of(two_of_five).result, of(two_of_five).marks, Ticks(0)) == 2);
    // Rounds of two.
    const auto by_turns = [](std::size_t turns) {
        std::vector<std::int64_t> times;
        for (std::size_t i = 0; i < turns; ++i) times.push_back(i % 2 == 0 ? 1000 : 1300);
        return times;
    };
    CHECK(by_time(by_turns(4)) == 0);
    CHECK(by_time(by_turns(6)) == 6);
    // A refresh of more than a thousandth of two rounds.
    CHECK(by_time(by_turns(6), 2) == 6);
    CHECK(by_time(by_turns(14), 5) == 0);
    CHECK(by_time(by_turns(16), 5) == 16);
}

}  // namespace systole
