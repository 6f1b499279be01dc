// SPDX-License-Identifier: Apache-2.0
// The kernel ahead of attention: who has which rows, as TensorRT-LLM shares them out, and which bytes are
// read and written.
#include "models/devices/simt/machine/qkv_blocks.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

#include "models/devices/simt/kernels/qkv_kernel.h"
#include "sim/workload/trace.h"
#include "tests/unit/simt/vector_runs.h"

using namespace systole;
using namespace systole::simt;
using namespace systole::simt::test;

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

struct Rows {
    std::int64_t batch, seq, length, heads, kv_heads, dim;
};

/// A layer ahead of attention as a network has it.
Graph network(const Rows& s, const std::string& output = "turned, keys, values") {
    const std::string text = fmt::format(
        "trace: one\ninputs:\n"
        "  q: {{shape: [{0}, {1}, {3}, {5}], dtype: bf16}}\n"
        "  k: {{shape: [{0}, {1}, {4}, {5}], dtype: bf16}}\n"
        "  v: {{shape: [{0}, {1}, {6}], dtype: bf16}}\n"
        "layers:\n"
        "  - {{name: turned, op: rotary, in: q, axis: 1, weight_dtype: fp32}}\n"
        "  - {{name: turned_keys, op: rotary, in: k, axis: 1, weight_dtype: fp32}}\n"
        "  - {{name: keys, op: kv_cache, in: turned_keys, heads: {4}, length: {2}}}\n"
        "  - {{name: values, op: kv_cache, in: v, heads: {4}, length: {2}}}\n"
        "outputs: [{7}]\n",
        s.batch, s.seq, s.length, s.heads, s.kv_heads, s.dim, s.kv_heads * s.dim, output);
    return build_trace(config::parse_yaml(text, "one.yaml"), {});
}

SimtSpec library(int sms, std::int64_t table_positions = 0) {
    SimtSpec spec = gpu(sms);
    spec.kernels.layers = Library::TensorRtLlm;
    spec.kernels.table_positions = table_positions;
    return spec;
}

VectorPlan plan_for(const Rows& s, const SimtSpec& spec, const std::string& output = "turned, keys, values") {
    const Graph graph = network(s, output);
    REQUIRE(prepares_attention(graph, 0, spec.kernels) == kQkvLayers);
    VectorPlan plan;
    plan.kernel = qkv_kernel(graph, graph.layers, spec);
    const std::int64_t rows = s.batch * s.seq, row = s.dim * 2, cache = s.batch * s.kv_heads * s.length * row;
    const std::vector<std::int64_t> sizes{rows * s.heads * row, rows * s.kv_heads * row,
                                          rows * s.kv_heads * row, s.seq * s.dim * 4};
    std::int64_t at = 0;
    const auto placed = [&](std::int64_t bytes, Operand operand) {
        const MatrixPlace place{at, operand, Bytes(bytes), Bytes(0)};
        at += round_up(bytes, kMiB);
        return place;
    };
    for (std::size_t i = 0; i < (plan.kernel.qkv.computed ? 3 : 4); ++i)
        plan.in.push_back({placed(sizes[i], i < 3 ? Operand::Activations : Operand::Weights), sizes[i] / 2});
    plan.to = {placed(sizes[0], Operand::Outputs), sizes[0] / 2};
    for (int i = 0; i < 2; ++i) plan.caches.push_back(placed(cache, Operand::KvCache));
    if (plan.kernel.qkv.keeps_keys) plan.beside = placed(sizes[1], Operand::Outputs);
    return plan;
}

/// By operand's first byte: bytes that pass, counted as gathered.
std::map<std::int64_t, std::int64_t> passed(const VectorPlan& plan, bool writes, std::int64_t together) {
    const QkvBlocks work(plan);
    std::vector<std::int64_t> begins;
    for (const VectorOperand& operand : plan.in) begins.push_back(operand.place.address);
    begins.push_back(plan.to.place.address);
    for (const MatrixPlace& cache : plan.caches) begins.push_back(cache.address);
    if (plan.kernel.qkv.keeps_keys) begins.push_back(plan.beside.address);
    std::map<std::int64_t, std::int64_t> sums;
    const auto add = [&](const TileAccess& access) {
        for (const TileAccess::Block& block : access.blocks) {
            const auto next = std::upper_bound(begins.begin(), begins.end(), block.address);
            sums[*(next - 1)] += block.taken();
        }
    };
    for (std::int64_t cta = 0; cta < work.ctas(); cta += together) {
        const CtaRange range{cta, std::min(together, work.ctas() - cta)};
        if (writes) add(work.writes(range));
        for (std::int64_t step = 0; !writes && step < work.steps(cta); ++step) add(work.reads(range, step));
    }
    return sums;
}

}  // namespace

TEST_CASE("Each head has each row once, whatever number its CTAs have") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        std::mt19937_64 random(seed);
        const auto between = [&](std::int64_t low, std::int64_t high) {
            return std::uniform_int_distribution<std::int64_t>(low, high)(random);
        };
        const std::int64_t kv_heads = between(1, 5), seq = between(1, 40);
        const Rows shape{between(1, 20),
                         seq,
                         seq + between(0, 30),
                         kv_heads * between(1, 7),
                         kv_heads,
                         std::array{32, 64, 128, 192, 256}.at(static_cast<std::size_t>(between(0, 4)))};
        const SimtSpec spec = library(static_cast<int>(between(1, 9)), seed % 2 == 0 ? 1 : 0);
        const VectorPlan plan = plan_for(shape, spec);
        const QkvRows& rows = plan.kernel.qkv;
        REQUIRE(rows.computed == (seed % 2 == 0 && shape.length > 1));
        std::vector<int> met(static_cast<std::size_t>(shape.heads * rows.rows()));
        for (std::int64_t cta = 0; cta < rows.ctas(); ++cta)
            for (std::int64_t round = 0; round < rows.rounds(); ++round) {
                const QkvRows::Part part = rows.part(cta, round);
                for (std::int64_t row = part.first; row < part.end; ++row)
                    ++met.at(static_cast<std::size_t>(part.head * rows.rows() + row));
            }
        INFO("seed " << seed);
        CHECK(std::all_of(met.begin(), met.end(), [](int times) { return times == 1; }));
        for (const std::int64_t together : {std::int64_t{1}, std::int64_t{7}}) {
            const auto read = passed(plan, false, together), written = passed(plan, true, together);
            // Keys and values once for each head of queries that shares them, cosines for each head and item.
            CHECK(read.at(plan.in[0].place.address) == plan.in[0].place.bytes.value());
            for (const std::size_t i : {1U, 2U})
                CHECK(read.at(plan.in[i].place.address) ==
                      plan.in[i].place.bytes.value() * shape.heads / shape.kv_heads);
            if (!rows.computed)
                CHECK(read.at(plan.in[3].place.address) ==
                      plan.in[3].place.bytes.value() * shape.batch * shape.heads);
            CHECK(written.at(plan.to.place.address) == plan.to.place.bytes.value());
            for (const MatrixPlace& cache : plan.caches)
                CHECK(written.at(cache.address) == cache.bytes.value() / shape.length * shape.seq);
        }
    }
}

TEST_CASE("CTAs with a table are as many as fill waves of 1024 threads an SM") {
    // 132 SMs have room for 528 CTAs of 256 threads; one has 16 tokens of a head of 128.
    const auto wide = [](const Rows& shape, int sms) {
        return plan_for(shape, library(sms)).kernel.qkv.wide;
    };
    CHECK(wide({1, 128, 128, 32, 8, 128}, 132) == 8);     // 256 CTAs: not a wave
    CHECK(wide({8, 1024, 1024, 64, 8, 128}, 132) == 33);  // 33 x 64 are four waves
    CHECK(wide({4, 1024, 1024, 12, 12, 128}, 132) == 44);
    CHECK(wide({64, 1, 512, 16, 4, 128}, 132) == 4);
    // Heads of 192: CTAs of 192 threads and 8 tokens, of which five are a wave's on an SM.
    const VectorKernel kernel = plan_for({4, 100, 100, 8, 8, 192}, library(108)).kernel;
    CHECK(kernel.threads() == 192);
    CHECK(kernel.qkv.own == 8);
    CHECK(kernel.qkv.wide == 50);
}

TEST_CASE("Beyond the table a warp has a position of a head, and four sequences at least") {
    const QkvRows few = plan_for({9, 1, 2000, 16, 4, 128}, library(132, 1024)).kernel.qkv;
    CHECK(few.computed);
    CHECK(few.wide == 3);
    CHECK(few.rounds() == 3);
    CHECK(few.ctas() == 16 * 3);
    // 132 x 32 warps and more: all sequences one behind the other.
    const QkvRows many = plan_for({6, 2000, 2000, 16, 4, 128}, library(132, 1024)).kernel.qkv;
    CHECK(many.wide == 1);
    CHECK(many.rounds() == 6);
    CHECK(many.ctas() == 2000 * 16);
}

TEST_CASE("The kernel does layers one behind the other") {
    const Rows shape{2, 5, 9, 8, 4, 64};
    const SimtSpec spec = library(4);
    CHECK(prepares_attention(network(shape), 0, spec.kernels) == 4);
    CHECK(prepares_attention(network(shape), 1, spec.kernels) == 0);
    CHECK(prepares_attention(network(shape), 0, gpu(4).kernels) == 0);
    Graph other = network(shape);
    std::swap(other.layers[2].inputs, other.layers[3].inputs);
    CHECK(prepares_attention(other, 0, spec.kernels) == 0);
    // Turned keys that somebody else reads are stored by themselves, too.
    const VectorPlan kept = plan_for(shape, spec, "turned, turned_keys, keys, values");
    CHECK(kept.kernel.qkv.keeps_keys);
    CHECK(passed(kept, true, 1).at(kept.beside.address) == 2 * 5 * 4 * 64 * 2);
    CHECK_FALSE(plan_for(shape, spec).kernel.qkv.keeps_keys);
}

TEST_CASE("Queries, keys and values that are parts of one matrix are taken apart by the same kernel") {
    const auto graph = [](std::int64_t begin_of_values, const std::string& outputs) {
        const std::string text = fmt::format(
            "trace: one\ninputs:\n  qkv: {{shape: [3, 7, 1536], dtype: bf16}}\nlayers:\n"
            "  - {{name: a, op: slice, in: qkv, axis: 2, begin: 0, size: 1024}}\n"
            "  - {{name: b, op: slice, in: qkv, axis: 2, begin: 1024, size: 256}}\n"
            "  - {{name: v, op: slice, in: qkv, axis: 2, begin: {}, size: 256}}\n"
            "  - {{name: q, op: reshape, in: a, shape: [3, 7, 8, 128]}}\n"
            "  - {{name: k, op: reshape, in: b, shape: [3, 7, 2, 128]}}\n"
            "  - {{name: turned, op: rotary, in: q, axis: 1}}\n"
            "  - {{name: turned_keys, op: rotary, in: k, axis: 1}}\n"
            "  - {{name: keys, op: kv_cache, in: turned_keys, heads: 2, length: 7}}\n"
            "  - {{name: values, op: kv_cache, in: v, heads: 2, length: 7}}\n"
            "outputs: [{}]\n",
            begin_of_values, outputs);
        return build_trace(config::parse_yaml(text, "one.yaml"), {});
    };
    const SimtSpec spec = library(4);
    const Graph packed = graph(1280, "turned, keys, values");
    CHECK(prepares_attention(packed, 0, spec.kernels) == kPackedLayers);
    // Parts that are not all of the matrix, or that somebody else reads, are copied.
    CHECK(prepares_attention(graph(1279, "turned, keys, values"), 0, spec.kernels) == 0);
    CHECK(prepares_attention(graph(1280, "turned, keys, values, v"), 0, spec.kernels) == 0);
    VectorPlan plan;
    plan.kernel = qkv_kernel(packed, packed.layers, spec);
    REQUIRE(plan.kernel.qkv.packed);
    const MatrixPlace matrix{0, Operand::Activations, Bytes(3 * 7 * 1536 * 2), Bytes(0)};
    for (int i = 0; i < 3; ++i) plan.in.push_back({matrix, 3 * 7 * 1536});
    plan.in.push_back({{kMiB, Operand::Weights, Bytes(7 * 128 * 4), Bytes(0)}, 7 * 128});
    plan.to = {{2 * kMiB, Operand::Outputs, Bytes(3 * 7 * 1024 * 2), Bytes(0)}, 3 * 7 * 1024};
    const QkvBlocks work(plan);
    std::vector<int> met(static_cast<std::size_t>(matrix.bytes.value()));
    for (std::int64_t cta = 0; cta < work.ctas(); ++cta)
        for (const TileAccess::Block& block : work.reads({cta, 1}, 0).blocks)
            for (std::int64_t i = 0; i < block.bytes && block.address < kMiB; ++i)
                ++met.at(static_cast<std::size_t>(block.address + i));
    // Bytes of queries once, of keys and values for each of the four heads that share them.
    CHECK(std::count(met.begin(), met.end(), 1) == 3 * 7 * 1024 * 2);
    CHECK(std::count(met.begin(), met.end(), 4) == 3 * 7 * 512 * 2);
}
