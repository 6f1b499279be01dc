// SPDX-License-Identifier: Apache-2.0
// Which part of a layer each core does.
#include "models/devices/systolic/lowering/core_share.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "models/devices/systolic/lowering/program_time.h"
#include "models/devices/systolic/lowering/shared_windows.h"
#include "tests/support/seeds.h"
#include "tests/unit/lowering/fixtures.h"
#include "tests/unit/lowering/random_layers.h"

namespace systole::systolic {
namespace {

Conv2d conv_of(std::int64_t batch, std::int64_t size, std::int64_t channels, std::int64_t kernel) {
    Conv2d op{batch, size, size, channels, channels};
    op.kernel_h = op.kernel_w = kernel;
    op.pad = kernel / 2;
    return op;
}

}  // namespace

TEST_CASE("Shares follow each other, and none has more than one unit more than another") {
    CHECK(CoreShare{0, 2}.of(5).end() == 3);
    CHECK(CoreShare{1, 2}.of(5).begin == 3);
    CHECK(CoreShare{2, 3}.of(2).count == 0);
    for (std::uint64_t seed = 1; seed <= systole::test::enough(500); ++seed) {
        INFO("seed " << seed);
        test::Dice dice(seed);
        const int cores = static_cast<int>(dice.pick(1, 8));
        const std::int64_t units = dice.coin() ? dice.pick(0, 20) : dice.pick(0, std::int64_t{1} << 62);
        std::int64_t end = 0;
        for (int core = 0; core < cores; ++core) {
            const Range share = CoreShare{core, cores}.of(units);
            CHECK(share.begin == end);
            CHECK(share.count <= CoreShare{0, cores}.of(units).count);
            CHECK(share.count >= units / cores);
            end = share.end();
        }
        CHECK(end == units);
    }
}

TEST_CASE("Windows of all cores are all windows, each once, and of whole images evenly dealt") {
    for (std::uint64_t seed = 1; seed <= systole::test::enough(500); ++seed) {
        INFO("seed " << seed);
        test::Dice dice(seed);
        WindowGeometry g;
        g.batch = dice.pick(1, 9);
        g.out_h = g.in_h = dice.pick(1, 12);
        g.out_w = g.in_w = dice.pick(1, 12);
        g.out_d = g.depth.in = dice.pick(0, 2) == 0 ? dice.pick(1, 4) : 1;
        const int cores = static_cast<int>(dice.pick(2, 4));
        const std::int64_t target = dice.pick(1, 200);
        std::vector<int> seen(static_cast<std::size_t>(g.batch * g.out_d * g.out_h * g.out_w));
        for (int core = 0; core < cores; ++core) {
            const SharedWindows shared(g, {core, cores});
            const WindowBlock shape = shared.block_shape(target);
            const std::vector<WindowBlock> blocks = shared.cut(shape);
            REQUIRE(static_cast<std::int64_t>(blocks.size()) == shared.block_count(shape));
            std::int64_t pixels = 0;
            for (const WindowBlock& b : blocks) {
                CHECK(b.pixels() <= std::max(shape.pixels(), std::int64_t{1}));
                for (std::int64_t i = 0; i < b.pixels(); ++i)
                    ++seen[static_cast<std::size_t>(g.first_pixel(b) + i)];
                pixels += b.pixels();
            }
            if (g.batch % cores == 0) CHECK(pixels * cores == static_cast<std::int64_t>(seen.size()));
        }
        CHECK(std::ranges::all_of(seen, [](int times) { return times == 1; }));
    }
}

TEST_CASE("Layers share evenly what their definitions let apart") {
    CHECK(shares_evenly(conv_of(4, 7, 8, 3), 2));
    CHECK_FALSE(shares_evenly(conv_of(1, 8, 8, 3), 2));  // halos
    CHECK(shares_evenly(conv_of(1, 8, 8, 1), 2));        // pixels of their own
    CHECK_FALSE(shares_evenly(conv_of(1, 7, 8, 1), 2));  // an odd number of them
    CHECK(shares_evenly(MatMul{1, 6, 5, 5}, 3));
    CHECK_FALSE(shares_evenly(MatMul{4, 6, 5, 5, false, true}, 2));
    CHECK_FALSE(shares_evenly(Reduce{Reduce::Kind::Sum, 6, 4, true}, 2));
    CHECK_FALSE(shares_evenly(MatMul{1, 6, 5, 5, false}, 2));  // of one item columns meet all rows
    CHECK(shares_evenly(Softmax{8, 3}, 4));
    CHECK_FALSE(shares_evenly(Transpose{{4, 4}, {1, 0}}, 2));
    CHECK_FALSE(shares_evenly(Concat{4, 4, {2, 2}}, 2));
}

TEST_CASE("Tensors between layers stay only where all layers around them share evenly") {
    test::GraphOf g;
    const TensorId in = g.input({2, 8, 8, 16}, DType::Bf16);
    const TensorId a = g.conv(in, conv_of(2, 8, 16, 3));
    const TensorId b = g.vector({a}, Activation{Function::Relu, 2 * 8 * 8 * 16}, {2, 8, 8, 16});
    const TensorId c = g.vector({b}, Transpose{{2, 8, 8, 16}, {2, 1, 0, 3}}, {8, 8, 2, 16});
    const std::vector<bool> unfit = not_shared_evenly(g.finish(c), 2);
    CHECK_FALSE(unfit[in]);
    CHECK_FALSE(unfit[a]);
    CHECK(unfit[b]);  // the transpose reads it
    CHECK(unfit[c]);
}

TEST_CASE("Weights that are more than activations are not read by every core") {
    test::GraphOf g;
    const TensorId in = g.input({16, 512}, DType::Bf16);
    const TensorId out = g.matmul(in, 16, 512, 512);
    const Graph graph = g.finish(out);
    // 2 x 16 KiB in, 16 KiB out; weights are 512 KiB.
    CHECK(gains_by_columns(graph, graph.layers.front(), 2));
    CHECK(not_shared_evenly(graph, 2)[in]);
    test::GraphOf h;
    const TensorId rows = h.input({2048, 64}, DType::Bf16);
    const Graph tall = h.finish(h.matmul(rows, 2048, 64, 64));
    CHECK_FALSE(gains_by_columns(tall, tall.layers.front(), 2));
}

TEST_CASE("A program is estimated command behind command, each as long as its slowest resource") {
    SystolicSpec spec = test::large_machine();
    spec.memory.kind = DramSpec::Kind::Ideal;
    spec.scratchpad.dma_port_bytes = Bytes(64);
    spec.scratchpad.latency = Cycles(3);
    spec.dma.setup_cycles = Cycles(5);
    spec.sequencer.issue_cycles = Cycles(1);
    Program program;
    program.layers.emplace_back();
    for (const std::uint32_t awaited : {0, 1}) {  // 10 lines each; the second behind the first
        Transfer transfer;
        transfer.from.place = Place::Dram;
        transfer.to.place = Place::Scratchpad;
        transfer.row_bytes = 640;
        program.transfers.push_back(transfer);
        if (awaited > 0) program.tokens.push_back({unit_index(UnitKind::Load), awaited});
        program.commands.push_back({unit_index(awaited == 0 ? UnitKind::Load : UnitKind::Store),
                                    static_cast<std::uint8_t>(awaited), 0, awaited, 0});
    }
    // Issue, set-up, lines, latency; and the last three again.
    CHECK(estimated_cycles(program, spec, 1) == Approx(1 + 5 + 10 + 3 + 5 + 10 + 3));
}

}  // namespace systole::systolic
