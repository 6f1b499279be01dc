// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/residency.h"

#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

using namespace systole;

namespace {

using Addresses = std::vector<std::optional<std::int64_t>>;

bool meet(const Lifetime& a, const Lifetime& b) {
    return a.born <= b.last && b.born <= a.last;
}

}  // namespace

TEST_CASE("what is read soon and often stays, what waits long goes", "[workload]") {
    // The first waits for eight layers to be read once; each of the others is read by the next layer.
    const std::vector<Lifetime> lives = {{0, 8, 100, 2}, {1, 2, 60, 2}, {2, 3, 60, 2}, {3, 4, 60, 3}};
    CHECK(choose_resident(lives, 120) == Addresses{std::nullopt, 0, 60, 0});
    CHECK(choose_resident(lives, 220) == Addresses{120, 0, 60, 0});
    CHECK(choose_resident(lives, 59) == Addresses(4));
}

TEST_CASE("a place is used again as soon as its tensor is dead, and a gap is filled", "[workload]") {
    const std::vector<Lifetime> lives = {{0, 1, 30, 2}, {1, 2, 50, 2}, {2, 3, 30, 2}, {2, 3, 40, 2}};
    // The third takes the place of the first, below the second; the fourth does not fit there.
    CHECK(choose_resident(lives, 120) == Addresses{0, 30, 0, 80});
    CHECK(choose_resident(lives, 119) == Addresses{0, 30, 0, std::nullopt});
}

TEST_CASE("what would save nothing has no place, however much room there is", "[workload]") {
    CHECK(choose_resident({{0, 1, 8, 0}, {0, 1, 8, 1}}, 1'000) == Addresses{std::nullopt, 0});
}

TEST_CASE("whoever waits for more than the longest stay is left in DRAM", "[workload]") {
    CHECK(choose_resident({{3, 3 + kLongestStay, 8, 1}}, 8) == Addresses{0});
    CHECK(choose_resident({{3, 4 + kLongestStay, 8, 1}}, 8) == Addresses(1));
}

TEST_CASE("residents never share a byte and never leave their space", "[workload]") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        INFO("seed " << seed);
        std::mt19937_64 random(seed);
        const auto below = [&](std::uint64_t n) { return random() % n; };
        const std::uint64_t layers = 1 + below(seed % 3 == 0 ? 900 : 40);
        std::vector<Lifetime> lives(1 + below(60));
        for (Lifetime& life : lives) {
            life.born = below(layers);
            life.last = life.born + below(layers - life.born);
            life.bytes = static_cast<std::int64_t>(1 + below(50));
            life.saved = static_cast<std::int64_t>(below(4));
        }
        const auto capacity = static_cast<std::int64_t>(below(200));
        const Addresses placed = choose_resident(lives, capacity);
        REQUIRE(placed.size() == lives.size());
        REQUIRE(placed == choose_resident(lives, capacity));
        for (std::size_t a = 0; a < lives.size(); ++a) {
            if (!placed[a]) continue;
            REQUIRE(*placed[a] >= 0);
            REQUIRE(*placed[a] + lives[a].bytes <= capacity);
            for (std::size_t b = 0; b < a; ++b) {
                if (!placed[b] || !meet(lives[a], lives[b])) continue;
                const bool apart =
                    *placed[a] + lives[a].bytes <= *placed[b] || *placed[b] + lives[b].bytes <= *placed[a];
                REQUIRE(apart);
            }
        }
    }
}
