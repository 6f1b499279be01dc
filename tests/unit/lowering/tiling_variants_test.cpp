// SPDX-License-Identifier: Apache-2.0
// What is tried besides the tiling of least estimated time, on sizes that can be followed by hand.
#include "models/devices/systolic/lowering/tiling_variants.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/unit/lowering/tiling_requests.h"

namespace systole::systolic {
namespace {

bool alike(std::int64_t a, std::int64_t b) {
    return 5 * std::max(a, b) < 6 * std::min(a, b);
}

bool same_units(const Tiling& a, const Tiling& b) {
    return a.split_items == b.split_items && a.split_m == b.split_m && a.split_n == b.split_n;
}

/// Traits in which two tilings agree; nesting the loops is none where one of them has a single round.
int common_traits(const TilingRequest& r, const Tiling& a, const Tiling& b) {
    const auto rounds_of_m = [&](const Tiling& t) {
        return ceil_div(r.row_blockings[t.blocking].blocks, t.split_m);
    };
    const auto rounds_of_n = [&](const Tiling& t) {
        return ceil_div(ceil_div(r.n_tiles, t.n_tiles), t.split_n);
    };
    const auto m_outer = [&](const Tiling& t) {
        return t.m_outer || rounds_of_m(t) == 1 || rounds_of_n(t) == 1;
    };
    return int{same_units(a, b)} +
           int{alike(r.row_blockings[a.blocking].rows, r.row_blockings[b.blocking].rows)} +
           int{alike(a.n_tiles, b.n_tiles)} + int{alike(a.k_tiles, b.k_tiles)} +
           int{m_outer(a) == m_outer(b)};
}

}  // namespace

TEST_CASE("Variants begin with the chosen tiling, fit the machine, and are not alike in all") {
    for (const std::int64_t m : {64, 500, 2048})
        for (const std::int64_t n_tiles : {1, 3, 8})
            for (const std::int64_t k_tiles : {1, 5, 16}) {
                const TilingRequest r = request(m, n_tiles, k_tiles, 4);
                const Tiling chosen = choose_tiling(r).value();
                const std::vector<Tiling> variants = tiling_variants(r, chosen, 16);
                CAPTURE(m, n_tiles, k_tiles, variants.size());
                CHECK(variants.size() <= 16);
                CHECK(common_traits(r, variants.at(0), chosen) == 5);
                CHECK(variants.at(0).cycles == chosen.cycles);
                for (std::size_t i = 0; i < variants.size(); ++i) {
                    CHECK(obstacle(r, variants[i]).empty());
                    CHECK(variants[i].cycles <= (1 + kDoubt) * chosen.cycles);
                    for (std::size_t j = 0; j < i; ++j) CHECK(common_traits(r, variants[i], variants[j]) < 5);
                }
            }
}

TEST_CASE("A longer list of variants begins with the shorter one") {
    const TilingRequest r = request(2048, 8, 8, 4);
    const Tiling chosen = choose_tiling(r).value();
    const std::vector<Tiling> few = tiling_variants(r, chosen, 3), many = tiling_variants(r, chosen, 10);
    REQUIRE(few.size() == 3);
    REQUIRE(many.size() > 3);
    for (std::size_t i = 0; i < few.size(); ++i) CHECK(common_traits(r, few[i], many[i]) == 5);
    CHECK(tiling_variants(r, chosen, 1).size() == 1);
}

TEST_CASE("The next variant is the one of least estimate and fewest traits in common with those before it") {
    const TilingRequest r = request(2048, 8, 8, 4);
    const Tiling chosen = choose_tiling(r).value();
    const std::vector<Tiling> variants = tiling_variants(r, chosen, 8);
    const auto rank = [&](const Tiling& tiling, std::size_t before) {
        int common = 0;
        for (std::size_t i = 0; i < before; ++i)
            common = std::max(common, common_traits(r, tiling, variants[i]));
        return common == 5 ? 1e9 : tiling.cycles / chosen.cycles + kDoubt * common / 5;
    };
    REQUIRE(variants.size() > 4);
    for (std::size_t i = 1; i < variants.size(); ++i)
        for (const Tiling& other : tilings(r))
            if (other.cycles <= (1 + kDoubt) * chosen.cycles)
                CHECK(rank(variants[i], i) <= rank(other, i) + 1e-12);
}

TEST_CASE("Where nothing else comes near, there are no variants") {
    TilingRequest r = request(1, 1, 1, 1);
    r.row_blockings.resize(1);
    CHECK(tiling_variants(r, choose_tiling(r).value(), 8).size() == 1);
}

}  // namespace systole::systolic
