// SPDX-License-Identifier: Apache-2.0
#include "sim/account/causal_log.h"

#include <catch2/catch.hpp>
#include <random>

#include "sim/account/run_result.h"
#include "tests/unit/account/aborts.h"

namespace systole {
namespace {

using EventId = CausalLog::EventId;
constexpr EventId kNone = CausalLog::kNone;

/// Begin, end, owner, event of a piece.
using Plain = std::tuple<std::int64_t, std::int64_t, SlotClass, EventId>;

std::vector<Plain> plain(const std::vector<CausalLog::Piece>& pieces) {
    std::vector<Plain> result;
    for (const auto& piece : pieces)
        result.emplace_back(piece.begin.value(), piece.end.value(), piece.owner, piece.event);
    return result;
}

/// A weight load issued at 5, queued for the host until 20, in DRAM until 60; a pass started by it until 100.
struct LoadAndPass {
    CausalLog log;
    EventId issued = log.add(Ticks(5), kNone, SlotClass::Launch, 1);
    EventId granted = log.add(Ticks(20), issued, SlotClass::Host, 1);
    EventId loaded = log.add(Ticks(60), granted, SlotClass::Memory, 1);
    EventId started = log.add(Ticks(60), loaded, SlotClass::OnChip, 2);
    EventId done = log.add(Ticks(100), started, SlotClass::Useful, 2);
};

}  // namespace

TEST_CASE("a wait is split among the states its dependency was in") {
    const LoadAndPass story;
    CHECK(plain(story.log.explain(story.loaded, Ticks(10))) ==
          std::vector<Plain>{{10, 20, SlotClass::Host, story.granted},
                             {20, 60, SlotClass::Memory, story.loaded}});
}

TEST_CASE("a wait that begins inside a state gets the rest of it") {
    const LoadAndPass story;
    CHECK(plain(story.log.explain(story.loaded, Ticks(33))) ==
          std::vector<Plain>{{33, 60, SlotClass::Memory, story.loaded}});
}

TEST_CASE("the walk from the last event is the critical path, launch first, empty pieces left out") {
    const LoadAndPass story;
    CHECK(plain(story.log.explain(story.done, Ticks(0))) ==
          std::vector<Plain>{{0, 5, SlotClass::Launch, story.issued},
                             {5, 20, SlotClass::Host, story.granted},
                             {20, 60, SlotClass::Memory, story.loaded},
                             {60, 100, SlotClass::Useful, story.done}});
}

TEST_CASE("nothing is explained from the event's own time on") {
    const LoadAndPass story;
    CHECK(story.log.explain(story.done, Ticks(100)).empty());
    CHECK(story.log.explain(story.done, Ticks(101)).empty());
}

TEST_CASE("time before the oldest event belongs to launch, whatever owner was given") {
    CausalLog log;
    const EventId only = log.add(Ticks(9), kNone, SlotClass::Memory, 0);
    CHECK(plain(log.explain(only, Ticks(2))) == std::vector<Plain>{{2, 9, SlotClass::Launch, only}});
}

TEST_CASE("of a diamond only the chosen branch is walked") {
    CausalLog log;
    const EventId root = log.add(Ticks(0), kNone, SlotClass::Launch, 0);
    const EventId slow = log.add(Ticks(50), root, SlotClass::Memory, 1);
    const EventId fast = log.add(Ticks(30), root, SlotClass::Host, 2);
    const EventId join = log.add(Ticks(70), log.latest({fast, slow}), SlotClass::Dependency, 3);
    CHECK(plain(log.explain(join, Ticks(0))) ==
          std::vector<Plain>{{0, 50, SlotClass::Memory, slow}, {50, 70, SlotClass::Dependency, join}});
}

TEST_CASE("the latest candidate released, at equal times the first class, then the first given") {
    CausalLog log;
    const EventId root = log.add(Ticks(0), kNone, SlotClass::Launch, 0);
    const EventId host = log.add(Ticks(10), root, SlotClass::Host, 1);
    const EventId memory = log.add(Ticks(10), root, SlotClass::Memory, 2);
    const EventId memory_too = log.add(Ticks(10), root, SlotClass::Memory, 3);
    const EventId later = log.add(Ticks(11), root, SlotClass::Tail, 4);
    CHECK(log.latest({memory, host}) == host);
    CHECK(log.latest({host, memory}) == host);
    CHECK(log.latest({memory_too, memory}) == memory_too);
    CHECK(log.latest({memory, memory_too}) == memory);
    CHECK(log.latest({host, later, kNone}) == later);
    CHECK(log.latest({kNone, kNone}) == kNone);
    CHECK(log.latest({}) == kNone);
}

TEST_CASE("random logs are explained as a walk tick by tick explains them") {
    const auto seed = GENERATE(range(1, 100));
    INFO("seed " << seed);
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    CausalLog log;
    for (std::int64_t time = 0; log.size() < 60;) {
        time += static_cast<std::int64_t>(random() % 4);
        const EventId cause =
            log.size() == 0 || random() % 8 == 0 ? kNone : static_cast<EventId>(random() % log.size());
        log.add(Ticks(time), cause, static_cast<SlotClass>(random() % kSlotClasses), 0);
    }
    for (EventId last = 0; last < log.size(); ++last) {
        const std::int64_t end = log[last].time.value();
        const std::int64_t from =
            end ? static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end)) : 0;
        std::int64_t reached = from;
        for (const auto& piece : log.explain(last, Ticks(from))) {
            REQUIRE(piece.begin.value() == reached);
            REQUIRE(piece.begin < piece.end);
            reached = piece.end.value();
            for (std::int64_t tick = piece.begin.value(); tick < piece.end.value(); ++tick) {
                EventId owner = last;  // the oldest event of the chain that is still after this tick
                while (log[owner].cause != kNone && log[log[owner].cause].time.value() > tick)
                    owner = log[owner].cause;
                REQUIRE(piece.event == owner);
                REQUIRE(piece.owner == (log[owner].cause == kNone ? SlotClass::Launch : log[owner].owner));
            }
        }
        REQUIRE(reached == end);
    }
}

TEST_CASE("a cause must be in the log and not later than its effect") {
    CausalLog log;
    const EventId root = log.add(Ticks(10), kNone, SlotClass::Launch, 0);
    CHECK(test::aborts([&] { log.add(Ticks(9), root, SlotClass::Host, 0); }));
    CHECK(test::aborts([&] { log.add(Ticks(20), root + 1, SlotClass::Host, 0); }));
    CHECK(test::aborts([&] { log.explain(kNone, Ticks(0)); }));
    CHECK_FALSE(test::aborts([&] { log.add(Ticks(10), root, SlotClass::Host, 0); }));
}

TEST_CASE("pieces add up to the critical path by class, longest first") {
    CausalLog log;
    const EventId a = log.add(Ticks(4), kNone, SlotClass::Launch, 0);
    const EventId b = log.add(Ticks(10), a, SlotClass::Useful, 0);
    const EventId c = log.add(Ticks(17), b, SlotClass::Memory, 0);
    const EventId d = log.add(Ticks(20), c, SlotClass::Useful, 0);
    const std::vector<CriticalStep> steps = critical_path(log.explain(d, Ticks(0)));
    REQUIRE(steps.size() == 3);
    CHECK((steps[0].owner == SlotClass::Useful && steps[0].time == Ticks(9)));
    CHECK((steps[1].owner == SlotClass::Memory && steps[1].time == Ticks(7)));
    CHECK((steps[2].owner == SlotClass::Launch && steps[2].time == Ticks(4)));
}

}  // namespace systole
