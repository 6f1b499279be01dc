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
        if (recording.clocks[clock] == 0 && (clock == 0 || recording.clocks[clock - 1] != 0))
            all.push_back(static_cast<std::int64_t>(clock));
    return all;
}

}  // namespace

TEST_CASE("instructions that add to the same sums are a tensor core's time and latency apart, at least",
          "[explore]") {
    const WarpTileRecording tile = record_warp_tile({16, 8, 64, DType::Bf16}, test::warp_mma_sm());
    CHECK(tile.instructions == 4);
    CHECK(tile.cycles_of_mma == 8);  // 16 x 8 x 16 products at 256 a cycle
    CHECK(tile.busy == 32);
    CHECK(std::ranges::count(tile.clocks, 0) == 32);
    const std::vector<std::int64_t> begun = begins(tile);
    REQUIRE(begun.size() == 4);
    for (std::size_t i = 1; i < begun.size(); ++i) CHECK(begun[i] - begun[i - 1] >= 8 + 25);
    CHECK(tile.clocks.front() == 0);
    CHECK(tile.clocks.back() == 0);
    CHECK(std::ranges::all_of(tile.clocks, [](int state) { return 0 <= state && state <= 4; }));
}

TEST_CASE("many sums keep the tensor core at work behind each other's latency", "[explore]") {
    const WarpTileRecording tile = record_warp_tile({64, 32, 64, DType::Bf16}, test::warp_mma_sm());
    CHECK(tile.instructions == 64);
    CHECK(tile.busy == 512);
    CHECK(tile.busy * 10 > 9 * static_cast<std::int64_t>(tile.clocks.size()));
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
    CHECK_THAT(problem({16, 8, 64, DType::Bf16}, test::group_mma_sm()), Catch::Contains("mma.sync"));
}

}  // namespace systole::simt
