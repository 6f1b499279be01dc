// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/window.h"

#include <catch2/catch.hpp>

#include <random>

namespace systole::systolic {
namespace {

WindowGeometry geometry(std::int64_t h, std::int64_t w, std::int64_t kernel, std::int64_t stride,
                        std::int64_t pad) {
    WindowGeometry g;
    g.in_h = h;
    g.in_w = w;
    g.kernel_h = g.kernel_w = kernel;
    g.stride = stride;
    g.pad = pad;
    g.out_h = (h + 2 * pad - kernel) / stride + 1;
    g.out_w = (w + 2 * pad - kernel) / stride + 1;
    return g;
}

TEST_CASE("Blocks are whole images, whole rows or parts of a row, evened out") {
    WindowGeometry g = geometry(8, 8, 3, 1, 1);
    g.batch = 5;
    const WindowBlock images = g.block_shape(200);
    CHECK((images.images == 3 && images.rows == 8 && images.cols == 8));
    const WindowBlock rows = g.block_shape(40);  // five rows fit, but 8 = 4 + 4
    CHECK((rows.images == 1 && rows.rows == 4 && rows.cols == 8));
    const WindowBlock part = g.block_shape(7);
    CHECK((part.images == 1 && part.rows == 1 && part.cols == 4));
}

TEST_CASE("A staged block leaves room for the padding and loads only rows that exist") {
    WindowGeometry g = geometry(8, 8, 3, 1, 1);
    g.pixel_bytes = 4;
    const WindowBlock top{0, 1, 0, 2, 0, 8};
    const StagedWindow staged = g.staged(top);
    CHECK(staged.rows == 4);
    CHECK(staged.pitch == 10 * 4);
    const auto copies = g.copies(top, staged);
    REQUIRE(copies.size() == 1);
    CHECK(copies[0].from.offset == 0);
    CHECK(copies[0].from.rows == 3);
    CHECK(copies[0].from.row_bytes == 8 * 4);
    CHECK(copies[0].to == 1 * 40 + 1 * 4);
}

TEST_CASE("A one-row kernel of stride two skips the rows between") {
    const WindowGeometry g = geometry(8, 8, 1, 2, 0);
    const WindowBlock all{0, 1, 0, 4, 0, 4};
    const StagedWindow staged = g.staged(all);
    CHECK(staged.rows == 4);
    const auto copies = g.copies(all, staged);
    REQUIRE(copies.size() == 1);
    CHECK(copies[0].from.rows == 4);
    CHECK(copies[0].from.stride == 16);
    CHECK(g.covered_bytes() == 16);
}

TEST_CASE("Whole images without padding are one descriptor") {
    WindowGeometry g = geometry(4, 4, 2, 1, 0);
    g.batch = 3;
    const WindowBlock all{0, 3, 0, 3, 0, 3};
    const auto copies = g.copies(all, g.staged(all));
    REQUIRE(copies.size() == 1);
    CHECK(copies[0].from.bytes() == 3 * 16);
}

TEST_CASE("Blocks of any shape cover every output pixel once, in order") {
    const auto seed = GENERATE(1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U);
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto pick = [&](std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    WindowGeometry g = geometry(pick(3, 12), pick(3, 12), pick(1, 3), pick(1, 3), pick(0, 1));
    g.batch = pick(1, 4);
    std::int64_t next = 0;
    for (const WindowBlock& block : g.cut(g.block_shape(pick(1, 200)))) {
        CHECK(g.first_pixel(block) == next);
        next += block.pixels();
    }
    CHECK(next == g.batch * g.out_h * g.out_w);
}

}  // namespace
}  // namespace systole::systolic
