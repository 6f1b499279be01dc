// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/merge_spans.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>

#include "sim/timeline/lanes.h"

namespace systole {
namespace {

constexpr std::size_t kAny = 1'000'000;

Span waits(std::int64_t begin, std::int64_t end, SlotClass owner, const std::string& name = "wait") {
    Span span{"mxu", name, Ticks(begin), Ticks(end), 0, owner};
    span.slots[static_cast<std::size_t>(owner)] = 4 * (end - begin);
    return span;
}

/// Gapless, of random lengths and owners.
Timeline random_account(std::uint64_t seed, int spans) {
    std::mt19937_64 random(seed);
    Timeline timeline;
    std::int64_t now = 0;
    for (int i = 0; i < spans; ++i) {
        const auto length = static_cast<std::int64_t>(1 + random() % (random() % 10 == 0 ? 10'000 : 50));
        timeline.spans.push_back(waits(now, now + length, static_cast<SlotClass>(random() % kSlotClasses)));
        now += length;
    }
    return timeline;
}

}  // namespace

TEST_CASE("few spans stay as they are") {
    const Timeline timeline = random_account(1, 50);
    const MergedSpans merged = merge_spans(timeline, 50, kAny);
    REQUIRE(merged.spans.size() == 50);
    for (std::size_t i = 0; i < 50; ++i) {
        CHECK(merged.spans[i].begin == timeline.spans[i].begin);
        CHECK(merged.spans[i].merged == 1);
    }
}

TEST_CASE("short neighbours merge, long ones stay") {
    Timeline timeline;
    timeline.spans = {
        waits(0, 1'000, SlotClass::Memory, "long"), waits(1'000, 1'001, SlotClass::Memory, "conv1 a"),
        waits(1'001, 1'003, SlotClass::Ramp, "conv1 b"), waits(1'003, 2'000, SlotClass::Host, "host")};
    const MergedSpans merged = merge_spans(timeline, 3, kAny);
    REQUIRE(merged.spans.size() == 3);
    const Span& both = merged.spans[1];
    CHECK(both.name == "conv1 (2 spans)");
    CHECK(both.begin == Ticks(1'000));
    CHECK(both.end == Ticks(1'003));
    CHECK(both.merged == 2);
    CHECK(both.owner == SlotClass::Ramp);
    CHECK(both.slots[static_cast<std::size_t>(SlotClass::Memory)] == 4);
    CHECK(both.slots[static_cast<std::size_t>(SlotClass::Ramp)] == 8);
    CHECK(merged.times[1][static_cast<std::size_t>(SlotClass::Memory)] == 1);
    CHECK(merged.times[1][static_cast<std::size_t>(SlotClass::Ramp)] == 2);
}

TEST_CASE("names that have nothing in common are counted") {
    Timeline timeline;
    timeline.spans = {waits(0, 1, SlotClass::Memory, "conv1 m"), waits(1, 2, SlotClass::Memory, "conv10 m")};
    CHECK(merge_spans(timeline, 1, kAny).spans[0].name == "2 spans");
    timeline.spans = {waits(0, 1, SlotClass::Memory, "x"), waits(1, 2, SlotClass::Memory, "x")};
    CHECK(merge_spans(timeline, 1, kAny).spans[0].name == "x");
}

TEST_CASE("sums by class and owner stay, whatever is merged") {
    for (const int most : {1, 2, 10, 100, 999}) {
        const Timeline timeline = random_account(static_cast<std::uint64_t>(most), 1'000);
        const MergedSpans merged = merge_spans(timeline, static_cast<std::size_t>(most), kAny);
        CHECK(merged.spans.size() <= static_cast<std::size_t>(most));
        if (most >= 10) CHECK(merged.spans.size() > static_cast<std::size_t>(most) / 2);
        ClassSlots before{}, after{}, time_before{}, time_after{};
        std::int64_t count = 0;
        for (const Span& span : timeline.spans) {
            for (std::size_t c = 0; c < kSlotClasses; ++c) before[c] += span.slots[c];
            time_before[static_cast<std::size_t>(*span.owner)] += (span.end - span.begin).value();
        }
        Ticks now;
        for (std::size_t i = 0; i < merged.spans.size(); ++i) {
            CHECK(merged.spans[i].begin == now);
            now = merged.spans[i].end;
            count += merged.spans[i].merged;
            for (std::size_t c = 0; c < kSlotClasses; ++c) {
                after[c] += merged.spans[i].slots[c];
                time_after[c] += merged.times[i][c];
            }
        }
        CHECK(now == timeline.spans.back().end);
        CHECK(count == 1'000);
        CHECK(after == before);
        CHECK(time_after == time_before);
    }
}

TEST_CASE("spans inside others merge among themselves first, then into the outer one") {
    Timeline timeline;
    timeline.spans = {{"sms", "kernel a", Ticks(0), Ticks(100)}, {"sms", "step", Ticks(0), Ticks(10)},
                      {"sms", "step", Ticks(10), Ticks(20)},     {"sms", "kernel b", Ticks(100), Ticks(200)},
                      {"sms", "step", Ticks(100), Ticks(150)},   {"sms", "step", Ticks(150), Ticks(200)}};
    const MergedSpans some = merge_spans(timeline, 5, kAny);
    REQUIRE(some.spans.size() == 5);
    CHECK(some.spans[1].end == Ticks(20));
    const MergedSpans kernels = merge_spans(timeline, 2, kAny);
    REQUIRE(kernels.spans.size() == 2);
    CHECK(kernels.spans[0].end == Ticks(100));
    CHECK(kernels.spans[0].merged == 3);
    CHECK(kernels.spans[1].begin == Ticks(100));
}

TEST_CASE("a span within another does not merge with one behind that") {
    Timeline timeline;
    timeline.spans = {{"sms", "kernel a", Ticks(0), Ticks(1'000)},
                      {"sms", "step", Ticks(0), Ticks(990)},
                      {"sms", "step", Ticks(990), Ticks(1'000)},
                      {"sms", "kernel b", Ticks(1'000), Ticks(1'005)},
                      {"sms", "kernel c", Ticks(1'005), Ticks(1'015)}};
    const MergedSpans merged = merge_spans(timeline, 4, kAny);
    REQUIRE(merged.spans.size() == 4);
    CHECK(merged.spans[2].begin == Ticks(990));
    CHECK(merged.spans[2].end == Ticks(1'000));
    CHECK(merged.spans[3].merged == 2);
}

TEST_CASE("tracks keep apart, and lanes of overlapping spans") {
    Timeline timeline;
    for (std::int64_t i = 0; i < 100; ++i) {
        timeline.spans.push_back({"load", "a", Ticks(10 * i), Ticks(10 * i + 15)});
        timeline.spans.push_back({"store", "b", Ticks(10 * i), Ticks(10 * i + 5)});
    }
    const MergedSpans merged = merge_spans(timeline, 3, kAny);
    REQUIRE(merged.spans.size() == 3);
    CHECK(make_lanes(merged.spans).size() == 3);
    CHECK(merged.spans[2].track == "store");
    CHECK(merged.spans[2].merged == 100);
    // No fewer than lanes.
    CHECK(merge_spans(timeline, 1, kAny).spans.size() == 3);
}

TEST_CASE("flows follow the spans that stand for theirs, each pair once") {
    Timeline timeline;
    for (std::int64_t i = 0; i < 10; ++i) {
        timeline.spans.push_back({"a", "first", Ticks(100 * i), Ticks(100 * i + 10)});
        timeline.spans.push_back({"b", "second", Ticks(100 * i + 20), Ticks(100 * i + 30 + i)});
        timeline.flows.push_back({static_cast<std::size_t>(2 * i), static_cast<std::size_t>(2 * i + 1)});
    }
    CHECK(merge_spans(timeline, 20, kAny).flows.size() == 10);
    const MergedSpans longest = merge_spans(timeline, 20, 1);
    REQUIRE(longest.flows.size() == 1);
    CHECK(longest.spans[longest.flows[0].to].end == Ticks(939));
    timeline.flows.push_back({0, 2});  // both ends will be in one span
    const MergedSpans merged = merge_spans(timeline, 2, kAny);
    REQUIRE(merged.flows.size() == 1);
    CHECK(merged.spans[merged.flows[0].from].track == "a");
    CHECK(merged.spans[merged.flows[0].to].track == "b");
}

}  // namespace systole
