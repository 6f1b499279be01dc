// SPDX-License-Identifier: Apache-2.0
// What a channel that nobody listens to puts off, or leaves undone, of the rows of long streams: it answers
// as one that tells of each command (which the slow twin of channel_twin.cpp is held to).
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "tests/support/seeds.h"
#include "tests/unit/memory/random_channel.h"

namespace systole::test {
namespace {

std::string difference(const DramStats& a, const DramStats& b) {
    std::string text;
    const auto compare = [&](const char* what, std::int64_t one, std::int64_t other) {
        if (one != other) text += fmt::format("{} {} and {}; ", what, one, other);
    };
    compare("reads", a.read_bursts, b.read_bursts);
    compare("writes", a.write_bursts, b.write_bursts);
    compare("ACT", a.activates, b.activates);
    compare("closed", a.precharges, b.precharges);
    compare("REF", a.refreshes, b.refreshes);
    compare("REFSB", a.bank_refreshes, b.bank_refreshes);
    compare("busy", a.bus_busy.value(), b.bus_busy.value());
    return text;
}

/// A silent channel, and one that tells of its commands.
class Two {
public:
    explicit Two(const DramSpec& spec) : spec_(spec) {
        telling_.listen([](const GivenCommand&) {});
    }

    void push(const Arrival& a) {
        const Cycles now(a.clock);
        silent_.push(a.pseudo_channel, a.id, a.first, a.count, a.direction, now);
        telling_.push(a.pseudo_channel, a.id, a.first, a.count, a.direction, now);
    }

    /// Everything that can be asked, some of it only now and then.
    std::string advance(Cycles now, Random& random) {
        std::vector<DramChannel::Completion> some, all;
        silent_.advance(now, some);
        telling_.advance(now, all);
        if (some.size() != all.size()) return fmt::format("{} and {} completions", some.size(), all.size());
        for (std::size_t i = 0; i < some.size(); ++i)
            if (some[i].request != all[i].request || some[i].clock != all[i].clock)
                return fmt::format("request {} ends at {}", some[i].request, some[i].clock.value());
        for (int bus = 0; bus < spec_.pseudo_channels; ++bus) {
            if (!(silent_.account(bus, now) == telling_.account(bus, now))) return "accounts differ";
            for (const Direction direction : {Direction::Read, Direction::Write})
                if (silent_.at_door(bus, direction) != telling_.at_door(bus, direction))
                    return "others wait at the door";
        }
        if (pick(random, 0, 4) > 0) return "";
        silent_.settle(now);
        std::string text;
        for (int bus = 0; bus < spec_.pseudo_channels; ++bus)
            text += difference(silent_.stats(bus), telling_.stats(bus));
        return text;
    }
    Cycles next_event() const { return silent_.next_event(); }
    bool idle() const { return silent_.idle() && telling_.idle(); }

private:
    const DramSpec spec_;
    const AddressMap map_{spec_};
    DramChannel silent_{spec_, map_}, telling_{spec_, map_};
};

}  // namespace

TEST_CASE("what nobody listens to is done as if somebody did") {
    for (std::uint64_t seed = 9001; seed <= 9000 + systole::test::enough(200); ++seed) {
        Random random(seed);
        const DramSpec spec = some_pages(random);
        std::deque<Arrival> arrivals = some_long_streams(random, spec, 20'000);
        Two two(spec);
        INFO("seed " << seed << ", " << text_of(spec));
        Cycles now;
        while (!arrivals.empty() || !two.idle()) {
            Cycles next = two.next_event();
            if (!arrivals.empty()) next = std::min(next, Cycles(arrivals.front().clock));
            if (pick(random, 0, 3) == 0) next = std::min(next, now + Cycles(pick(random, 1, 400)));
            now = std::max(now, next);
            INFO("at " << now.value());
            REQUIRE(two.advance(now, random) == "");
            for (; !arrivals.empty() && arrivals.front().clock <= now.value(); arrivals.pop_front()) {
                arrivals.front().clock = now.value();
                two.push(arrivals.front());
            }
        }
    }
}

}  // namespace systole::test
