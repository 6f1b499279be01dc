// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/gemm_kernel.h"

#include <catch2/catch.hpp>

#include <cstdint>
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

TEST_CASE("A kernel's name says tile and stages, and cluster and split where there are any") {
    GemmKernel one;
    one.tile = {.m = 128, .n = 256, .k = 64, .stages = 4};
    CHECK(to_string(one) == "128x256x64, 4 stages");
    one.tile.cluster_m = 2;
    one.split_k = 4;
    CHECK(to_string(one) == "128x256x64, 4 stages, cluster 2x1, split 4");
}

}  // namespace systole::simt
