// SPDX-License-Identifier: Apache-2.0
// A warp alone with its tensor core: what follows from rate and latency of the SM, worked out by hand.
#include "models/devices/simt/explore/warp_tile.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/unit/simt/sm_specs.h"

namespace systole::simt {
namespace {

/// First clocks of each stretch of work.
std::vector<std::int64_t> begins(const WarpTileRecording& recording) {
    std::vector<std::int64_t> all;
    for (std::size_t clock = 0; clock < recording.clocks.size(); ++clock)
        if (recording.clocks[clock] == WarpClock::Works &&
            (clock == 0 || recording.clocks[clock - 1] != WarpClock::Works))
            all.push_back(static_cast<std::int64_t>(clock));
    return all;
}

}  // namespace

TEST_CASE("with operands in registers, instructions that add to the same sums are its time and latency apart",
          "[explore]") {
    const WarpTileRecording tile =
        record_warp_tile({16, 8, 64, DType::Bf16, Fragments::Registers}, test::warp_mma_sm());
    CHECK(tile.instructions == 4);
    CHECK(tile.cycles_of_mma == 8);  // 16 x 8 x 16 products at 256 a cycle
    CHECK(tile.busy == 32);
    CHECK(begins(tile) == std::vector<std::int64_t>{0, 33, 66, 99});
    REQUIRE(tile.clocks.size() == 107);
    for (std::size_t clock = 0; clock < tile.clocks.size(); ++clock)
        CHECK(tile.clocks[clock] == (clock % 33 < 8 ? WarpClock::Works : WarpClock::Sums));
}

TEST_CASE("many sums keep the tensor core at work behind each other's latency", "[explore]") {
    const WarpTileRecording tile =
        record_warp_tile({64, 32, 64, DType::Bf16, Fragments::Registers}, test::warp_mma_sm());
    CHECK(tile.instructions == 64);
    CHECK(tile.busy == 512);
    CHECK(tile.clocks == std::vector<WarpClock>(512, WarpClock::Works));
    // With three blocks, 24 clocks of the 33 are filled: the fourth waits for the first one's sums.
    const WarpTileRecording three =
        record_warp_tile({48, 8, 32, DType::Bf16, Fragments::Registers}, test::warp_mma_sm());
    CHECK(three.clocks.size() == 33 + 24);
    CHECK(std::ranges::count(three.clocks, WarpClock::Sums) == 9);
}

// One block, kernel: mma 1, loads of the fragments of 2, copies, wait, barrier, mma 2, loads of those of 3,
// mma 3.
TEST_CASE("what a kernel's warp waits for is told by what it has to issue next", "[explore]") {
    const SmSpec sm = test::warp_mma_sm();
    const WarpTileRecording tile = record_warp_tile({16, 8, 64, DType::Bf16}, sm);
    CHECK(tile.busy == 32);
    const std::vector<std::int64_t> begun = begins(tile);
    REQUIRE(begun.size() == 4);
    for (std::size_t i = 1; i < begun.size(); ++i) CHECK(begun[i] - begun[i - 1] >= 8 + 25);
    const auto between = [&](std::size_t first, WarpClock what) {
        return std::count(tile.clocks.begin() + begun[first] + 8, tile.clocks.begin() + begun[first + 1],
                          what);
    };
    // A barrier stands before the second and the fourth instruction, between parts of a step.
    for (const std::size_t first : {0, 2}) {
        CHECK(between(first, WarpClock::Barrier) > 0);
        CHECK(between(first, WarpClock::Barrier) <=
              1 + sm.barrier_latency.value());  // and the arrival's clock
    }
    CHECK(between(1, WarpClock::Barrier) == 0);
    // The third's loads issue behind the second: 29 cycles and more until its fragments are there, behind its
    // sums.
    CHECK(between(1, WarpClock::FragmentsAndSums) > 0);
    CHECK(between(1, WarpClock::Fragments) > 0);
    CHECK(between(1, WarpClock::Sums) == 0);
    CHECK(tile.clocks.front() == WarpClock::Works);
    CHECK(tile.clocks.back() == WarpClock::Works);
}

TEST_CASE("with many sums, a kernel's warp never waits for them", "[explore]") {
    const WarpTileRecording tile = record_warp_tile({64, 32, 64, DType::Bf16}, test::warp_mma_sm());
    CHECK(tile.instructions == 64);
    CHECK(tile.busy == 512);
    CHECK(tile.busy * 10 > 9 * static_cast<std::int64_t>(tile.clocks.size()));
    CHECK(std::ranges::count(tile.clocks, WarpClock::Sums) == 0);
    CHECK(std::ranges::count(tile.clocks, WarpClock::FragmentsAndSums) == 0);
}

TEST_CASE("int8 takes twice as much of K with an instruction, in the same time", "[explore]") {
    const WarpTileRecording tile = record_warp_tile({16, 8, 64, DType::Int8}, test::warp_mma_sm());
    CHECK(tile.mma_k == 32);
    CHECK(tile.instructions == 2);
    CHECK(tile.cycles_of_mma == 8);
}

TEST_CASE("tiles that are not whole instructions, and other tensor cores, are told apart", "[explore]") {
    const SmSpec sm = test::warp_mma_sm();
    CHECK(problem_of({16, 8, 64, DType::Bf16}, sm) == nullptr);
    const auto problem = [](const WarpTileShape& shape, const SmSpec& spec) {
        const char* text = problem_of(shape, spec);
        return std::string(text ? text : "");
    };
    CHECK_THAT(problem({17, 8, 64, DType::Bf16}, sm), Catch::Contains("m must be a multiple of 16"));
    CHECK_THAT(problem({16, 4, 64, DType::Bf16}, sm), Catch::Contains("n of 8"));
    CHECK_THAT(problem({16, 8, 16, DType::Bf16}, sm), Catch::Contains("k must be"));
    CHECK_THAT(problem({256, 256, 64, DType::Bf16}, sm), Catch::Contains("at most"));
    CHECK_THAT(problem({16, 8, 64, DType::Fp32}, sm), Catch::Contains("do not take this type"));
    CHECK_THAT(problem({64, 64, 128, DType::Bf16, Fragments::Registers}, sm),
               Catch::Contains("do not fit a warp's registers"));
    CHECK_THAT(problem({16, 8, 64, DType::Bf16}, test::group_mma_sm()), Catch::Contains("mma.sync"));
}

}  // namespace systole::simt
