// SPDX-License-Identifier: Apache-2.0
// What the mapper weighs, on sizes that can be followed by hand.
#include <algorithm>
#include <catch2/catch.hpp>
#include <tuple>

#include "models/devices/systolic/lowering/tiling.h"
#include "tests/unit/lowering/tiling_requests.h"

namespace systole::systolic {
namespace {

std::int64_t units(const Tiling& tiling) {
    return tiling.split_items * tiling.split_m * tiling.split_n;
}

}  // namespace

TEST_CASE("A matrix unit more that saves no round only delays the first step") {
    // Five columns of tiles take two rounds on four units and on three, whose first step is shorter.
    const Tiling five = choose_tiling(request(64, 5, 4, 4)).value();
    CHECK(five.split_m == 1);
    CHECK(five.split_n == 3);
    const Tiling eight = choose_tiling(request(64, 8, 4, 4)).value();
    CHECK(eight.split_n == 4);
}

TEST_CASE("Blocks stream long enough to hide how long tiles take through the FIFO") {
    // Tiles that are 192 cycles on their way keep one of two places for 320: one is there every 160 cycles.
    TilingRequest r = request(320, 4, 16, 1);
    r.dram_bytes_per_cycle = 8192;
    r.weight_fill_cycles = 192;
    const Tiling tiling = choose_tiling(r).value();
    CHECK(r.row_blockings[tiling.blocking].rows >= 160);
}

TEST_CASE("With one tile along K an array keeps it for all blocks of rows") {
    // 16 rows a block: the passes of a kept tile take 16 cycles each, those of a new one 128.
    TilingRequest r = request(128, 4, 1, 1);
    r.row_blockings = {r.row_blockings.back()};
    REQUIRE(r.row_blockings.front().rows == 16);
    const Tiling tiling = choose_tiling(r).value();
    CHECK_FALSE(tiling.m_outer);
    CHECK(tiling.n_tiles == 1);
}

TEST_CASE("A slow way out of the accumulators does not leave matrix units idle") {
    TilingRequest r = request(512, 4, 4, 4);
    r.drain_elements = 8;
    CHECK(units(choose_tiling(r).value()) == 4);
}

TEST_CASE("What must arrive before the first round begins is weighed") {
    // An input on its way comes row by row, a row of 2 KiB every four cycles: the less of it the first round
    // reads, the earlier that begins.
    TilingRequest r = request(512, 2, 8, 4);
    r.input_capacity = 0;
    const auto first_rows = [&] {
        const Tiling tiling = choose_tiling(r).value();
        return r.row_blockings[tiling.blocking].rows * tiling.split_m;
    };
    const std::int64_t there = first_rows();
    r.arriving_bytes = 512 * 8 * 256;
    CHECK(first_rows() < there);
}

TEST_CASE("Results whose rows lie unluckily apart leave in blocks that reach all buses") {
    TilingRequest r = request(512, 16, 1, 1);
    r.output_pitch = 16 * 128 * 2;
    r.output_bytes = 512 * r.output_pitch;
    const std::int64_t before = choose_tiling(r).value().n_tiles;
    // A block of eight columns of tiles, or more, reaches all buses; one reaches an eighth.
    r.spread = [](std::int64_t, std::int64_t bytes) {
        return std::min(1.0, static_cast<double>(bytes) / (8 * 128 * 2));
    };
    CHECK(before < 8);
    CHECK(choose_tiling(r).value().n_tiles >= 8);
}

TEST_CASE("A second operand whose rows are cut short makes blocks wide") {
    TilingRequest r = request(1024, 32, 32, 4);
    const auto columns = [&] {
        const Tiling t = choose_tiling(r).value();
        return t.n_tiles;
    };
    const std::int64_t tiled = columns();
    r.weight_pitch = 32 * 128 * 2;
    r.weight_piece_bytes = 128 * 2;
    r.spread = [](std::int64_t pitch, std::int64_t bytes) {
        return bytes >= pitch / 4 ? 1.0 : static_cast<double>(4 * bytes) / static_cast<double>(pitch);
    };
    CHECK(tiled < 8);
    CHECK(columns() >= 8);
    r.weights_by_column = true;  // then it is K that cuts them
    CHECK(columns() < 8);
}

TEST_CASE("What was weighed is the choice, and the best of each other way to deal units and nest loops") {
    const TilingRequest r = request(2048, 8, 8, 4);
    const std::optional<Tiling> chosen = choose_tiling(r);
    const Choice choice = tiling_choice(r);
    REQUIRE(chosen);
    REQUIRE(choice.best.size() > 2);
    CHECK(choice.candidates > choice.best.size());
    CHECK(choice.best[0].cycles == chosen->cycles);
    CHECK(choice.best[0].k_tiles == chosen->k_tiles);
    for (std::size_t i = 0; i < choice.best.size(); ++i) {
        const Tiling& t = choice.best[i];
        const TilingTime time = tiling_time(r, t);
        CHECK(time.cycles == t.cycles);
        CHECK(obstacle(r, t).empty());
        // Nothing is through before its longest part is.
        CHECK(time.cycles >= std::max({time.arrays, time.memory, time.results, time.issue}));
        for (std::size_t j = i + 1; j < choice.best.size(); ++j)
            CHECK(std::tie(t.split_m, t.split_n, t.m_outer) !=
                  std::tie(choice.best[j].split_m, choice.best[j].split_n, choice.best[j].m_outer));
        if (i > 1) CHECK(choice.best[i - 1].cycles <= t.cycles);
    }
}

TEST_CASE("A tiling says what holds it back") {
    TilingRequest r = request(2048, 8, 8, 4);
    CHECK(tiling_time(r, *choose_tiling(r)).bound == "arrays");
    r.issue_cycles = 10000;
    CHECK(tiling_time(r, *choose_tiling(r)).bound == "issue");
    r.issue_cycles = 0;
    r.dram_bytes_per_cycle = 1;
    CHECK(tiling_time(r, *choose_tiling(r)).bound == "memory");
    r.dram_bytes_per_cycle = 512;
    r.drain_elements = 1;
    CHECK(tiling_time(r, *choose_tiling(r)).bound == "results");
}

}  // namespace systole::systolic
