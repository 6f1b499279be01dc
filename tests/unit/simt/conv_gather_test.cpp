// SPDX-License-Identifier: Apache-2.0
// Which pixels rows of A gather, against windows walked pixel by pixel.
#include "models/devices/simt/kernels/conv_gather.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <vector>

using namespace systole;
using namespace systole::simt;

namespace {

Conv2d random_conv(std::mt19937_64& random) {
    const auto pick = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    Conv2d conv;
    conv.batch = pick(1, 3);
    conv.kernel_h = pick(1, 4);
    conv.kernel_w = pick(1, 4);
    conv.dilation = pick(1, 2);
    conv.stride = pick(1, 3);
    conv.pad = pick(0, 2);
    conv.in_h = pick(9, 15);
    conv.in_w = pick(9, 15);
    conv.in_c = pick(1, 70);
    conv.round_up = pick(0, 3) == 0;
    if (pick(0, 2) == 0) conv.uneven.stride_w = pick(1, 3);
    if (pick(0, 2) == 0) conv.uneven.pad_left = pick(0, 2);
    return conv;
}

/// Pixels of the map that an output pixel meets with a tap; nothing where it meets zeros.
std::vector<std::int64_t> met(const ConvGather& g, std::int64_t output, std::int64_t tap) {
    const std::int64_t q = output % g.out_w, p = output / g.out_w % g.out_h, n = output / g.out_w / g.out_h;
    const std::int64_t y = p * g.stride_h + tap / g.kernel_w * g.dilation_h - g.top;
    const std::int64_t x = q * g.stride_w + tap % g.kernel_w * g.dilation_w - g.left;
    if (y < 0 || y >= g.in_h || x < 0 || x >= g.in_w) return {};
    return {(n * g.in_h + y) * g.in_w + x};
}

}  // namespace

TEST_CASE("Steps of an implicit GEMM load the pixels under their taps, and no zeros") {
    const std::uint64_t seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 200; ++i) {
        const Conv2d conv = random_conv(random);
        const auto gather = gather_of(conv, loads_of(16));
        if (!gather) continue;
        const std::int64_t rows = gather->images * gather->out_h * gather->out_w, tile_k = 32;
        const std::int64_t first = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows));
        const std::int64_t count =
            std::min<std::int64_t>(rows - first, 1 + static_cast<std::int64_t>(random() % 70));
        for (std::int64_t number = 0; number < gather->steps(tile_k); ++number) {
            const GatherStep step = gather->step(number, tile_k);
            std::set<std::int64_t> pixels;
            std::int64_t loaded = 0;
            for (std::int64_t row = first; row < first + count; ++row)
                for (std::int64_t tap = step.tap; tap < step.tap + step.taps; ++tap)
                    for (const std::int64_t pixel : met(*gather, row, tap)) pixels.insert(pixel), ++loaded;
            const PixelRange range = gather->pixels(first, count, step);
            CHECK(range.loaded == loaded);
            if (loaded == 0) continue;
            CHECK(range.end - range.begin >= static_cast<std::int64_t>(pixels.size()));
            if (gather->apart()) continue;
            CHECK(range.begin == *pixels.begin());
            CHECK(range.end == *pixels.rbegin() + 1);
        }
    }
}

TEST_CASE("Pixels that a tap of windows two apart meets lie side by side, and all pixels somewhere") {
    // 6 x 5 pixels, 3 x 3 windows two apart with a row and a column of zeros: 3 x 3 outputs.
    Conv2d conv{2, 6, 5, 64, 64, 3, 3, 2, 1};
    const ConvGather gather = gather_of(conv, loads_of(16)).value();
    const auto of = [&](std::int64_t tap) { return gather.pixels(0, 18, gather.step(tap, 64)); };
    // The middle tap: rows 0, 2, 4, columns 0, 2, 4 of both images. Behind rows and columns that even ones
    // are not.
    CHECK(of(4).loaded == 18);
    CHECK(of(4).end - of(4).begin == 18);
    CHECK(of(4).end == 60);
    // The first one: rows 1, 3, columns 1, 3; the last: rows 1, 3, 5.
    CHECK(of(0).loaded == 8);
    CHECK(of(8).loaded == 2 * 3 * 2);
    CHECK(of(8).begin == 0);
    CHECK(of(8).end == 12);
    CHECK(of(0).begin == of(8).begin);
    CHECK(of(0).end <= of(8).end);
    // Middle row, outer columns: rows 0, 2, 4, columns 1, 3.
    CHECK(of(5).loaded == 12);
    CHECK(of(5).end - of(5).begin == 12);
}

TEST_CASE("Steps take all taps of all channels once, a tap and a slice each") {
    Conv2d conv{1, 14, 14, 100, 64, 3, 3, 1, 1};
    const ConvGather gather = gather_of(conv, loads_of(16)).value();
    CHECK(gather.stored == 104);  // whole loads of eight
    CHECK(gather.steps(64) == 9 * 2);
    CHECK(gather.steps(32) == 9 * 4);
    std::int64_t k = 0;
    for (std::int64_t number = 0; number < gather.steps(64); ++number) {
        const GatherStep step = gather.step(number, 64);
        CHECK(step.taps == 1);
        CHECK(step.tap == number % 9);
        CHECK(step.channel == (number < 9 ? 0 : 64));
        CHECK(step.channels == (number < 9 ? 64 : 36));
        CHECK(step.k_begin == k);
        CHECK(gather.k_before(number, 64) == k);
        k += step.k;
    }
    CHECK(k == 900);
    CHECK(gather.k_before(18, 64) == 900);
    CHECK(gather.k_before(99, 64) == 900);
}

TEST_CASE("A step of a first layer takes as many taps as loads of eight channels fill it") {
    Conv2d conv{1, 224, 224, 3, 64, 7, 7, 2, 3};
    const ConvGather gather = gather_of(conv, loads_of(16)).value();
    CHECK(gather.packed);
    CHECK(gather.stored == 8);
    CHECK(gather.steps(64) == 7);  // 49 taps, eight at a time
    CHECK(gather.step(6, 64).taps == 1);
    CHECK(gather.step(6, 64).k == 3);
    CHECK(gather.k_before(6, 64) == 48 * 3);
    CHECK(gather_of(conv, loads_of(8)).value().stored == 16);
    // Groups are loaded as they are.
    Conv2d grouped{1, 14, 14, 128, 128, 3, 3, 1, 1, 1, 32};
    CHECK(gather_of(grouped, loads_of(16)).value().stored == 4);
    CHECK(gather_of(grouped, loads_of(16)).value().steps(64) == 1);
}

TEST_CASE("Windows of one pixel are a matrix, of the pixels that they meet") {
    CHECK(!gather_of({1, 14, 14, 64, 64, 1, 1}, loads_of(16)));
    CHECK(!gather_of({1, 14, 14, 64, 64, 1, 1, 2}, loads_of(16)));
    CHECK(gather_of({1, 14, 14, 64, 64, 1, 1, 1, 1}, loads_of(16)));        // with zeros around
    CHECK(gather_of({1, 14, 14, 64, 64, 1, 1, 1, 0, 1, 2}, loads_of(16)));  // of two groups
    // Of windows of one row, rows that none meets are left out.
    Conv2d flat{1, 9, 9, 64, 64, 1, 3, 2, 0};
    const ConvGather gather = gather_of(flat, loads_of(16)).value();
    CHECK(gather.in_h == 5);
    CHECK(gather.stride_h == 1);
    CHECK(gather.in_w == 9);
    CHECK(gather.stride_w == 2);
}

TEST_CASE("Of a row of neighbours' windows every pixel comes once") {
    const std::uint64_t seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 200; ++i) {
        const Conv2d conv = random_conv(random);
        const ConvGather windows = windows_of(conv);
        if (windows.dilation_w > 1) continue;
        const std::int64_t outputs = windows.images * windows.out_h * windows.out_w;
        const std::int64_t first = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(outputs));
        const std::int64_t count =
            std::min<std::int64_t>(outputs - first, 1 + static_cast<std::int64_t>(random() % 30));
        for (std::int64_t row = 0; row < windows.kernel_h; ++row) {
            // By row of outputs: another one meets other rows of the map, or the same ones again.
            std::set<std::pair<std::int64_t, std::int64_t>> pixels;
            for (std::int64_t output = first; output < first + count; ++output)
                for (std::int64_t s = 0; s < windows.kernel_w; ++s)
                    for (const std::int64_t pixel : met(windows, output, row * windows.kernel_w + s))
                        pixels.emplace(output / windows.out_w, pixel);
            CHECK(windows.window_row(first, count, row).loaded == static_cast<std::int64_t>(pixels.size()));
        }
    }
}
