// SPDX-License-Identifier: Apache-2.0
// Streams that are driven burst by burst, as fast as there is room: DramChannel against its slow twin, which
// must find room at the same clocks, give the same commands and book the same clocks of the data bus.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "tests/support/seeds.h"
#include "tests/unit/memory/random_channel.h"

namespace systole::test {
namespace {

/// A memory whose channel can stream, more often than not.
DramSpec some_streaming_memory(Random& random) {
    DramSpec spec = some_memory(random);
    if (pick(random, 0, 3) == 0) return spec;
    spec.page = PagePolicy::Open;
    spec.row_hit_cap = 0;
    spec.shared_queue = pick(random, 0, 1) == 0;
    spec.queue = static_cast<int>(pick(random, 14, 64));
    spec.writes.high = std::max(1, spec.queue * 4 / 5);
    spec.writes.low = spec.queue / 5;
    spec.patience = 256;
    return spec;
}

/// Two pseudo-channels that share a queue and can stream.
DramSpec some_sharing_memory(Random& random) {
    DramSpec spec = some_streaming_memory(random);
    while (spec.pseudo_channels != 2 || spec.page != PagePolicy::Open || spec.row_hit_cap != 0)
        spec = some_streaming_memory(random);
    spec.shared_queue = true;
    return spec;
}

/// Pushes to both and compares what they answer.
class Pair {
public:
    Pair(const DramSpec& spec, std::uint64_t seed) : spec_(spec), random_(seed) {
        channel_.listen([this](const GivenCommand& given) { commands_.push_back(given); });
    }

    /// Streams of single bursts and ranges to one pseudo-channel or to all in turn, several a clock, with
    /// pauses, jumps and bursts of the other direction between them.
    void drive(std::int64_t bursts) {
        const std::int64_t all = spec_.bus_capacity() / spec_.burst_bytes;
        const std::int64_t trouble = pick(random_, 0, 2) * pick(random_, 1, 60);  // in a thousand bursts
        const std::int64_t per_clock = pick(random_, 1, 4), pause = pick(random_, 1, 200);
        const bool alternate = pick(random_, 0, 2) > 0, ranges = pick(random_, 0, 4) == 0;
        const bool apart = pick(random_, 0, 4) == 0;  // one pseudo-channel reads while the other writes
        auto direction = static_cast<Direction>(pick(random_, 0, 3) == 0);
        int bus = 0;
        for (std::int64_t pushed = 0; pushed < bursts && fault_.empty();) {
            if (alternate || pick(random_, 0, 99) == 0) bus = (bus + 1) % spec_.pseudo_channels;
            std::int64_t& next = next_[static_cast<std::size_t>(bus)];
            const bool other = (pick(random_, 0, 999) < trouble) != (apart && bus == 1);
            if (pick(random_, 0, 999) < trouble) next = pick(random_, 0, all - 1);
            if (pick(random_, 0, 999) < trouble) step_to(twin_.now() + pick(random_, 1, pause));
            if (pick(random_, 0, 9999) < trouble) direction = opposite(direction);
            const std::int64_t count = ranges && pick(random_, 0, 9) == 0 ? pick(random_, 1, 300) : 1;
            if (next + count > all) next = 0;
            if (pushed % per_clock == 0 && pick(random_, 0, 1) == 0) step_to(twin_.now() + 1);
            push(bus, next, count, other ? opposite(direction) : direction);
            next += count, pushed += count;
        }
    }

    /// What differed, in words; "" if nothing.
    std::string finish() {
        while (!twin_.idle() && fault_.empty()) step_to(twin_.now() + pick(random_, 1, 300));
        step_to(twin_.now() + 200);
        if (!fault_.empty()) return fault_;
        if (commands_ != twin_.commands()) return "commands differ";
        if (done_ != twin_.done()) return "completions differ";
        for (int bus = 0; bus < spec_.pseudo_channels; ++bus)
            if (!(channel_.account(bus, Cycles(twin_.now())) == twin_.account(bus, twin_.now())))
                return fmt::format("account of pc {} differs", bus);
        return channel_.idle() ? "" : "not idle";
    }

private:
    void push(int bus, std::int64_t first, std::int64_t count, Direction direction) {
        const std::int64_t begin = twin_.now();
        const std::int64_t limit = begin + (pick(random_, 0, 9) == 0 ? pick(random_, 0, 30) : 2000);
        const std::int64_t found =
            channel_.wait_for_room(bus, direction, Cycles(begin), Cycles(limit)).value();
        while (twin_.now() < limit && twin_.room(bus, direction) == 0) twin_.step();
        if (found != twin_.now()) fault_ = fmt::format("room at {}, not at {}", found, twin_.now());
        if (channel_.has_room(bus, direction, Cycles(twin_.now())) != (twin_.room(bus, direction) > 0))
            fault_ = fmt::format("different room at {}", twin_.now());
        if (pick(random_, 0, 1) == 0) advance();
        channel_.push(bus, id_, first, count, direction, Cycles(twin_.now()));
        twin_.push({twin_.now(), bus, id_++, first, count, direction});
        if (pick(random_, 0, 9) == 0 && channel_.next_event() <= Cycles(twin_.now()) && !done_.empty())
            advance();
    }

    /// What waits at a door is asked now and then: it stays so at least until the clock that was foretold.
    void step_to(std::int64_t clock) {
        const auto bus = static_cast<int>(pick(random_, 0, spec_.pseudo_channels - 1));
        const auto direction = static_cast<Direction>(pick(random_, 0, 1));
        channel_.settle(Cycles(twin_.now()));
        const std::int64_t waiting = channel_.at_door(bus, direction);
        const Cycles changes = channel_.next_door_event(bus, direction);
        while (twin_.now() < clock) {
            if (twin_.at_door(bus, direction) != waiting && Cycles(twin_.now()) < changes)
                fault_ = fmt::format("at {} not {} requests at the door", twin_.now(), waiting);
            twin_.step();
        }
        advance();
    }

    void advance() {
        std::vector<DramChannel::Completion> done;
        channel_.advance(Cycles(twin_.now()), done);
        for (const auto& [id, clock] : done) done_[id] = clock.value();
    }

    const DramSpec spec_;
    const AddressMap map_{spec_};
    DramChannel channel_{spec_, map_};
    SlowChannel twin_{spec_, map_};
    Random random_;
    std::array<std::int64_t, 2> next_{};
    std::int64_t id_ = 0;
    std::vector<GivenCommand> commands_;
    std::map<std::int64_t, std::int64_t> done_;
    std::string fault_;
};

void compare(DramSpec some(Random&), std::uint64_t from, std::uint64_t to, std::int64_t bursts) {
    for (std::uint64_t seed = from; seed < from + systole::test::enough(to - from + 1); ++seed) {
        Random random(seed);
        const DramSpec spec = some(random);
        Pair pair(spec, seed);
        pair.drive(bursts);
        INFO("seed " << seed << ", " << text_of(spec));
        REQUIRE(pair.finish() == "");
    }
}

}  // namespace

TEST_CASE("bursts that are sent as soon as there is room get what the twin gives them") {
    compare(some_streaming_memory, 4001, 4150, 700);
}

TEST_CASE("streams whose pseudo-channels share a queue get what the twin gives them") {
    compare(some_sharing_memory, 5001, 5100, 700);
}

}  // namespace systole::test
