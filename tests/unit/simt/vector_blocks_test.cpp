// SPDX-License-Identifier: Apache-2.0
// Kernels that no tensor core works in: which bytes they take, byte by byte, by steps and in warps, and whose
// their time is.
#include "models/devices/simt/machine/vector_blocks.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "models/devices/simt/kernels/qkv_kernel.h"
#include "sim/workload/trace.h"
#include "tests/support/seeds.h"
#include "tests/unit/simt/vector_runs.h"

using namespace systole;
using namespace systole::simt;
using namespace systole::simt::test;

namespace {

VectorKernel random_kernel(std::mt19937_64& random) {
    const auto between = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    const DType dtype = std::array{DType::Fp16, DType::Bf16, DType::Fp32, DType::Int8}.at(
        static_cast<std::size_t>(between(0, 3)));
    switch (between(0, 3)) {
        case 0:
            return elementwise_kernel(between(1, 20'000), 1, mix_of(Function::Gelu), dtype, DType::Fp16);
        case 1:
            return softmax_kernel(between(1, 60), between(1, 1100), dtype, dtype);
        case 2:
            return softmax_kernel(between(1, 9), between(1025, 9000), dtype, dtype);
        default:
            return norm_kernel(
                {between(0, 1) == 0 ? Norm::Kind::Layer : Norm::Kind::Rms, between(1, 40), between(1, 3000)},
                dtype, dtype);
    }
}

}  // namespace

TEST_CASE("Every byte is read and written once, or as often as rows are read, in either engine") {
    for (std::uint64_t seed = 1; seed <= systole::test::enough(60); ++seed) {
        std::mt19937_64 random(seed);
        const SimtSpec spec = gpu(static_cast<int>(seed % 5) + 1);
        VectorPlan plan = plan_of(random_kernel(random), spec);
        if (plan.kernel.kind == VectorKernel::Kind::LayerNorm ||
            plan.kernel.kind == VectorKernel::Kind::RmsNorm)
            plan.columns.push_back(place(kColumns, plan.kernel.cols * 2));
        INFO(fmt::format("seed {}: {} of {} x {} {}", seed, to_string(plan.kernel), plan.kernel.rows,
                         plan.kernel.cols, to_string(plan.kernel.in)));
        check(plan, spec, false);
        check(plan, spec, true);
    }
}

TEST_CASE("Rows that do not stay in the L1 pass again for each time they are read") {
    SimtSpec spec = gpu(2);
    spec.sm.l1_capacity = Bytes(32 * 1024);
    const VectorPlan plan = plan_of(softmax_kernel(5, 20'000, DType::Fp16, DType::Fp16), spec);
    REQUIRE_FALSE(plan.kernel.rereads_l1);
    check(plan, spec, false);
    check(plan, spec, true);
}

TEST_CASE("A second operand is read element by element, or as often as it is met") {
    const SimtSpec spec = gpu(3);
    VectorPlan plan =
        plan_of(elementwise_kernel(6000, 2, mix_of(Elementwise::Kind::Mul), DType::Fp16, DType::Fp16), spec);
    plan.in.push_back({place(kSecond, 12'000), 6000});
    check(plan, spec, false);
    check(plan, spec, true);
    // 100 values, met 60 times over by CTAs of 512: each has all of them.
    plan.in[1] = {place(kSecond, 200), 100, met_again(6000, 100, 1)};
    check(plan, spec, false, false);
    const VectorBlocks blocks(plan);
    CHECK(blocks.reads({1, 1}, 0).bytes_of_sm == 1024 + 200);
    // 2,000 values, met three times: a CTA's 512 lie behind each other, or go round at 2,000.
    plan.in[1] = {place(kSecond, 4000), 2000, met_again(6000, 2000, 1)};
    Passes second(plan.in[1].place, false);
    for (std::int64_t cta = 0; cta < blocks.ctas(); ++cta)
        for (const TileAccess::Block& block : blocks.reads({cta, 1}, 0).blocks) second.add(false, block);
    CHECK(second.all(3));
    // 30 items of 200, each with 10 values of its own: a CTA of 512 has 4 items at most, and 10 values each.
    plan.in[1] = {place(kSecond, 600), 300, met_again(6000, 300, 30)};
    for (std::int64_t cta = 0; cta < blocks.ctas(); ++cta)
        CHECK(blocks.reads({cta, 1}, 0).bytes_of_sm <= 1024 + 4 * 20);
    check(plan, spec, true, false);
}

TEST_CASE("A gate reads both operands once, and a rotary embedding its table once for each token") {
    const SimtSpec spec = gpu(3);
    VectorPlan gate = plan_of(gate_kernel(20, 3000, mix_of(Function::Silu), DType::Fp16, DType::Fp16), spec);
    gate.in.push_back({place(kSecond, 20 * 6000), 60'000});
    check(gate, spec, false);
    check(gate, spec, true);
    // 12 positions, met by two items of 24 rows.
    VectorPlan rotary = plan_of(rotary_kernel({2, 12, 5, 64}, DType::Fp16, DType::Fp16), spec);
    rotary.in.push_back({place(kSecond, 12 * 128), 12 * 64});
    check(rotary, spec, false, false);
    check(rotary, spec, true, false);
    const VectorBlocks blocks(rotary);
    Passes table(rotary.in[1].place, false);
    for (std::int64_t cta = 0; cta < blocks.ctas(); ++cta)
        for (std::int64_t step = 0; step < blocks.steps(cta); ++step)
            for (const TileAccess::Block& block : blocks.reads({cta, 1}, step).blocks)
                table.add(false, block);
    CHECK(table.all(2));
}

TEST_CASE("A rotary embedding of queries and keys reads and writes each of both once, in either engine") {
    const SimtSpec spec = gpu(3);
    // Rounds with all warps and with some, whole loops of keys and a few warps of them, fewer than 512
    // threads.
    for (const auto& [heads, key_heads] : {std::pair(10, 10), std::pair(16, 2), std::pair(5, 5),
                                           std::pair(20, 20), std::pair(9, 3), std::pair(8, 1)}) {
        INFO(fmt::format("{} and {} heads", heads, key_heads));
        VectorPlan plan =
            plan_of(rotary_kernel({1, 14, heads, 128}, DType::Fp16, DType::Fp16, key_heads), spec);
        const std::int64_t row = 128 * 2;
        plan.in = {{place(kIn, 14 * heads * row), 14 * heads * 128},
                   {place(kSecond, 14 * key_heads * row), 14 * key_heads * 128},
                   {place(kColumns, 14 * row), 14 * 128}};
        plan.to = {place(kOut, 14 * heads * row), 14 * heads * 128};
        plan.beside = place(kOut + (1 << 20), 14 * key_heads * row);
        check(plan, spec, false);
        check(plan, spec, true);
    }
}

TEST_CASE("Of queries and keys that are views of one matrix, rows are read where they lie in it") {
    const SimtSpec spec = gpu(3);
    // 14 rows of four heads of queries, two of keys and two of values.
    const std::int64_t rows = 14, row = 8 * 128 * 2;
    VectorKernel kernel = rotary_kernel({1, rows, 4, 128}, DType::Fp16, DType::Fp16, 2);
    kernel.packed_cols = 8 * 128;
    VectorPlan plan = plan_of(kernel, spec);
    const VectorOperand matrix{place(kIn, rows * row), rows * 8 * 128};
    plan.in = {matrix, matrix, {place(kColumns, rows * 256), rows * 128}};
    for (const std::int64_t stride : {1, 5}) {
        const VectorBlocks blocks(plan);
        std::vector<int> met(static_cast<std::size_t>(rows * row));
        for (std::int64_t cta = 0; cta < stride; ++cta)
            for (std::int64_t step = 0; step < blocks.steps(cta); ++step) {
                const CtaRange range{cta, (rows - cta + stride - 1) / stride, stride};
                for (const TileAccess::Block& block : blocks.reads(range, step).blocks)
                    for (std::int64_t i = 0; i < block.bytes && block.address < kSecond; ++i)
                        ++met.at(static_cast<std::size_t>(block.address + i));
            }
        for (std::int64_t at = 0; at < rows * row; ++at)
            REQUIRE(met.at(static_cast<std::size_t>(at)) == (at % row < 6 * 128 * 2 ? 1 : 0));
    }
}

TEST_CASE("vLLM turns queries and keys in one kernel where neither waits for the other") {
    const auto graph = [](const std::string& others, const std::string& keys) {
        return build_trace(
            config::parse_yaml("trace: one\ninputs:\n  a: {shape: [3, 7, 8, 128], dtype: fp16}\n" + others +
                                   "layers:\n  - {name: q, op: rotary, in: a, axis: 1}\n"
                                   "  - {name: k, op: rotary, in: " +
                                   keys + ", axis: 1}\noutputs: [q, k]\n",
                               "one.yaml"),
            {});
    };
    const Graph both = graph("  b: {shape: [3, 7, 2, 128], dtype: fp16}\n", "b");
    KernelsSpec kernels;
    CHECK(prepares_attention(both, 0, kernels) == 0);
    kernels.layers = Library::Vllm;
    CHECK(prepares_attention(both, 0, kernels) == kTurnedByVllm);
    CHECK(prepares_attention(both, 1, kernels) == 0);
    CHECK(prepares_attention(graph("", "q"), 0, kernels) == 0);
}

TEST_CASE("vLLM's rotary embedding takes views of what lies one behind the other and nobody else reads") {
    const auto graph = [](std::int64_t begin_of_keys, const std::string& outputs) {
        const std::string text = fmt::format(
            "trace: one\ninputs:\n  qkv: {{shape: [3, 7, 1536], dtype: fp16}}\nlayers:\n"
            "  - {{name: a, op: slice, in: qkv, axis: 2, size: 1024}}\n"
            "  - {{name: b, op: slice, in: qkv, axis: 2, begin: {}, size: 256}}\n"
            "  - {{name: ah, op: reshape, in: a, shape: [3, 7, 8, 128]}}\n"
            "  - {{name: bh, op: reshape, in: b, shape: [3, 7, 2, 128]}}\n"
            "  - {{name: q, op: rotary, in: ah, axis: 1}}\n"
            "  - {{name: k, op: rotary, in: bh, axis: 1}}\n"
            "outputs: [{}]\n",
            begin_of_keys, outputs);
        return build_trace(config::parse_yaml(text, "one.yaml"), {});
    };
    KernelsSpec kernels;
    kernels.layers = Library::Vllm;
    CHECK(prepares_attention(graph(1024, "q, k"), 0, kernels) == kTurnedViews);
    CHECK(prepares_attention(graph(1280, "q, k"), 0, kernels) == 0);
    CHECK(prepares_attention(graph(1024, "q, k, b"), 0, kernels) == 0);
    kernels.layers = Library::PyTorch;
    CHECK(prepares_attention(graph(1024, "q, k"), 0, kernels) == 0);
}

TEST_CASE("Of rows that are read round by round a miss brings nothing else along") {
    const SimtSpec spec = gpu(4);
    const auto along = [&](std::int64_t cols) {
        const VectorPlan plan = plan_of(
            norm_kernel({.kind = Norm::Kind::Rms, .rows = 2000, .cols = cols}, DType::Fp16, DType::Fp16),
            spec);
        const VectorBlocks blocks(plan);
        std::int64_t count = 0;
        for (std::int64_t step = 0; step < plan.kernel.trips(); ++step)
            for (const TileAccess::Block& block : blocks.reads({0, 4}, step).blocks)
                count += !block.matrix.empty();
        return count;
    };
    CHECK(along(8192) == 0);
    CHECK(along(512) == 4);  // whole rows, one behind the other
}

TEST_CASE("A lookup's CTAs read its rows and indices, and write what lies one behind the other") {
    const SimtSpec spec = gpu(3);
    for (const std::int64_t bag : {1, 4}) {
        const LookupRows rows{.rows = 50, .width = 700, .lookups = 40, .bag = bag, .spread = Spread::Random};
        VectorPlan plan;
        plan.kernel = lookup_kernel(rows, DType::Fp32, DType::Fp32);
        plan.timing = time_vector(plan.kernel, spec.sm).value();
        plan.in = {{place(kSecond, 40 * 4), 40}, {place(kIn, 50 * 2800), 50 * 700}};
        plan.to = {place(kOut, 40 / bag * 2800), 40 / bag * 700};
        const VectorBlocks blocks(plan);
        std::vector<std::int64_t> read(50 * 2800), wanted(50 * 2800),
            written(static_cast<std::size_t>(plan.to.place.bytes.value()));
        for (std::int64_t i = 0; i < rows.lookups; ++i)
            for (std::int64_t b = 0; b < 2800; ++b)
                ++wanted.at(static_cast<std::size_t>(row_of(rows, i) * 2800 + b));
        std::int64_t indices = 0;
        for (std::int64_t cta = 0; cta < blocks.ctas(); ++cta) {
            for (std::int64_t step = 0; step < blocks.steps(cta); ++step)
                for (const TileAccess::Block& block : blocks.reads({cta, 1}, step).blocks) {
                    if (step == 0) indices += block.bytes;
                    // Neighbours in the table are strangers: no matrix that a miss would fetch more of.
                    if (step > 0) CHECK(block.matrix.empty());
                    for (std::int64_t b = 0; step > 0 && b < block.bytes; ++b)
                        ++read.at(static_cast<std::size_t>(block.address - kIn + b));
                }
            for (const TileAccess::Block& block : blocks.writes({cta, 1}).blocks)
                for (std::int64_t b = 0; b < block.bytes; ++b)
                    ++written.at(static_cast<std::size_t>(block.address - kOut + b));
        }
        INFO("bags of " << bag);
        CHECK(read == wanted);
        CHECK(written == std::vector<std::int64_t>(written.size(), 1));
        CHECK(indices == 40 * 4 * plan.kernel.ctas_of_row());
    }
}

TEST_CASE("CTAs that go through all lookups write their part of each") {
    const SimtSpec spec = gpu(3);
    const LookupRows rows{.rows = 50, .width = 700, .lookups = 7, .spread = Spread::Random};
    VectorPlan plan;
    plan.kernel = by_element(lookup_kernel(rows, DType::Fp16, DType::Fp16));
    plan.timing = time_vector(plan.kernel, spec.sm).value();
    plan.in = {{place(kSecond, 7 * 4), 7}, {place(kIn, 50 * 1400), 50 * 700}};
    plan.to = {place(kOut, 7 * 1400), 7 * 700};
    const VectorBlocks blocks(plan);
    CHECK(blocks.ctas() == 6);  // 128 of 700 columns
    std::vector<std::int64_t> read(50 * 1400), wanted(50 * 1400), written(7 * 1400);
    for (std::int64_t i = 0; i < rows.lookups; ++i)
        for (std::int64_t b = 0; b < 1400; ++b)
            ++wanted.at(static_cast<std::size_t>(row_of(rows, i) * 1400 + b));
    for (std::int64_t cta = 0; cta < blocks.ctas(); ++cta) {
        for (std::int64_t step = 0; step < blocks.steps(cta); ++step)
            for (const TileAccess::Block& block : blocks.reads({cta, 1}, step).blocks)
                for (std::int64_t b = 0; step > 0 && b < block.bytes; ++b)
                    ++read.at(static_cast<std::size_t>(block.address - kIn + b));
        const TileAccess writes = blocks.writes({cta, 1});
        CHECK(writes.blocks.size() == 7);
        CHECK(writes.bytes_of_sm == 7 * 2 * (cta < 5 ? 128 : 60));
        for (const TileAccess::Block& block : writes.blocks)
            for (std::int64_t b = 0; b < block.bytes; ++b)
                ++written.at(static_cast<std::size_t>(block.address - kOut + b));
    }
    CHECK(read == wanted);
    CHECK(written == std::vector<std::int64_t>(written.size(), 1));
}

TEST_CASE("Of one CTA alone every picosecond is known") {
    // A clock of 1 GHz; see vector_program_test for the same kernel's cycles.
    SimtSpec spec = systole::simt::test::small_gpu(1);
    VectorPlan plan;
    plan.kernel = elementwise_kernel(512, 1, mix_of(Function::Relu), DType::Fp32, DType::Fp32);
    plan.timing.ahead = 1;
    plan.timing.prologue = Cycles(52);
    plan.timing.interval_alone = 71;
    plan.timing.interval_full = 36;
    plan.timing.lost_alone.vector = plan.timing.lost_full.vector = 1;
    plan.in.push_back({place(kIn, 2048), 512});
    plan.to = {place(kOut, 2048), 512};
    spec.l2.sm_read_per_cycle = spec.l2.bytes_per_cycle = Bytes(64);
    const VectorBlocks work(plan);
    const IdealRun run(work, times_of(plan, spec, spec.core_clock), 1, Ticks(400'000), 1);
    // 10 cycles to launch, 52 to the load, 400 until it is there, 71 to the last store, and 400 more.
    CHECK(run.end == Ticks((10 + 52 + 400 + 71 + 400) * 1000));
    CHECK(of(run.account, SlotClass::Launch) == 10'000);
    CHECK(of(run.account, SlotClass::Vector) == (52 + 71) * 1000);
    CHECK(of(run.account, SlotClass::Memory) == 800'000);
}
