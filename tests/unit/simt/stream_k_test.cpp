// SPDX-License-Identifier: Apache-2.0
// Stream-K: shares of tiles against cases counted by hand, and against the product on random shapes.
#include "models/devices/simt/kernels/stream_k.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "models/devices/simt/machine/gemm_blocks.h"
#include "tests/unit/simt/kernels_at_hand.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::IdealRun;
using systole::simt::test::small_gpu;

namespace {

/// A tile's step is 1,048,576 MACs: 1024 cycles of an SM.
GemmPlan plan_of(std::int64_t n, std::int64_t k, std::int64_t places) {
    GemmPlan plan;
    plan.kernel.shape.m = 128;
    plan.kernel.shape.n = n;
    plan.kernel.shape.k = k;
    plan.kernel.tile = {128, 128, 64, 4, 2, 2, 1, 1};
    if (const auto shared = with_shared_tiles(plan.kernel, places)) plan.kernel = *shared;
    plan.timing.prologue = Cycles(100);
    plan.timing.ahead = 3;
    plan.timing.fill = Cycles(50);
    plan.timing.interval_alone = plan.timing.interval_full = plan.timing.busy = 1024;
    plan.timing.epilogue = Cycles(200);
    plan.c = {1 << 24, Operand::Outputs, Bytes(128 * n * 2), Bytes(0)};
    plan.sums = {1 << 28, Operand::PartialSums, Bytes(1 << 26), Bytes(0)};
    return plan;
}

IdealRun run(const GemmPlan& plan, int sms, Ticks latency) {
    const SimtSpec gpu = small_gpu(sms);
    const GemmBlocks work(plan);
    return {work, times_of(plan, gpu, gpu.core_clock), sms, latency, 1000};
}

GemmPlan random_plan(std::mt19937& random) {
    const auto pick = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    GemmPlan plan = plan_of(1, 1, 1);
    plan.kernel.shape = {pick(1, 3), pick(1, 900), pick(1, 900), pick(1, 3000)};
    if (const auto shared = with_shared_tiles(plan.kernel, pick(1, 40))) plan.kernel = *shared;
    return plan;
}

}  // namespace

TEST_CASE("Shares cover every step of the last tiles exactly once, and differ by one step at most",
          "[simt]") {
    const unsigned seed = GENERATE(range(1U, 101U));
    CAPTURE(seed);
    std::mt19937 random(seed);
    const GemmKernel kernel = random_plan(random).kernel;
    std::map<std::int64_t, std::vector<int>> times;  // by tile, of its steps
    std::set<std::int64_t> slots;
    const std::vector<StreamPiece> pieces = stream_pieces(kernel);
    for (const StreamPiece& piece : pieces) {
        CHECK(piece.steps > 0);
        CHECK(piece.slot.has_value() == (piece.begin > 0));
        if (piece.slot) CHECK(slots.insert(*piece.slot).second);
        auto& tile = times[piece.tile];
        tile.resize(static_cast<std::size_t>(kernel.steps()));
        for (std::int64_t step = 0; step < piece.steps; ++step)
            ++tile.at(static_cast<std::size_t>(piece.begin + step));
        std::int64_t added = piece.begin == 0 ? piece.steps : kernel.steps();
        for (const std::int64_t other : piece.adds) {
            CHECK(pieces.at(static_cast<std::size_t>(other)).tile == piece.tile);
            CHECK(other < kernel.streams);  // begun before anybody waits
            added += pieces.at(static_cast<std::size_t>(other)).steps;
        }
        CHECK(added == kernel.steps());
    }
    CHECK(static_cast<std::int64_t>(times.size()) == kernel.shared_tiles);
    for (const auto& [tile, steps] : times) {
        CHECK(tile >= kernel.tiles() - kernel.shared_tiles);
        CHECK(tile < kernel.tiles());
        CHECK(steps == std::vector<int>(steps.size(), 1));
    }
}

TEST_CASE("Whole tiles and pieces do the product's MACs, and write every result once", "[simt]") {
    const unsigned seed = GENERATE(range(1U, 41U));
    CAPTURE(seed);
    std::mt19937 random(seed);
    const GemmPlan plan = random_plan(random);
    const GemmShape& s = plan.kernel.shape;
    const IdealRun all = run(plan, 7, Ticks(300'000));
    CHECK(all.account.macs == s.batch * s.m * s.n * s.k);
    const GemmBlocks blocks(plan);
    std::map<std::int64_t, std::int64_t> written;  // begin: end
    std::int64_t results = 0, sums = 0, fetched = 0;
    for (std::int64_t cta = 0; cta < blocks.ctas(); ++cta) {
        for (const TileAccess::Block& block : blocks.writes({cta, 1}).blocks) {
            CHECK(written.emplace(block.address, block.address + block.bytes).second);
            (block.operand == Operand::Outputs ? results : sums) += block.bytes;
        }
        if (!blocks.alone(cta)) continue;
        for (const TileAccess::Block& block : blocks.reads({cta, 1}, blocks.steps(cta)).blocks)
            fetched += block.bytes;
    }
    std::int64_t last = 0;
    for (const auto& [begin, end] : written) {
        CHECK(begin >= last);
        last = end;
    }
    CHECK(results == 2 * s.batch * s.m * s.n);
    CHECK(sums == fetched);
}

TEST_CASE("A tile that three CTAs share leaves two tiles of sums in the workspace", "[simt]") {
    // Five tiles of six steps, four places: the fifth is shared by as many as get two steps each.
    const GemmPlan plan = plan_of(5 * 128, 6 * 64, 4);
    CHECK(plan.kernel.streams == 3);
    CHECK(plan.kernel.shared_tiles == 1);
    CHECK(divided_tiles(plan.kernel) == 1);
    CHECK(workspace(plan.kernel) == Bytes(2 * 128 * 128 * 4));
    const GemmBlocks blocks(plan);
    CHECK(blocks.ctas() == 7);
    CHECK(blocks.waits_for(4) == std::vector<std::int64_t>{5, 6});
    CHECK(blocks.waits_for(5).empty());
    const IdealRun all = run(plan, 4, Ticks(0));
    CHECK(all.written == 5 * 128 * 128 * 2 + 2 * 128 * 128 * 4);
    // A and B of every step of five tiles, and the sums again.
    CHECK(all.read == 5 * 6 * (128 + 128) * 64 * 2 + 2 * 128 * 128 * 4);
}

TEST_CASE("CTAs of shared tiles stand at as many depths of K as shares begin at", "[simt]") {
    // 60 tiles for 108 CTAs: every ninth share begins with a tile, so twelve stand at each of nine depths.
    GemmKernel kernel = plan_of(10 * 256, 128 * 64, 108).kernel;
    kernel.tile.n = 256;
    kernel.shape.m = 6 * 128;
    kernel.streams = 108;
    kernel.shared_tiles = 60;
    CHECK(shared_operands(kernel).once == 54'525'952);  // (768 + 2560) x 8192 x 2
    CHECK(shared_operands(kernel).by_depth == 5 * 54'525'952);
    // One tile is read once, whoever has a share in it.
    const GemmKernel one = plan_of(5 * 128, 6 * 64, 4).kernel;
    CHECK(shared_operands(one).once == 2 * 128 * 6 * 64 * 2);
    CHECK(shared_operands(one).by_depth == 2 * 128 * 6 * 64 * 2);
}

TEST_CASE("Two tiles that three CTAs share are each divided, and one share lies in both", "[simt]") {
    GemmKernel kernel = plan_of(2 * 128, 6 * 64, 3).kernel;
    CHECK(kernel.streams == 3);
    const std::vector<StreamPiece> pieces = stream_pieces(kernel);
    REQUIRE(pieces.size() == 4);  // 0-4 | 4-6 of the first, 0-2 | 2-6 of the second
    CHECK(pieces[1].steps == 2);
    CHECK(pieces[2].begin == 2);
    CHECK(pieces[2].steps == 4);
    CHECK(pieces[3].tile == 1);
    CHECK(pieces[3].steps == 2);
    CHECK(pieces[0].adds == std::vector<std::int64_t>{1});
    CHECK(pieces[3].adds == std::vector<std::int64_t>{2});
    CHECK(workspace(kernel) == Bytes(2 * 128 * 128 * 4));
}

TEST_CASE("With shared tiles 1.1 waves take little more than 1.1, not two", "[simt]") {
    const GemmPlan plan = plan_of(11 * 128, 64 * 64, 10);
    GemmPlan whole = plan;
    whole.kernel.streams = whole.kernel.shared_tiles = 0;
    const std::int64_t start = 10 + 100 + 50, tile = 64 * 1024;
    CHECK(run(whole, 10, Ticks(0)).end == Ticks(2 * (start + tile + 200) * 1000));
    // The longest shares have seven of the 64 steps. Who adds waits for the others' stores, then stores
    // itself.
    const IdealRun shared = run(plan, 10, Ticks(0));
    CHECK(shared.end == Ticks((start + tile + 200 + start + 7 * 1024 + 2 * 200) * 1000));
    // Data 300 cycles away: the first tile's stores, the others', sums and results pass one behind the other.
    const IdealRun far = run(plan, 10, Ticks(300'000));
    CHECK(far.end == Ticks((start + 300 + tile + 200 + start + 300 + 7 * 1024 + 2 * 200 + 4 * 300) * 1000));
}

TEST_CASE("Nothing is shared where waves are full, or shares would have no two steps", "[simt]") {
    GemmKernel kernel = plan_of(8 * 128, 64 * 64, 1).kernel;
    CHECK(!with_shared_tiles(kernel, 4));
    CHECK(with_shared_tiles(kernel, 5));
    kernel.shape.k = 2 * 64;
    CHECK(!with_shared_tiles(kernel, 5));
    kernel.shape.k = 64 * 64;
    kernel.split_k = 2;
    CHECK(!with_shared_tiles(kernel, 5));
}
