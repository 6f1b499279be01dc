// SPDX-License-Identifier: Apache-2.0
#include "models/memory/addresses/share_patterns.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "tests/unit/memory/memory_specs.h"

namespace systole::test {
namespace {

DramSpec with_map(const std::string& map, int channels) {
    DramSpec spec = hbm2();
    spec.channels = channels;
    spec.rows = 16;
    spec.row_bytes = Bytes(512);
    spec.address_map = map;
    return spec;
}

/// What a channel has to do, whichever it is.
std::vector<std::array<std::int64_t, 3>> load_of(const SharePattern& pattern, const SharePattern::Load& load,
                                                 int pseudo_channels) {
    std::vector<std::array<std::int64_t, 3>> shares;
    for (std::size_t i = load.first; i < load.first + load.count; ++i) {
        REQUIRE(pattern.shares[i].bus / pseudo_channels == load.channel);
        shares.push_back(
            {pattern.shares[i].bus % pseudo_channels, pattern.shares[i].first, pattern.shares[i].count});
    }
    return shares;
}

void check_loads(const SharePattern& pattern, const DramSpec& spec) {
    std::size_t shares = 0, like_first = 0;
    for (std::size_t i = 0; i < pattern.loads.size(); ++i) {
        const auto load = load_of(pattern, pattern.loads[i], spec.pseudo_channels);
        shares += load.size();
        like_first += pattern.loads[i].like == 0 ? 1U : 0U;
        std::size_t first = 0;
        while (load_of(pattern, pattern.loads[first], spec.pseudo_channels) != load) ++first;
        REQUIRE(pattern.loads[i].like == first);
    }
    REQUIRE(shares == pattern.shares.size());
    REQUIRE(pattern.even == (like_first == static_cast<std::size_t>(spec.channels)));
}

}  // namespace

TEST_CASE("ranges split by patterns have the shares of the map") {
    const unsigned seed = std::random_device()();
    std::mt19937_64 random(seed);
    for (const int pseudo_channels : {1, 2})
        for (const char* text : {"ch3 bg2 co4 ba2 ro4", "co4 ch3 ba2 bg2 ro4", "bg2 co2 ch1 co2 ch2 ba2 ro4",
                                 "ch1 co1 bg1 co3 bg1 ba1 ch2 ro2 ba1 ro2", "ch3^ro1 bg2^ro0 co4 ba2^ro2 ro4",
                                 "bg2^ro0^ro2 co2 ch1^ro3 co2 ch2^ro0^ro1 ba2 ro4"}) {
            DramSpec spec = with_map(text, 8 / pseudo_channels);
            spec.pseudo_channels = pseudo_channels;
            const AddressMap map(spec);
            SharePatterns patterns(spec, map);
            const std::int64_t capacity = spec.capacity().value();
            // Rows of a matrix first, which meet the same patterns again and again; then anything.
            for (std::int64_t round = 0; round < 600; ++round) {
                const bool row = round < 300;
                const std::int64_t address =
                    row ? round % 60 * 1024 % capacity
                        : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(capacity));
                const std::int64_t bytes =
                    std::min(row ? 256 << round % 3 : static_cast<std::int64_t>(1 + random() % 5000),
                             capacity - address);
                INFO(text << " seed " << seed << " address " << address << " bytes " << bytes);
                std::vector<ChannelShare> expected;
                map.split(address, Bytes(bytes), expected);
                const RangeShares got = patterns.split(address, Bytes(bytes));
                const SharePattern& pattern = *got.pattern;
                REQUIRE(std::ranges::equal(
                    expected, pattern.shares, [&](const ChannelShare& a, const ChannelShare& b) {
                        return a.bus == b.bus && a.first == b.first + got.origin && a.count == b.count;
                    }));
                std::set<int> buses;
                for (const ChannelShare& share : expected) buses.insert(share.bus);
                for (int bus = 0; bus < spec.data_buses(); ++bus)
                    REQUIRE(pattern.buses.contains(bus) == buses.contains(bus));
                check_loads(pattern, spec);
            }
        }
}

TEST_CASE("a set of buses has a bit for each of any number") {
    BusSet all(130), odd(130), none(130);
    for (int bus = 0; bus < 130; ++bus) {
        all.insert(bus);
        if (bus % 2 == 1) odd.insert(bus);
    }
    CHECK(none.first() == -1);
    CHECK(odd.first() == 1);
    CHECK(all.meets(odd));
    CHECK_FALSE(all.meets(none));
    all.remove(odd);
    CHECK_FALSE(all.meets(odd));
    for (int bus = 0; bus < 130; ++bus) CHECK(all.contains(bus) == (bus % 2 == 0));
    BusSet last(130);
    last.insert(129);
    CHECK(last.first() == 129);
    last.remove(odd);
    CHECK(last.first() == -1);
}

}  // namespace systole::test
