// SPDX-License-Identifier: Apache-2.0
// When channels that were set apart are in the same state again.
#include <catch2/catch.hpp>

#include <random>
#include <vector>

#include "models/memory/controller/dram_channel.h"
#include "tests/unit/memory/memory_specs.h"

namespace systole::test {
namespace {

constexpr Cycles kLater(5000);

/// Eight writes at clock 0, of which the last still wait at clock 24, and a read at that clock.
DramChannel after_writes_and_a_read(const DramSpec& spec, const AddressMap& map, Cycles read) {
    DramChannel channel(spec, map);
    std::vector<DramChannel::Completion> done;
    channel.push(0, 1, 0, 8, Direction::Write, Cycles(0));
    channel.advance(read, done);
    channel.push(0, 2, 8, 1, Direction::Read, read);
    channel.advance(kLater, done);
    return channel;
}

std::vector<Cycles> clocks_of_what_follows(DramChannel& channel, const DramSpec& spec) {
    std::mt19937_64 random(1);
    const std::int64_t bursts = spec.capacity() / spec.burst_bytes;
    std::vector<DramChannel::Completion> done;
    Cycles now = kLater;
    for (int i = 0; i < 500; ++i) {
        const auto first = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bursts - 8));
        const Direction direction = random() % 3 == 0 ? Direction::Write : Direction::Read;
        now += Cycles(static_cast<std::int64_t>(random() % 30));
        channel.push(0, i, first, static_cast<std::int64_t>(1 + random() % 8), direction, now);
    }
    channel.advance(now + Cycles(100'000), done);
    std::vector<Cycles> clocks;
    for (const DramChannel::Completion& completion : done) clocks.push_back(completion.clock);
    return clocks;
}

}  // namespace

TEST_CASE("which write of a batch was the last does not keep channels apart that read") {
    DramSpec spec = hbm2();
    spec.refresh = RefreshPolicy::Off;
    const AddressMap map(spec);
    DramChannel during = after_writes_and_a_read(spec, map, Cycles(24)),
                behind = after_writes_and_a_read(spec, map, Cycles(400));
    REQUIRE(during.same_from(behind, kLater));
    CHECK(clocks_of_what_follows(during, spec) == clocks_of_what_follows(behind, spec));
}

TEST_CASE("channels with other rows open are not the same") {
    DramSpec spec = hbm2();
    spec.refresh = RefreshPolicy::Off;
    const AddressMap map(spec);
    DramChannel one = after_writes_and_a_read(spec, map, Cycles(24)), other = one.twin();
    std::vector<DramChannel::Completion> done;
    other.push(0, 3, 1 << 14, 1, Direction::Read, kLater);
    one.advance(kLater * 2, done);
    other.advance(kLater * 2, done);
    CHECK_FALSE(one.same_from(other, kLater * 2));
}

}  // namespace systole::test
