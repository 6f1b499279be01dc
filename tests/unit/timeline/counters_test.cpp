// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <random>

#include "sim/timeline/activity.h"
#include "sim/timeline/binned_counter.h"
#include "sim/timeline/thin_counters.h"

namespace systole {
namespace {

/// What passed, by the samples.
double integral(const CounterTrack& counter, Ticks end) {
    double sum = 0;
    for (std::size_t i = 0; i < counter.samples.size(); ++i) {
        const Ticks until = i + 1 < counter.samples.size() ? counter.samples[i + 1].first : end;
        sum += counter.samples[i].second * static_cast<double>((until - counter.samples[i].first).value());
    }
    return sum;
}

}  // namespace

TEST_CASE("a counter has a bounded number of samples and loses nothing") {
    std::mt19937_64 random(7);
    BinnedCounter counter;
    double sum = 0;
    std::int64_t now = 0;
    for (int i = 0; i < 20'000; ++i) {
        now += static_cast<std::int64_t>(random() % 5'000);
        const auto amount = static_cast<std::int64_t>(random() % 4'096);
        counter.add(Ticks(now), Ticks(now + static_cast<std::int64_t>(random() % 3'000)), amount);
        sum += static_cast<double>(amount);
    }
    CHECK(static_cast<double>(counter.total()) == sum);
    const Ticks end(now + 10'000);
    const CounterTrack track = counter.rate("dram", "read", "B", 1, end);
    CHECK(track.samples.size() <= BinnedCounter::kBins + 1);
    CHECK(track.samples.size() > BinnedCounter::kBins / 2);
    CHECK(integral(track, end) == Approx(sum).epsilon(1e-9));
}

TEST_CASE("a steady stream has one rate") {
    BinnedCounter counter;
    counter.add(Ticks(0), Ticks(4'096'000), 4'096'000);
    const CounterTrack track = counter.rate("dram", "read", "GB/s", kGigabytesPerSecond, Ticks(8'192'000));
    REQUIRE(track.samples.size() == 2);
    CHECK(track.samples[0] == std::pair(Ticks(0), 1000.0));
    CHECK(track.samples[1] == std::pair(Ticks(4'096'000), 0.0));
}

TEST_CASE("what came faster than it can has come before") {
    BinnedCounter counter;  // bins of 1,024 ps
    counter.add(Ticks(1'024), Ticks(2'048), 1'000);
    counter.add(Ticks(2'048), Ticks(3'072), 5'000);
    counter.add(Ticks(4'096), Ticks(4'608), 3'000);
    // 2 a tick: 2,048 a bin, 1,024 of what the run has of the last.
    counter.spill_back(2 * kTicksPerSecond, Ticks(4'608));
    const CounterTrack track = counter.rate("dram", "read", "B", 1'024, Ticks(4'608));
    const std::vector<std::pair<Ticks, double>> expected{{Ticks(0), 1'904},
                                                         {Ticks(1'024), 2'048},
                                                         {Ticks(3'072), 1'976},
                                                         {Ticks(4'096), 2'048},
                                                         {Ticks(4'608), 0}};
    CHECK(track.samples == expected);
    CHECK(counter.total() == 9'000);
}

TEST_CASE("a counter of nothing is 0") {
    const CounterTrack track = BinnedCounter().rate("dram", "read", "GB/s", 1, Ticks(10));
    REQUIRE(track.samples.size() == 1);
    CHECK(track.samples[0] == std::pair(Ticks(0), 0.0));
}

TEST_CASE("a level is its mean over each bin") {
    BinnedLevel level;
    level.set(Ticks(0), 2);
    level.set(Ticks(1'536), 4);
    level.change(Ticks(2'048), -4);
    const CounterTrack track = level.mean("queue", "level", "commands", 1, Ticks(10'240));
    REQUIRE(track.samples.size() == 3);
    CHECK(track.samples[0] == std::pair(Ticks(0), 2.0));
    CHECK(track.samples[1] == std::pair(Ticks(1'024), 3.0));
    CHECK(track.samples[2] == std::pair(Ticks(2'048), 0.0));
}

TEST_CASE("thinned counters keep their means") {
    CounterTrack counter{"a", "b", "c", {}};
    for (std::int64_t i = 0; i < 1'000; ++i)
        counter.samples.emplace_back(Ticks(i * i), static_cast<double>(i % 7));
    const Ticks end(1'000'000);
    const auto thin = thin_counters({counter, {"few", "", "", {{Ticks(0), 1.0}}}}, 100, end);
    REQUIRE(thin.size() == 2);
    CHECK(thin[0].samples.size() + thin[1].samples.size() <= 100);
    CHECK(thin[0].samples.size() > 50);
    CHECK(thin[1].samples.size() == 1);
    CHECK(integral(thin[0], end) == Approx(integral(counter, end)).epsilon(1e-9));
}

TEST_CASE("shares are whole and sum to the whole") {
    CHECK(shares_of(10, {1, 1, 1}) == std::vector<std::int64_t>{3, 3, 4});
    CHECK(shares_of(7, {0, 5, 0}) == std::vector<std::int64_t>{0, 7, 0});
    CHECK(shares_of(0, {0, 0}) == std::vector<std::int64_t>{0, 0});
    const std::int64_t most = std::int64_t{1} << 62;
    const Int128 huge = Int128{1} << 100;
    CHECK(shares_of(most, {huge, huge}) == std::vector<std::int64_t>{most / 2, most / 2});
}

TEST_CASE("bins split a run to the tick") {
    CHECK(even_bins(Ticks(10), 4) == std::vector<Ticks>{Ticks(2), Ticks(5), Ticks(7), Ticks(10)});
    CHECK(even_bins(Ticks(1'000'003)).size() == 240);
    CHECK(even_bins(Ticks(1'000'003)).back() == Ticks(1'000'003));
}

}  // namespace systole
