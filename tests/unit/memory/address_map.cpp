// SPDX-License-Identifier: Apache-2.0
#include "models/memory/addresses/address_map.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "tests/support/seeds.h"
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

const std::vector<std::string> kMaps{"ch3 bg2 co4 ba2 ro4",
                                     "co4 ch3 ba2 bg2 ro4",
                                     "bg2 co2 ch1 co2 ch2 ba2 ro4",
                                     "ch1 co1 bg1 co3 bg1 ba1 ch2 ro2 ba1 ro2",
                                     "ch3^ro1 bg2^ro0 co4 ba2^ro2 ro4",
                                     "bg2^ro0^ro2 co2 ch1^ro3 co2 ch2^ro0^ro1 ba2 ro4",
                                     "ch1 co1 bg1^ro2 co3 bg1^ro3 ba1 ch2^ro0^ro2 ro2 ba1^ro0^ro1 ro2"};

struct Place {
    std::int64_t channel, bank, row, column, local;
};

/// Bit by bit, lowest first: where burst `burst` of the whole memory lies.
Place place_of(const DramSpec& spec, std::int64_t burst) {
    std::int64_t value[5] = {}, taken[5] = {}, local = 0;
    int local_bits = 0;
    struct Hashed {
        std::size_t kind;
        std::int64_t bit, row_bit;
    };
    std::vector<Hashed> hashed;  // bit `bit` of the kind flips with row bit `row_bit`
    const auto fields = parse_address_map(spec.address_map);
    for (const AddressField& field : *fields) {
        const auto kind = static_cast<std::size_t>(field.kind);
        for (int i = 0; i < field.bits; ++i, burst >>= 1) {
            for (const int from : field.hashes) hashed.push_back({kind, taken[kind], from + i});
            value[kind] |= (burst & 1) << taken[kind]++;
            if (field.kind != AddressField::Kind::Channel) local |= (burst & 1) << local_bits++;
        }
    }
    for (const Hashed& flip : hashed)
        if (value[3] >> flip.row_bit & 1) value[flip.kind] ^= std::int64_t{1} << flip.bit;
    return {value[0], value[1] * spec.banks_per_group + value[2], value[3], value[4], local};
}

std::int64_t pick(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// A legal map of small(): the fields in pieces, shuffled with columns below rows, some of them hashed.
std::string random_map(std::mt19937_64& random) {
    struct Name {
        const char* name;
        int bits;
    };
    std::vector<std::string> low, high;
    for (const Name& field : {Name{"ch", 3}, {"bg", 2}, {"ba", 2}, {"co", 4}, {"ro", 4}}) {
        const std::string name = field.name;
        for (int left = field.bits; left > 0;) {
            const auto bits = static_cast<int>(pick(random, 1, left));
            left -= bits;
            std::string text = name + std::to_string(bits);
            if (name == "co" || name == "ro") {
                (name == "co" ? low : high).push_back(text);
                continue;
            }
            std::set<std::int64_t> terms;
            for (std::int64_t i = pick(random, 0, 2); i > 0; --i) terms.insert(pick(random, 0, 4 - bits));
            for (const std::int64_t term : terms) text += "^ro" + std::to_string(term);
            // a hashed channel below all rows
            (pick(random, 0, 1) == 0 || (name == "ch" && !terms.empty()) ? low : high).push_back(text);
        }
    }
    std::shuffle(low.begin(), low.end(), random);
    std::shuffle(high.begin(), high.end(), random);
    std::string map;
    for (const auto* part : {&low, &high})
        for (const std::string& field : *part) map += (map.empty() ? "" : " ") + field;
    return map;
}

/// The maps above and as many random ones.
std::vector<std::string> all_maps(std::mt19937_64& random) {
    std::vector<std::string> maps = kMaps;
    for (std::uint64_t i = 0; i < enough(30); ++i) maps.push_back(random_map(random));
    return maps;
}

}  // namespace

TEST_CASE("a range is split into the bursts that lie in each channel") {
    std::mt19937_64 random(7);
    for (const std::string& text : all_maps(random)) {
        const DramSpec spec = small(text);
        const AddressMap map(spec);
        const std::int64_t capacity = spec.capacity().value();
        for (int round = 0; round < 100; ++round) {
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
    for (const std::string& text : all_maps(random)) {
        DramSpec spec = small(text);
        const AddressMap map(spec);
        std::map<std::int64_t, Place> places;  // of channel 0, by local number
        const std::int64_t bursts = spec.capacity() / spec.burst_bytes;
        for (std::int64_t burst = 0; burst < bursts; ++burst)
            if (const Place place = place_of(spec, burst); place.channel == 0) places[place.local] = place;
        for (int round = 0; round < 100; ++round) {
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

TEST_CASE("one burst is found without cutting, and no two share a place") {
    std::mt19937_64 random(9);
    int odd = 0;
    const std::vector<std::string> maps = all_maps(random);
    for (std::size_t i = 0; i < 3 * maps.size(); ++i) {
        DramSpec spec = small(maps[i / 3]);
        spec.rows = std::array{16, 12, 11}[i % 3];  // the highest bits count rows that are no power of two
        INFO(spec.address_map << ", " << spec.rows << " rows");
        if (!address_map_fault(spec).empty()) {
            REQUIRE(spec.rows != 16);
            continue;
        }
        odd += spec.rows != 16;
        const AddressMap map(spec);
        std::set<std::tuple<int, int, std::int64_t, std::int64_t>> seen;
        for (std::int64_t burst = 0; burst < spec.capacity() / spec.burst_bytes; ++burst) {
            const Place expected = place_of(spec, burst);
            const ChannelShare share = map.share_of(burst * 32 + burst % 32);
            const RowRun run = map.locate(share.first);
            const bool found = share.bus == expected.channel && share.first == expected.local &&
                               share.count == 1 && run.bank == expected.bank && run.row == expected.row &&
                               run.row < spec.rows && run.column == expected.column && run.columns == 1 &&
                               run.origin + map.scatter(run.column) == expected.local;
            if (!found) FAIL("burst " << burst);
            seen.emplace(share.bus, run.bank, run.row, run.column);
        }
        REQUIRE(static_cast<std::int64_t>(seen.size()) == spec.capacity() / spec.burst_bytes);
    }
    CHECK(odd >= 8);
}

TEST_CASE("a hash spreads a stride of whole rows over the bank groups, and breaks their rotation") {
    DramSpec spec = small("ch3 bg2 co4 ba2 ro4");
    CHECK(AddressMap(spec).groups_lowest());
    spec.address_map = "ch3 bg2^ro0 co4 ba2 ro4";
    const AddressMap map(spec);
    CHECK_FALSE(map.groups_lowest());
    CHECK(map.column_stride() == 4);
    const std::int64_t row_bytes = 32 * 8 * 4 * 16 * 4;  // from row to row of one bank
    for (int row = 0; row < 4; ++row)
        CHECK(map.locate(map.share_of(row * row_bytes).first).bank == row * spec.banks_per_group);
}

TEST_CASE("places but for the row come again after a cycle of addresses, and not after half of it") {
    std::mt19937_64 random(11);
    for (const std::string& text : all_maps(random)) {
        CAPTURE(text);
        const DramSpec spec = small(text);
        const AddressMap map(spec);
        const std::int64_t cycle = address_cycle(spec), capacity = spec.capacity().value();
        const auto place = [&](std::int64_t address) {
            const ChannelShare share = map.share_of(address);
            const RowRun run = map.locate(share.first);
            return std::tuple(share.bus, run.bank, run.column);
        };
        bool half_is_elsewhere = false;
        for (std::int64_t address = 0; address + cycle < capacity; address += 4096 + 32) {
            REQUIRE(place(address) == place(address + cycle));
            half_is_elsewhere = half_is_elsewhere || place(address) != place(address + cycle / 2);
        }
        CHECK((half_is_elsewhere || cycle == capacity));
    }
    CHECK(address_cycle(small("ch3 bg2 co4 ba2 ro4")) == 32 << 11);
    CHECK(address_cycle(small("ch3 bg2^ro1 co4 ba2 ro4")) == 32 << 14);
}

TEST_CASE("a map that does not fit the organisation is refused in words") {
    const auto fault = [](const std::string& map) { return address_map_fault(small(map)); };
    CHECK(fault("ch3 bg2 co4 ba2 ro4").empty());
    CHECK(fault("ch3 bg2 co4 ba2 ro5") == "the map gives 5 ro bits, the organisation has 4");
    CHECK(fault("bg2 co4 ba2 ro4") == "the map gives 0 ch bits, the organisation has 3");
    CHECK(fault("ch3 bg2 co2 ro4 co2 ba2") == "row bits must lie above all column bits");
    CHECK(fault("ch3, bg2").find("expected fields such as 'ch bg2^ro0 co5 ba2 ro'") == 0);
    CHECK_FALSE(fault("xx3").empty());
    CHECK_FALSE(fault("ch").empty());
    CHECK(fault("ch3^ro1 bg2^ro2^ro0 co4 ba2 ro4").empty());
    CHECK(fault("ch bg^ro0 co ba ro").empty());
    CHECK(fault("ch3 bg2^ro3 co4 ba2 ro4") == "bg2^ro3 takes row bits 3 to 4; the organisation has 4");
    CHECK(fault("ch3 bg2^ro1^ro1 co4 ba2 ro4") == "bg2^ro1 twice is as good as never");
    CHECK(fault("ch3 bg2 co4^ro0 ba2 ro4") ==
          "co bits stand for themselves; only ch, bg and ba can be hashed");
    CHECK(fault("bg2 co4 ba2 ro3 ch3^ro0 ro1").find("only with row bits above its own") != std::string::npos);
    const auto fault_of_rows = [](int rows, const std::string& map) {
        DramSpec spec = small(map);
        spec.rows = rows;
        return address_map_fault(spec);
    };
    CHECK(fault_of_rows(11, "ch3 bg2 co4 ba2 ro4").empty());
    CHECK(fault_of_rows(12, "ch3 bg2 co4 ro2 ba2 ro2").empty());
    const std::string odd = " rows are no power of two: the map must end in the bits that count them";
    CHECK(fault_of_rows(11, "ch3 bg2 co4 ro2 ba2 ro2") == "11" + odd);
    CHECK(fault_of_rows(12, "ch3 bg2 co4 ro4 ba2") == "12" + odd);
    CHECK(fault_of_rows(17, "ch3 bg2 co4 ba2 ro4") == "the map gives 4 ro bits, the organisation has 5");
    for (const char* malformed : {"ch3 bg2^ co4 ba2 ro4", "ch3 bg2^ba0 co4 ba2 ro4", "ch3 bg2^ro co4 ba2 ro4",
                                  "ch3 bg2^ro-1 co4 ba2 ro4", "ch3 bg2ro0 co4 ba2 ro4"})
        CHECK(fault(malformed).find("expected fields") == 0);
}

}  // namespace systole::test
