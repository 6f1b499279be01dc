// SPDX-License-Identifier: Apache-2.0
// Cycles per vector: by hand, and against counting every byte of every vector.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "models/devices/systolic/mxu/port_schedule.h"
#include "tests/support/seeds.h"

namespace systole {

namespace {

/// The bank of a line, by the definition of the maps.
std::int64_t bank_of(const BankedPort& port, std::int64_t line) {
    const std::int64_t in_turn = line % port.banks;
    return port.kind == BankMapKind::Xor ? in_turn ^ (line / port.banks % port.banks) : in_turn;
}

/// A port of up to `banks` banks and `width` bytes, of either map and up to three lines a bank and cycle.
template <class Draw>
BankedPort any_port(const Draw& draw, int banks, int width) {
    BankedPort port{static_cast<int>(draw(1, banks)), Bytes(draw(1, width))};
    if (draw(0, 1) == 0) {
        port.kind = BankMapKind::Xor;
        while ((port.banks & (port.banks - 1)) != 0) --port.banks;
    }
    if (draw(0, 2) == 0) port.lines = static_cast<int>(draw(1, 3));
    return port;
}

/// The slow twin: every byte of every vector names its line; nothing is folded. `load`: lines by bank.
Rational counted(const BankedPort& port, const AddressStream& stream,
                 std::map<std::int64_t, std::int64_t>* load = nullptr) {
    std::int64_t cycles = 0;
    const auto& [outer, middle, inner] = stream.levels;
    for (std::int64_t n = 0; n < stream.vectors(); ++n) {
        const std::int64_t base =
            stream.base.value() + n / inner.count / middle.count * outer.stride.value() +
            n / inner.count % middle.count * middle.stride.value() + n % inner.count * inner.stride.value();
        std::map<std::int64_t, std::set<std::int64_t>> lines_of_bank;
        for (const Segment& segment : stream.segments) {
            for (std::int64_t byte = 0; byte < segment.bytes.value(); ++byte) {
                const std::int64_t line = (base + segment.offset.value() + byte) / port.bank_width.value();
                lines_of_bank[bank_of(port, line)].insert(line);
            }
        }
        std::int64_t worst = 0;
        for (const auto& [bank, lines] : lines_of_bank) {
            const auto count = static_cast<std::int64_t>(lines.size());
            worst = std::max(worst, ceil_div(count, port.lines));
            if (load != nullptr) (*load)[bank] += count;
        }
        cycles += worst;
    }
    return Rational::reduced(cycles, stream.vectors());
}

AddressStream rows_of(Bytes base, Bytes bytes, std::int64_t count, Bytes stride) {
    return {.base = base,
            .segments = {{Bytes(0), bytes}},
            .levels = {StreamLevel{}, StreamLevel{}, {count, stride}}};
}

}  // namespace

TEST_CASE("an aligned row as wide as all banks takes one cycle") {
    CHECK(cycles_per_vector({8, Bytes(32)}, rows_of(Bytes(0), Bytes(256), 100, Bytes(256))) ==
          Rational{1, 1});
}

TEST_CASE("the same row one byte off touches one more line, in the bank of its first: two cycles") {
    CHECK(cycles_per_vector({8, Bytes(32)}, rows_of(Bytes(1), Bytes(256), 100, Bytes(256))) ==
          Rational{2, 1});
}

TEST_CASE("a row three times as wide as all banks takes three cycles") {
    CHECK(cycles_per_vector({4, Bytes(16)}, rows_of(Bytes(0), Bytes(192), 10, Bytes(192))) == Rational{3, 1});
}

TEST_CASE("rows of 64 bytes that begin every 16 bytes on two banks of 32 take one and two cycles in turn") {
    // They begin at 0, 16, 32, 48 (mod 64): lines {0,1}, {0,1,2}, {1,2}, {1,2,3}.
    CHECK(cycles_per_vector({2, Bytes(32)}, rows_of(Bytes(0), Bytes(64), 40, Bytes(16))) == Rational{3, 2});
    // Of 41 such rows, 21 take one cycle and 20 take two.
    CHECK(cycles_per_vector({2, Bytes(32)}, rows_of(Bytes(0), Bytes(64), 41, Bytes(16))) == Rational{61, 41});
}

TEST_CASE("two segments in different lines of one bank take two cycles, in different banks one") {
    AddressStream taps = rows_of(Bytes(0), Bytes(16), 40, Bytes(48));
    taps.segments.push_back({Bytes(64), Bytes(16)});
    CHECK(cycles_per_vector({2, Bytes(32)}, taps) == Rational{2, 1});
    CHECK(cycles_per_vector({4, Bytes(32)}, taps) == Rational{1, 1});
}

TEST_CASE("two segments in the same line are served once") {
    AddressStream stream = rows_of(Bytes(0), Bytes(4), 16, Bytes(64));
    stream.segments.push_back({Bytes(8), Bytes(4)});
    CHECK(cycles_per_vector({1, Bytes(16)}, stream) == Rational{1, 1});
}

TEST_CASE("vectors lie as three loops visit them, the innermost first") {
    AddressStream stream;
    stream.levels = {StreamLevel{2, Bytes(1000)}, StreamLevel{3, Bytes(100)}, StreamLevel{5, Bytes(1)}};
    std::int64_t number = 0;
    for (std::int64_t outer = 0; outer < 2; ++outer)
        for (std::int64_t middle = 0; middle < 3; ++middle)
            for (std::int64_t inner = 0; inner < 5; ++inner)
                CHECK(stream.offset_of(number++) == Bytes(1000 * outer + 100 * middle + inner));
}

TEST_CASE("folding whole periods gives what counting every byte of every vector gives") {
    const std::uint64_t seed = 4242;
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto draw = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    for (std::uint64_t n = 0; n < test::enough(1500); ++n) {
        const BankedPort port = any_port(draw, 9, 16);
        AddressStream stream{.base = Bytes(draw(0, 500) + 20'000), .segments = {}, .levels = {}};
        for (std::int64_t left = draw(1, 4); left > 0; --left)
            stream.segments.push_back({Bytes(draw(-40, 200)), Bytes(draw(1, 60))});
        for (StreamLevel& level : stream.levels) level = {draw(1, 12), Bytes(draw(-150, 300))};
        std::map<std::int64_t, std::int64_t> load;
        const Rational expected = counted(port, stream, &load);
        const Rational found = cycles_per_vector(port, stream);
        REQUIRE(found.num == expected.num);
        REQUIRE(found.den == expected.den);
        const BankLoad by_bank = vector_load(port, stream);
        for (int bank = 0; bank < port.banks; ++bank)
            REQUIRE(by_bank.lines()[static_cast<std::size_t>(bank)] == load[bank]);
    }
}

TEST_CASE("buffered reads take what the busiest bank serves, short vectors sharing a line") {
    // Sixteen vectors of four bytes, one behind the other: four lines of sixteen bytes.
    const AddressStream packed = rows_of(Bytes(0), Bytes(4), 16, Bytes(4));
    CHECK(buffered_cycles({1, Bytes(16)}, packed, 0, 16) == 4);
    CHECK(buffered_cycles({2, Bytes(16)}, packed, 0, 16) == 2);
    CHECK(buffered_cycles({4, Bytes(16)}, packed, 0, 16) == 1);
    CHECK(buffered_cycles({1, Bytes(16)}, packed, 3, 2) ==
          2);  // the end of one line, the beginning of the next
    CHECK(buffered_cycles({1, Bytes(16)}, packed, 4, 4) == 1);
    // 64 bytes apart on four banks of sixteen: all in bank 0.
    CHECK(buffered_cycles({4, Bytes(16)}, rows_of(Bytes(0), Bytes(4), 16, Bytes(64)), 0, 16) == 16);
    // The same line again and again is still its bytes: 8 x 64 of at most 64 a cycle.
    CHECK(buffered_cycles({4, Bytes(16)}, rows_of(Bytes(0), Bytes(64), 8, Bytes(0)), 0, 8) == 8);
}

TEST_CASE("buffered reads and streams without conflicts give what counting every byte gives") {
    const std::uint64_t seed = 77;
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto draw = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    int free = 0;
    for (int n = 0; n < 1000; ++n) {
        const BankedPort port = any_port(draw, 64, 32);
        AddressStream stream{.base = Bytes(draw(0, 500) + 20'000), .segments = {}, .levels = {}};
        stream.segments = {{Bytes(draw(-40, 40)), Bytes(draw(1, 60))}, {Bytes(draw(-40, 40)), Bytes(1)}};
        for (StreamLevel& level : stream.levels) level = {draw(1, 4), Bytes(draw(-50, 50))};
        const std::int64_t first = draw(0, stream.vectors() - 1);
        const std::int64_t count = draw(1, stream.vectors() - first);
        std::map<std::int64_t, std::set<std::int64_t>> lines_of_bank;
        std::int64_t bytes = 0;
        for (std::int64_t vector = first; vector < first + count; ++vector) {
            std::multiset<std::int64_t> lines;  // of each segment anew
            for (const Segment& segment : stream.segments) {
                std::int64_t at_before = -1;
                for (std::int64_t byte = 0; byte < segment.bytes.value(); ++byte, ++bytes) {
                    const Bytes at = stream.base + stream.offset_of(vector) + segment.offset + Bytes(byte);
                    const std::int64_t line = at / port.bank_width;
                    lines_of_bank[bank_of(port, line)].insert(line);
                    if (byte == 0 || line != at_before) lines.insert(line);
                    at_before = line;
                }
            }
            CHECK(static_cast<std::int64_t>(lines.size()) <= most_lines(port, stream));
        }
        std::int64_t expected = ceil_div(bytes, port.bytes_a_cycle());
        for (const auto& [bank, lines] : lines_of_bank)
            expected = std::max(expected, ceil_div(static_cast<std::int64_t>(lines.size()), port.lines));
        CHECK(buffered_cycles(port, stream, first, count) == expected);
        const BankLoad by_bank = buffered_load(port, stream, first, count);
        for (int bank = 0; bank < port.banks; ++bank)
            CHECK(by_bank.lines()[static_cast<std::size_t>(bank)] ==
                  static_cast<std::int64_t>(lines_of_bank[bank].size()));
        bool everywhere = true;
        for (std::int64_t base = 0; base < port.period(); ++base)
            everywhere = everywhere && conflict_free(port, stream, Bytes(20'000 + base));
        CHECK(never_conflicts(port, stream) == everywhere);
        if (!conflict_free(port, stream, stream.base)) continue;
        ++free;
        CHECK(counted(port, stream) == Rational{1, 1});
    }
    CHECK(free > 100);
}

TEST_CASE("of a stream with more distinct vectors than are looked at, the first ones count") {
    AddressStream stream = rows_of(Bytes(0), Bytes(200), 30'000, Bytes(3));  // a period of 16,384 vectors
    stream.segments.push_back({Bytes(12'388), Bytes(200)});
    const BankedPort port{4, Bytes(4096)};
    const Rational found = cycles_per_vector(port, stream);
    stream.levels[2].count = kMaxPeriod;
    CHECK(found == counted(port, stream));
    CHECK(found.den != 1);
}

}  // namespace systole
