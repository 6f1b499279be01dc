// SPDX-License-Identifier: Apache-2.0
// Attention on every kind of machine, held to the promises that Replay checks, and to bytes worked out by
// hand.
#include <catch2/catch.hpp>
#include <map>

#include "sim/base/error.h"
#include "sim/workload/trace.h"
#include "tests/unit/lowering/fixtures.h"

namespace systole::systolic {
namespace {

using test::check;
using test::GraphOf;
using test::large_machine;
using test::machines;
using test::small_machine;

using Columns = std::map<std::string, std::string>;

Columns columns(const Attention& op, const std::string& dtype, bool fused) {
    const auto text = [](bool flag) { return flag ? "true" : "false"; };
    return {{"batch", std::to_string(op.batch)},
            {"q_len", std::to_string(op.q_len)},
            {"kv_len", std::to_string(op.kv_len)},
            {"heads", std::to_string(op.heads)},
            {"kv_heads", std::to_string(op.kv_heads)},
            {"head_dim", std::to_string(op.head_dim)},
            {"causal", text(op.causal)},
            {"cache", text(op.by_head)},
            {"fused", text(fused)},
            {"dtype", dtype}};
}

Graph attention(const Attention& op, const std::string& dtype = "bf16", bool fused = true) {
    return single_operator("attention", columns(op, dtype, fused), {});
}

Attention shape(std::int64_t batch, std::int64_t q_len, std::int64_t kv_len, std::int64_t heads,
                std::int64_t kv_heads, std::int64_t head_dim, bool causal, bool cache) {
    Attention op;
    op.batch = batch, op.q_len = q_len, op.kv_len = kv_len;
    op.heads = heads, op.kv_heads = kv_heads, op.head_dim = head_dim;
    op.causal = causal, op.by_head = cache;
    return op;
}

std::vector<Attention> shapes() {
    return {shape(1, 4, 4, 1, 1, 4, false, false),    // one block
            shape(2, 5, 9, 2, 2, 8, false, false),    // heads of their own, ragged blocks
            shape(1, 7, 7, 4, 2, 6, true, false),     // groups of two, below the diagonal
            shape(2, 1, 19, 6, 2, 8, true, true),     // a decode step: groups of three, a cache
            shape(1, 3, 11, 5, 1, 4, true, true),     // one head of keys for all
            shape(1, 10, 10, 9, 1, 4, true, false)};  // groups longer than an array
}

/// Whose vector unit keeps up with its arrays.
SystolicSpec balanced_machine() {
    SystolicSpec spec = large_machine();
    spec.vector.lanes = 4096;
    return spec;
}

std::int64_t dram_bytes(const Lowered& lowered, Place from, Place to, Operand operand) {
    std::int64_t sum = 0;
    for (const Transfer& t : lowered.program.transfers)
        if (t.from.place == from && t.to.place == to && t.operand == operand) sum += t.bytes();
    return sum;
}

TEST_CASE("Fused attention reads, computes and writes what its definition says, on every machine") {
    for (const SystolicSpec& spec : machines())
        for (const Attention& op : shapes())
            for (const char* dtype : {"int8", "bf16"}) {
                CAPTURE(spec.name, to_string(spec.mxu.dataflow), spec.mxu.count, op.q_len, op.kv_len,
                        op.heads, op.kv_heads, dtype, spec.placement.activation_bytes.value());
                check(attention(op, dtype), spec);
            }
}

TEST_CASE("Attention whose scores are tensors does so too") {
    for (const SystolicSpec& spec : machines())
        for (const Attention& op : shapes()) {
            CAPTURE(spec.name, to_string(spec.mxu.dataflow), spec.mxu.count, op.q_len, op.kv_len, op.heads,
                    op.kv_heads, spec.placement.activation_bytes.value());
            check(attention(op, "bf16", false), spec);
        }
}

// 2 batch items, 64 queries and 64 keys, 4 heads over 2 heads of keys, 16 elements each, bf16:
// q and out 2 * 64 * 4 * 16 * 2 B = 16,384 B, k and v half of that each.
TEST_CASE("Fused, operands pass the DRAM's bus once; scores do not pass it") {
    const Lowered lowered =
        check(attention(shape(2, 64, 64, 4, 2, 16, false, false)), large_machine(), Protocol::of_op());
    CHECK(dram_bytes(lowered, Place::Dram, Place::Scratchpad, Operand::Activations) == 16384 + 2 * 8192);
    CHECK(dram_bytes(lowered, Place::Scratchpad, Place::Dram, Operand::Outputs) == 16384);
    CHECK(lowered.program.layers[0].compulsory_dram == 2 * 16384 + 2 * 8192);
}

// Scores are 2 * 4 * 64 * 64 * 2 B = 65,536 B. They and their softmax are written once and read once each.
TEST_CASE("Unfused, scores and their softmax pass it twice each") {
    const Lowered lowered = check(attention(shape(2, 64, 64, 4, 2, 16, false, false), "bf16", false),
                                  large_machine(), Protocol::of_op());
    CHECK(dram_bytes(lowered, Place::Dram, Place::Scratchpad, Operand::Activations) ==
          16384 + 2 * 8192 + 2 * 65536);
    CHECK(dram_bytes(lowered, Place::Scratchpad, Place::Dram, Operand::Outputs) == 16384 + 2 * 65536);
}

// A query of 8 heads on a cache of 512 rows of 2 heads of 32 elements: each of k and v is
// 2 * 512 * 32 * 2 B = 65,536 B, read once for all heads of a group.
TEST_CASE("Heads of a group share one load of a cache, entered as such") {
    const Lowered lowered =
        check(attention(shape(1, 1, 512, 8, 2, 32, true, true)), balanced_machine(), Protocol::of_op());
    CHECK(dram_bytes(lowered, Place::Dram, Place::Scratchpad, Operand::KvCache) == 2 * 65536);
    CHECK(dram_bytes(lowered, Place::Dram, Place::Scratchpad, Operand::Activations) == 8 * 32 * 2);
    for (const MatrixPass& pass : lowered.program.passes) CHECK(pass.m == 4);
}

// 1024 queries see 1024 * 1025 / 2 of 1024 * 1024 pairs. Of blocks of at most 256 x 256 at least 6 of 16 lie
// above the diagonal.
TEST_CASE("Blocks above the diagonal are skipped, what is hidden in others is padding") {
    const Attention op = shape(1, 1024, 1024, 1, 1, 64, true, false);
    const Lowered lowered = lower(attention(op), balanced_machine(), Protocol::of_op());
    std::int64_t useful = 0, all = 0;
    for (const MatrixPass& pass : lowered.program.passes) {
        useful += pass.macs().value();
        all += pass.m * pass.k * pass.n;
    }
    CHECK(useful == 2 * 64 * (std::int64_t{1024} * 1025 / 2));
    CHECK(all > useful);
    CHECK(all < 2 * std::int64_t{64} * 1024 * 1024);
}

// A decode step of 2 batch items on a cache of 7 rows: 2 heads of 4 elements, in a network of three layers.
TEST_CASE("A step's keys and values are written behind the cache and then read from it") {
    for (const SystolicSpec& spec : machines())
        for (const std::int64_t rows : {1, 3}) {
            CAPTURE(spec.name, to_string(spec.mxu.dataflow), spec.mxu.count, rows);
            GraphOf g;
            const auto appended = [&] {
                const CacheAppend op{2, rows, 2, 4, 7};
                const TensorId in = g.input({2, rows, 8}, DType::Bf16);
                const TensorId out = g.vector({in}, op, {2, 2, 7, 4});
                g.graph.tensors[out].role = TensorRole::KvCache;
                return out;
            };
            const TensorId k = appended(), v = appended();
            const TensorId q = g.input({2, rows, 16}, DType::Bf16);
            const TensorId out = g.vector({q, k, v}, shape(2, rows, 7, 4, 2, 4, true, true), {2, rows, 16});
            const Lowered lowered = check(g.finish(out), spec, Protocol::of_op());
            CHECK(dram_bytes(lowered, Place::Scratchpad, Place::Dram, Operand::KvCache) ==
                  2 * (2 * rows * 2 * 4 * 2));
        }
}

TEST_CASE("Attention that fits no buffer says what it needs") {
    SystolicSpec spec = small_machine(1);
    spec.placement.output_buffer = Bytes(128);
    CHECK_THROWS_WITH(lower(attention(shape(1, 64, 64, 1, 1, 64, false, false)), spec, Protocol::of_op()),
                      Catch::Contains("fused attention finds no room for its smallest blocks"));
}

}  // namespace
}  // namespace systole::systolic
