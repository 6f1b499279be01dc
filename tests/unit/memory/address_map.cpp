// SPDX-License-Identifier: Apache-2.0
#include "models/memory/address_map.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "tests/unit/memory/memory_specs.h"

namespace systole::test {
namespace {

/// A small memory with every field, so that all of it can be walked.
DramSpec small(const std::string& map) {
    DramSpec spec = hbm2();
    spec.channels = 8;
    spec.rows = 16;
    spec.row_bytes = Bytes(512);
    spec.address_map = map;
    return spec;
}

const std::vector<std::string> kMaps{"ch3 bg2 co4 ba2 ro4", "co4 ch3 ba2 bg2 ro4",
                                     "bg2 co2 ch1 co2 ch2 ba2 ro4",
                                     "ch1 co1 bg1 co3 bg1 ba1 ch2 ro2 ba1 ro2"};

struct Place {
    std::int64_t channel, bank, row, column, local;
};

/// Bit by bit, lowest first: where burst `burst` of the whole memory lies.
Place place_of(const DramSpec& spec, std::int64_t burst) {
    std::int64_t value[5] = {}, taken[5] = {}, local = 0;
    int local_bits = 0;
    const auto fields = parse_address_map(spec.address_map);
    for (const AddressField& field : *fields) {
        const auto kind = static_cast<std::size_t>(field.kind);
        for (int i = 0; i < field.bits; ++i, burst >>= 1) {
            value[kind] |= (burst & 1) << taken[kind]++;
            if (field.kind != AddressField::Kind::Channel) local |= (burst & 1) << local_bits++;
        }
    }
    return {value[0], value[1] * spec.banks_per_group + value[2], value[3], value[4], local};
}

}  // namespace

TEST_CASE("a range is split into the bursts that lie in each channel") {
    std::mt19937_64 random(7);
    for (const std::string& text : kMaps) {
        const DramSpec spec = small(text);
        const AddressMap map(spec);
        const std::int64_t capacity = spec.capacity().value();
        for (int round = 0; round < 300; ++round) {
            const auto address = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(capacity));
            const auto bytes = std::min(static_cast<std::int64_t>(1 + random() % 5000), capacity - address);
            std::map<std::int64_t, std::set<std::int64_t>> expected;
            for (std::int64_t burst = address / 32; burst <= (address + bytes - 1) / 32; ++burst)
                expected[place_of(spec, burst).channel].insert(place_of(spec, burst).local);
            std::vector<ChannelShare> shares;
            map.split(address, Bytes(bytes), shares);
            std::map<std::int64_t, std::set<std::int64_t>> got;
            for (const ChannelShare& share : shares)
                for (std::int64_t i = 0; i < share.count; ++i) got[share.bus].insert(share.first + i);
            INFO(text << " address " << address << " bytes " << bytes);
            REQUIRE(shares.size() == expected.size());
            REQUIRE(got == expected);
        }
    }
}

TEST_CASE("a channel's share is cut into runs that hold each burst once") {
    std::mt19937_64 random(8);
    using Key =
        std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;  // local, bank, row, column
    for (const std::string& text : kMaps) {
        DramSpec spec = small(text);
        const AddressMap map(spec);
        std::map<std::int64_t, Place> places;  // of channel 0, by local number
        const std::int64_t bursts = spec.capacity() / spec.burst_bytes;
        for (std::int64_t burst = 0; burst < bursts; ++burst)
            if (const Place place = place_of(spec, burst); place.channel == 0) places[place.local] = place;
        for (int round = 0; round < 300; ++round) {
            const auto first = static_cast<std::int64_t>(random() % places.size());
            const std::int64_t count =
                std::min<std::int64_t>(static_cast<std::int64_t>(1 + random() % 400),
                                       static_cast<std::int64_t>(places.size()) - first);
            std::vector<RowRun> runs;
            map.cut(first, count, runs);
            std::vector<Key> got, expected;
            std::int64_t previous = -1;
            for (const RowRun& run : runs) {
                REQUIRE(run.origin + map.scatter(run.column) > previous);
                previous = run.origin + map.scatter(run.column);
                for (std::int64_t c = run.column; c < run.column + run.columns; ++c)
                    got.emplace_back(run.origin + map.scatter(c), run.bank, run.row, c);
            }
            for (std::int64_t i = first; i < first + count; ++i)
                expected.emplace_back(i, places[i].bank, places[i].row, places[i].column);
            std::sort(got.begin(), got.end());
            INFO(text << " first " << first << " count " << count);
            REQUIRE(got == expected);
        }
    }
}

TEST_CASE("a map that does not fit the organisation is refused in words") {
    const auto fault = [](const std::string& map) { return address_map_fault(small(map)); };
    CHECK(fault("ch3 bg2 co4 ba2 ro4").empty());
    CHECK(fault("ch3 bg2 co4 ba2 ro5") == "the map gives 5 ro bits, the organisation has 4");
    CHECK(fault("bg2 co4 ba2 ro4") == "the map gives 0 ch bits, the organisation has 3");
    CHECK(fault("ch3 bg2 co2 ro4 co2 ba2") == "row bits must lie above all column bits");
    CHECK(fault("ch3, bg2") ==
          "expected fields such as 'ch bg2 co5 ba2 ro', from the least significant bit; one without a number "
          "takes "
          "what is left of its kind, once");
    CHECK_FALSE(fault("xx3").empty());
    CHECK_FALSE(fault("ch").empty());
}

}  // namespace systole::test
