// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/pattern.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

using namespace systole;
using Kind = PatternSpec::Kind;

namespace {

constexpr PatternTarget kTarget{32, 2, 4};

std::vector<MemoryRequest> make(PatternSpec spec, std::int64_t requests) {
    spec.requests = requests;
    INFO(pattern_fault(spec, kTarget));
    REQUIRE(pattern_fault(spec, kTarget).empty());
    const auto source = make_pattern(spec, kTarget);
    std::vector<MemoryRequest> made;
    for (MemoryRequest request; source->next(request);) made.push_back(request);
    REQUIRE(std::ssize(made) == requests);
    return made;
}

std::vector<std::int64_t> addresses(const std::vector<MemoryRequest>& requests) {
    std::vector<std::int64_t> list;
    for (const MemoryRequest& request : requests) list.push_back(request.address);
    return list;
}

}  // namespace

TEST_CASE("a stream begins anew at the end of its span") {
    CHECK(addresses(make({.kind = Kind::Stream, .base = 64, .span = 96}, 5)) ==
          std::vector<std::int64_t>{64, 96, 128, 64, 96});
}

TEST_CASE("a stride's second turn takes the bursts beside those of the first") {
    CHECK(addresses(make({.kind = Kind::Stride, .span = 256, .stride = 128}, 6)) ==
          std::vector<std::int64_t>{0, 128, 32, 160, 64, 192});
}

TEST_CASE("tiles go from left to right, then down, the last of a row narrower") {
    // A matrix of rows of 96 bytes, tiles of two rows and 64 bytes, two bands.
    CHECK(addresses(
              make({.kind = Kind::Tile, .span = 384, .tile_rows = 2, .tile_bytes = 64, .width = 96}, 13)) ==
          std::vector<std::int64_t>{0, 32, 96, 128, 64, 160, 192, 224, 288, 320, 256, 352, 0});
}

TEST_CASE("a sum reads a chunk of both operands and writes one of the result") {
    const auto made = make({.kind = Kind::Add, .span = 3072, .chunk = 64, .skew = 32}, 8);
    CHECK(addresses(made) ==
          std::vector<std::int64_t>{0, 32, 1024 + 32, 1024 + 64, 2048 + 64, 2048 + 96, 64, 96});
    for (std::size_t i = 0; i < made.size(); ++i)
        CHECK(made[i].direction == (i == 4 || i == 5 ? Direction::Write : Direction::Read));
}

TEST_CASE("random bursts are the same for the same seed, aligned, and all over the span") {
    const PatternSpec spec{.kind = Kind::Random, .base = 1024, .span = 1024, .seed = 5};
    const auto made = addresses(make(spec, 500));
    CHECK(made == addresses(make(spec, 500)));
    PatternSpec other = spec;
    other.seed = 6;
    CHECK(made != addresses(make(other, 500)));
    for (const std::int64_t address : made) CHECK((address % 32 == 0 && address >= 1024 && address < 2048));
    CHECK(std::set<std::int64_t>(made.begin(), made.end()).size() == 32);
}

TEST_CASE("the random sequence is that of the Mersenne Twister, whatever the platform") {
    // The upper four bits of the first numbers of an independent mt19937_64 with the standard seed.
    const auto made = addresses(make({.kind = Kind::Random, .span = 16 * 32, .seed = 5489}, 3));
    CHECK(made == std::vector<std::int64_t>{12 * 32, 4 * 32, 11 * 32});
}

TEST_CASE("writes are as many as asked for, and leave the addresses alone") {
    const auto reads = make({.kind = Kind::Random, .span = 1 << 20}, 10'000);
    const auto mixed = make({.kind = Kind::Random, .span = 1 << 20, .writes = 330'000}, 10'000);
    CHECK(addresses(reads) == addresses(mixed));
    const auto writes =
        std::count_if(mixed.begin(), mixed.end(), [](auto& r) { return r.direction == Direction::Write; });
    CHECK(std::abs(writes - 3300) < 200);
    const auto all = make({.kind = Kind::Stream, .span = 1 << 20, .writes = 1'000'000}, 100);
    CHECK(std::all_of(all.begin(), all.end(), [](auto& r) { return r.direction == Direction::Write; }));
}

TEST_CASE("a load spaces requests by what the buses take together") {
    // A quarter of four buses of two clocks a burst: one burst every two clocks.
    const auto made = make({.kind = Kind::Stream, .span = 1 << 20, .load = 250'000}, 5);
    for (std::size_t i = 0; i < made.size(); ++i)
        CHECK(made[i].clock == Cycles(2 * static_cast<std::int64_t>(i)));
    // Three quarters: 2/3 of a clock, rounded down.
    const auto fast = make({.kind = Kind::Stream, .span = 1 << 20, .load = 750'000}, 4);
    CHECK((fast[1].clock == Cycles(0) && fast[2].clock == Cycles(1) && fast[3].clock == Cycles(2)));
}

TEST_CASE("a pattern that cannot be is refused") {
    CHECK(pattern_fault({.kind = Kind::Stride, .span = 1024, .stride = 48}, kTarget).find("stride") == 0);
    CHECK_FALSE(pattern_fault({.kind = Kind::Tile, .span = 1 << 20, .tile_bytes = 8192}, kTarget).empty());
    CHECK_FALSE(pattern_fault({.kind = Kind::Tile, .span = 8192, .tile_rows = 3}, kTarget).empty());
    CHECK_FALSE(pattern_fault({.kind = Kind::Add, .span = 1 << 20, .writes = 5}, kTarget).empty());
    CHECK_FALSE(pattern_fault({.kind = Kind::Add, .span = 64}, kTarget).empty());
}
