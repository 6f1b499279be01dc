// SPDX-License-Identifier: Apache-2.0
// What the mapper decides at real sizes, and how long it takes.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "models/devices/systolic/lowering/lower.h"
#include "tests/unit/lowering/fixtures.h"

namespace systole::systolic {
namespace {

using test::GraphOf;
using test::large_machine;

/// The busiest matrix unit's time if every pass took max(T, R), over the time of a perfect share.
double imbalance(const Program& program, const SystolicSpec& spec) {
    std::map<UnitIndex, std::int64_t> busy;
    std::int64_t macs = 0;
    for (const Command& c : program.commands) {
        if (unit_kind(c.unit) != UnitKind::Matrix) continue;
        busy[c.unit] += std::max<std::int64_t>(program.pass(c).m, spec.mxu.rows);
        macs += program.pass(c).macs().value();
    }
    std::int64_t most = 0;
    for (const auto& [unit, cycles] : busy) most = std::max(most, cycles);
    return static_cast<double>(most) / (static_cast<double>(macs) / static_cast<double>(spec.pes()));
}

std::int64_t loaded(const Program& program, Operand operand) {
    std::int64_t bytes = 0;
    for (const Transfer& t : program.transfers) {
        if (t.from.place == Place::Dram && t.operand == operand) bytes += t.bytes();
    }
    return bytes;
}

Graph matmul(std::int64_t m, std::int64_t n, std::int64_t k) {
    GraphOf g;
    return g.finish(g.matmul(g.input({m, k}, DType::Bf16), m, n, k));
}

/// The convolutions of ResNet-50 in a row; the shortcuts' additions are left out.
Graph resnet50(std::int64_t batch) {
    GraphOf g;
    std::int64_t size = 224, channels = 3;
    TensorId at = g.input({batch, size, size, channels}, DType::Bf16);
    const auto conv = [&](std::int64_t out, std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
        Conv2d op;
        op.batch = batch;
        op.in_h = op.in_w = size;
        op.in_c = channels;
        op.out_c = out;
        op.kernel_h = op.kernel_w = kernel;
        op.stride = stride;
        op.pad = pad;
        op.bias = true;
        op.post = Function::Relu;
        at = g.conv(at, op);
        size = op.out_h();
        channels = out;
    };
    conv(64, 7, 2, 3);
    Pool pool;
    pool.batch = batch;
    pool.in_h = pool.in_w = size;
    pool.channels = channels;
    pool.window_h = pool.window_w = 3;
    pool.stride = 2;
    pool.pad = 1;
    at = g.vector({at}, pool, {batch, pool.out_h(), pool.out_w(), channels});
    size = pool.out_h();
    const int blocks[] = {3, 4, 6, 3};
    for (int stage = 0; stage < 4; ++stage) {
        for (int block = 0; block < blocks[stage]; ++block) {
            conv(64L << stage, 1, 1, 0);
            conv(64L << stage, 3, stage > 0 && block == 0 ? 2 : 1, 1);
            conv(256L << stage, 1, 1, 0);
        }
    }
    return g.finish(at);
}

TEST_CASE("A matmul of 512 keeps four arrays of 128 equally busy") {
    const SystolicSpec spec = large_machine();
    const Lowered lowered = lower(matmul(512, 512, 512), spec, Protocol::of_op());
    CHECK(lowered.program.layers[0].mapping.starts_with("4 MXUs"));
    CHECK(imbalance(lowered.program, spec) == Approx(1.0));
    CHECK(loaded(lowered.program, Operand::Weights) == 512 * 512 * 2);
    CHECK(loaded(lowered.program, Operand::Activations) == 512 * 512 * 2);
}

TEST_CASE("A matmul of 4096 streams at least as many vectors as the array has rows and reads little twice") {
    const SystolicSpec spec = large_machine();
    const Program program = lower(matmul(4096, 4096, 4096), spec, Protocol::of_op()).program;
    CHECK(std::ranges::all_of(program.passes, [](const MatrixPass& p) { return p.m >= 128; }));
    CHECK(imbalance(program, spec) == Approx(1.0));
    const std::int64_t once = 2 * 4096 * 4096 * 2;
    CHECK(loaded(program, Operand::Weights) + loaded(program, Operand::Activations) <= 8 * once);
}

TEST_CASE("Small products begin with a short step, large ones keep their steps long") {
    // While the first step is fetched nothing computes: a product whose whole K takes as long to fetch as to
    // compute is cut. Of a large product one step is a small share, and each costs row openings and
    // descriptors.
    const SystolicSpec spec = large_machine();
    const auto depth = [&](const Graph& graph) {
        return lower(graph, spec, Protocol::of_op()).mapping.layers.at("layer0").depth;
    };
    CHECK(depth(matmul(105, 463, 667)) < 667);
    CHECK(depth(matmul(64, 512, 2048)) <= 1024);
    CHECK(depth(matmul(2048, 2048, 2048)) >= 512);
    CHECK(depth(matmul(4096, 4096, 4096)) >= 512);
}

TEST_CASE("Layers of a single image use all matrix units") {
    const SystolicSpec spec = large_machine();
    const Program program = lower(resnet50(1), spec, Protocol::of_run()).program;
    std::map<std::int32_t, std::map<UnitIndex, int>> passes;
    for (const Command& c : program.commands) {
        if (unit_kind(c.unit) == UnitKind::Matrix) ++passes[c.layer][c.unit];
    }
    for (const auto& [layer, units] : passes) {
        INFO(program.layers[static_cast<std::size_t>(layer)].mapping);
        CHECK(units.size() == 4);
    }
}

TEST_CASE("Programs grow with tiles: one pass and one weight transfer for each, and little besides") {
    const SystolicSpec spec = large_machine();
    for (const Graph& graph : {resnet50(1), resnet50(32), matmul(4096, 4096, 4096)}) {
        const Program program = lower(graph, spec, Protocol::of_run()).program;
        CHECK(program.passes.size() > 1000);
        CHECK(program.commands.size() < 4 * program.passes.size());
        CHECK(program.tokens.size() < 4 * program.commands.size());
    }
}

TEST_CASE("A ragged block leaves no remains between the two that a buffer holds") {
    // Blocks of 334, 334 and 332 rows, twice; of 334 rows the buffer holds two.
    const Graph graph = matmul(1000, 256, 128);
    SystolicSpec spec = large_machine();
    spec.mxu.count = 1;
    spec.placement.input_buffer = Bytes(2 * 334 * 128 * 2);
    Mapping mapping;
    LayerMapping& by_hand = mapping.layers[graph.layers.front().name];
    by_hand.rows = 334;
    by_hand.columns = by_hand.depth = 128;
    by_hand.m_outer = false;
    const Program program = lower(graph, spec, Protocol::of_op(), {true, &mapping}).program;
    std::vector<std::uint32_t> awaited;  // by load of a block: passes that are through before it
    for (const Command& c : program.commands) {
        if (unit_kind(c.unit) != UnitKind::Load || program.transfer(c).operand != Operand::Activations)
            continue;
        awaited.push_back(0);
        for (std::uint32_t t = c.first_token; t < c.first_token + c.token_count; ++t)
            if (unit_kind(program.tokens[t].unit) == UnitKind::Matrix)
                awaited.back() = std::max(awaited.back(), program.tokens[t].count);
    }
    CHECK(awaited == std::vector<std::uint32_t>{0, 0, 1, 2, 3, 4});
}

}  // namespace
}  // namespace systole::systolic
