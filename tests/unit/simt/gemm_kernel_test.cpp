// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/gemm_kernel.h"

#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <set>
#include <vector>

namespace systole::simt {
namespace {

GemmKernel kernel(std::int64_t tiles_m, std::int64_t tiles_n, std::int64_t panel) {
    GemmKernel made;
    made.tile = {.m = 64, .n = 128, .k = 32};
    made.shape.m = tiles_m * 64 - 5;  // an edge tile counts as one
    made.shape.n = tiles_n * 128 - 127;
    made.shape.k = 100;
    made.raster.panel = panel;
    return made;
}

/// The order as nested loops.
std::vector<CtaPlace> in_loops(const GemmKernel& kernel, std::int64_t tiles_m, std::int64_t tiles_n) {
    std::vector<CtaPlace> places;
    for (std::int64_t batch = 0; batch < kernel.shape.batch; ++batch)
        for (std::int64_t part = 0; part < kernel.split_k; ++part)
            for (std::int64_t first = 0; first < tiles_n; first += kernel.raster.panel)
                for (std::int64_t m = 0; m < tiles_m; ++m)
                    for (std::int64_t n = first; n < first + kernel.raster.panel && n < tiles_n; ++n)
                        places.push_back({batch, part, m, n});
    return places;
}

}  // namespace

TEST_CASE("CTAs go down panels: n fastest inside a panel's row, then m, then panels") {
    const GemmKernel two = kernel(2, 3, 2);
    const std::vector<CtaPlace> expected{{0, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, 1, 0},
                                         {0, 0, 1, 1}, {0, 0, 0, 2}, {0, 0, 1, 2}};
    REQUIRE(two.ctas() == 6);
    for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK(place_of(two, static_cast<std::int64_t>(i)) == expected[i]);
}

TEST_CASE("Only matrices smaller than a tile leave part of every tile without results") {
    GemmKernel one = kernel(1, 1, 1);  // 59 x 1 of 64 x 128
    CHECK(one.stored_share() == 59.0 / 64 / 128);
    one.shape.n = 128;
    CHECK(one.stored_share() == 59.0 / 64);
    CHECK(kernel(2, 3, 2).stored_share() == 1);  // edge tiles are taken as whole ones
}

TEST_CASE("What others of a cluster copy passes an SM's port, or comes beside") {
    GemmKernel one;
    one.tile = {.m = 128, .n = 256, .k = 64, .stages = 6, .groups_m = 1, .groups_n = 1, .cluster_m = 2};
    one.shape = {1, 1024, 1024, 1024};
    CHECK(step_bytes(one).into_sm == (128 + 256) * 64 * 2);
    CHECK(step_bytes(one).from_l2 == (128 + 128) * 64 * 2);
    one.tile.multicast = one.tile.pair = true;
    CHECK(step_bytes(one).into_sm == (128 + 128) * 64 * 2);
    CHECK(step_bytes(one).from_l2 == (128 + 128) * 64 * 2);
    one.tile.cluster_m = 4;
    CHECK(step_bytes(one).into_sm == (128 + 64) * 64 * 2);
    CHECK(to_string(one) == "128x256x64, 6 stages, cluster 4x1, CTA pairs");
}

TEST_CASE("The order of CTAs is that of nested loops, whatever the counts") {
    for (const std::int64_t tiles_m : {1, 2, 5})
        for (const std::int64_t tiles_n : {1, 3, 8})
            for (const std::int64_t panel : {1, 2, 3, 8, 100}) {
                GemmKernel one = kernel(tiles_m, tiles_n, panel);
                one.shape.batch = 2;
                one.split_k = 3;
                const std::vector<CtaPlace> expected = in_loops(one, tiles_m, tiles_n);
                REQUIRE(one.ctas() == static_cast<std::int64_t>(expected.size()));
                for (std::size_t i = 0; i < expected.size(); ++i) {
                    INFO(tiles_m << " x " << tiles_n << " tiles, panel " << panel << ", CTA " << i);
                    REQUIRE(place_of(one, static_cast<std::int64_t>(i)) == expected[i]);
                }
            }
}

TEST_CASE("CTAs of a cluster have numbers behind each other, and clusters are whole") {
    GemmKernel one = kernel(3, 3, 2);
    one.tile.cluster_m = 2;
    // Rows 0 and 1 of columns 0 and 1, rows 2 and 3 of them, of which 3 has no tile, then column 2.
    const std::vector<CtaPlace> pairs{{0, 0, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {0, 0, 1, 1},
                                      {0, 0, 2, 0}, {0, 0, 3, 0}, {0, 0, 2, 1}, {0, 0, 3, 1},
                                      {0, 0, 0, 2}, {0, 0, 1, 2}, {0, 0, 2, 2}, {0, 0, 3, 2}};
    CHECK(one.tiles_m() == 3);
    REQUIRE(one.ctas() == 12);
    for (std::size_t i = 0; i < pairs.size(); ++i)
        CHECK(place_of(one, static_cast<std::int64_t>(i)) == pairs[i]);
    // Panels are of whole clusters, too: here of one.
    one = kernel(2, 4, 3);
    one.tile.cluster_m = one.tile.cluster_n = 2;
    const std::vector<CtaPlace> squares{{0, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, 1, 0}, {0, 0, 1, 1},
                                        {0, 0, 0, 2}, {0, 0, 0, 3}, {0, 0, 1, 2}, {0, 0, 1, 3}};
    REQUIRE(one.ctas() == 8);
    for (std::size_t i = 0; i < squares.size(); ++i)
        CHECK(place_of(one, static_cast<std::int64_t>(i)) == squares[i]);
}

TEST_CASE("Every tile is given once, in clusters that share rows, columns, parts and products") {
    for (const int cluster_m : {1, 2, 3, 4})
        for (const int cluster_n : {1, 2, 4})
            for (const std::int64_t tiles_m : {1, 4, 7})
                for (const std::int64_t tiles_n : {2, 5, 9}) {
                    GemmKernel one = kernel(tiles_m, tiles_n, 3);
                    one.tile.cluster_m = cluster_m;
                    one.tile.cluster_n = cluster_n;
                    one.shape.batch = 2;
                    one.split_k = 2;
                    CAPTURE(cluster_m, cluster_n, tiles_m, tiles_n);
                    const std::int64_t size = cluster_m * cluster_n;
                    REQUIRE(one.ctas() % size == 0);
                    std::set<std::array<std::int64_t, 4>> given;
                    for (std::int64_t cta = 0; cta < one.ctas(); ++cta) {
                        const CtaPlace place = place_of(one, cta), first = place_of(one, cta / size * size);
                        CHECK(given.insert({place.batch, place.part, place.m, place.n}).second);
                        CHECK(place.batch == first.batch);
                        CHECK(place.part == first.part);
                        CHECK(place.m / cluster_m == first.m / cluster_m);
                        CHECK(place.n / cluster_n == first.n / cluster_n);
                        CHECK(place.m < tiles_m + cluster_m - 1);
                        CHECK(place.n < tiles_n + cluster_n - 1);
                    }
                    for (std::int64_t m = 0; m < tiles_m; ++m)
                        for (std::int64_t n = 0; n < tiles_n; ++n) CHECK(given.count({1, 1, m, n}) == 1);
                }
}

TEST_CASE("A kernel's name says tile and stages, and cluster and split where there are any") {
    GemmKernel one;
    one.tile = {.m = 128, .n = 256, .k = 64, .stages = 4};
    CHECK(to_string(one) == "128x256x64, 4 stages");
    one.tile.cluster_m = 2;
    one.split_k = 4;
    CHECK(to_string(one) == "128x256x64, 4 stages, cluster 2x1, split 4");
}

}  // namespace systole::simt
