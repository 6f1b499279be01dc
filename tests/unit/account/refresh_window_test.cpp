// SPDX-License-Identifier: Apache-2.0
// Windows of turns of a make-believe machine: work of some length, held up whenever a refresh falls due.
#include "sim/account/refresh_window.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

namespace systole {
namespace {

constexpr Refreshes kRefreshes{Ticks(260), Ticks(3900), Ticks(3900)};

/// Ends of turns, each of so much work; each refresh costs so much.
class Machine {
public:
    explicit Machine(std::int64_t cost, std::int64_t start = 0) : cost_(cost), now_(start) {}

    Ticks now() const { return Ticks(now_); }
    void work(std::int64_t ticks) {
        for (std::int64_t end = now_ + ticks;; end += cost_, due_ += kRefreshes.every.value()) {
            if (due_ > end) {
                now_ = end;
                return;
            }
        }
    }

private:
    std::int64_t cost_, now_;
    std::int64_t due_ = kRefreshes.first.value();
};

TurnMarks turns(std::size_t count, std::int64_t work, std::int64_t cost, std::int64_t before = 12'345) {
    Machine machine(cost);
    machine.work(before);
    TurnMarks marks;
    for (std::size_t i = 0; i <= count; ++i) {
        if (i > 0) machine.work(work);
        marks.push_back({});
        marks.back().time = machine.now();
    }
    return marks;
}

/// What a turn takes of very many.
double in_the_long_run(std::int64_t work, std::int64_t cost) {
    const auto every = static_cast<double>(kRefreshes.every.value());
    return static_cast<double>(work) * every / (every - static_cast<double>(cost));
}

double mean(const TurnMarks& marks, const RefreshWindow& window) {
    return static_cast<double>((marks.back().time - marks[turns_of(marks) - window.turns].time).value()) /
           static_cast<double>(window.turns);
}

/// As turns are simulated one after the other: the first window that is found.
std::pair<TurnMarks, RefreshWindow> first_window(std::int64_t work, std::int64_t cost, std::int64_t before) {
    const TurnMarks all = turns(64, work, cost, before);
    for (std::size_t marks = 2; marks <= all.size(); ++marks) {
        const TurnMarks met(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(marks));
        if (const RefreshWindow window = refresh_window(met, kRefreshes); window.turns > 0)
            return {met, window};
    }
    return {all, {}};
}

}  // namespace

TEST_CASE("a window of turns tells what a turn takes in the long run, whatever a refresh costs") {
    const auto seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    int found = 0, early = 0;
    for (int i = 0; i < 500; ++i) {
        const auto work = std::uniform_int_distribution<std::int64_t>(3000, 60'000)(random);
        const auto cost = std::uniform_int_distribution<std::int64_t>(0, 500)(random);
        const auto before = std::uniform_int_distribution<std::int64_t>(0, 20'000)(random);
        const auto [marks, window] = first_window(work, cost, before);
        if (window.turns == 0) continue;
        ++found;
        if (marks.size() <= 25) ++early;
        CAPTURE(work, cost, before, window.turns);
        const double expected = in_the_long_run(work, cost);
        // Neither end is where a refresh may delay it.
        for (const Mark& end : {marks.back(), marks[turns_of(marks) - window.turns]})
            CHECK((end.time - kRefreshes.first).value() % kRefreshes.every.value() >=
                  2 * kRefreshes.takes.value());
        CHECK(std::abs(mean(marks, window) - expected) <= expected / 2000);
    }
    CHECK(found > 400);
    CHECK(early > 250);
}

TEST_CASE("turns that begin at one place between refreshes tell nothing of others") {
    // With both refreshes that each meets they take two periods, less 20.
    const TurnMarks marks = turns(60, 7800 - 20 - 2 * 260, 260, 3000);
    CHECK(refresh_window(marks, kRefreshes).turns == 0);
}

TEST_CASE("where a window would end in what a refresh delays nothing is known") {
    const auto [marks, window] = first_window(9000, 260, 1000);
    REQUIRE(window.turns > 0);
    const std::int64_t place = (marks.back().time - kRefreshes.first).value() % kRefreshes.every.value();
    for (const std::int64_t at : {std::int64_t{0}, std::int64_t{519}}) {
        Refreshes moved = kRefreshes;
        moved.first += Ticks(place - at);
        CHECK(refresh_window(marks, moved).turns == 0);
    }
}

TEST_CASE("without refreshes at even distances, or with few turns, there is no window") {
    const auto [marks, window] = first_window(9000, 260, 1000);
    REQUIRE(window.turns > 0);
    CHECK(refresh_window(marks, {}).turns == 0);
    CHECK(refresh_window({marks.end() - 6, marks.end()}, kRefreshes).turns == 0);
}

TEST_CASE("turns that differ by more than refreshes are no window, and more so if they are all there is") {
    const auto uneven = [](std::int64_t by) {
        Machine machine(260, 1000);
        TurnMarks marks;
        for (int i = 0; i <= 16; ++i) {
            if (i > 0) machine.work(9000 + (i % 3 == 0 ? by : 0));
            marks.push_back({});
            marks.back().time = machine.now();
        }
        return marks;
    };
    const auto best = [&](std::int64_t by, std::size_t blocks) {
        std::size_t most = 0;
        for (std::size_t marks = 8; marks <= 17; ++marks) {
            const TurnMarks all = uneven(by);
            const TurnMarks met(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(marks));
            most = std::max(most, refresh_window(met, kRefreshes, blocks).turns);
        }
        return most;
    };
    CHECK(best(0, 1) > 0);
    CHECK(best(2000, 1) == 0);
    CHECK(best(2000, 8) == 0);
    CHECK(best(60, 1) == 0);
    CHECK(best(60, 16) > 0);
}

TEST_CASE("turns that differ by chance, by two percent, are hardly ever a window of few") {
    const auto seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    int found = 0;
    for (int i = 0; i < 300; ++i) {
        Machine machine(260, 1000);
        TurnMarks marks;
        bool any = false;
        for (int turn = 0; turn <= 20; ++turn) {
            if (turn > 0) machine.work(std::uniform_int_distribution<std::int64_t>(8910, 9090)(random));
            marks.push_back({});
            marks.back().time = machine.now();
            any = any || refresh_window(marks, kRefreshes).turns > 0;
        }
        found += any ? 1 : 0;
    }
    CHECK(found < 30);
}

TEST_CASE("what a window may be off by is told of all its turns together") {
    const auto [marks, window] = first_window(9000, 260, 1000);
    REQUIRE(window.turns > 0);
    const Ticks time = marks.back().time - marks[turns_of(marks) - window.turns].time;
    CHECK(window.off * 4000 <= time);
}

}  // namespace systole
