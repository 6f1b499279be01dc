// SPDX-License-Identifier: Apache-2.0
// Attention of random lengths and heads between matrix products, on random machines: whatever blocks are
// chosen, every pair that sees each other is multiplied once, in bounds, in order, and nothing stands still.
#include <catch2/catch.hpp>

#include "sim/base/error.h"
#include "tests/support/seeds.h"
#include "tests/unit/lowering/fixtures.h"
#include "tests/unit/lowering/random_layers.h"
#include "tests/unit/lowering/replay.h"

namespace systole::systolic {
namespace {

using test::Dice;
using test::GraphOf;

/// Keys or values: an input, or a cache, which may have been there or take the last rows from this network.
TensorId random_keys(GraphOf& g, Dice& dice, const Attention& op, std::int64_t dim, DType dtype,
                     bool appended) {
    const std::int64_t width = op.kv_heads * dim;
    if (!op.by_head) return g.input({op.batch, op.kv_len, width}, dtype);
    const Shape cache{op.batch, op.kv_heads, op.kv_len, dim};
    if (!appended) return g.input(cache, dtype, TensorRole::KvCache);
    const TensorId from = g.input({op.batch * op.q_len, dice.pick(1, 9)}, dtype);
    const TensorId rows = g.matmul(from, op.batch * op.q_len, width, g.graph.tensors[from].shape[1]);
    const TensorId out =
        g.vector({rows}, CacheAppend{op.batch, op.q_len, op.kv_heads, dim, op.kv_len}, cache);
    g.graph.tensors[out].role = TensorRole::KvCache;
    return out;
}

TensorId unfused(GraphOf& g, Attention op, TensorId q, TensorId k, TensorId v, const Shape& out) {
    const Shape scores{op.items(), op.q_len * op.group(), op.kv_len};
    op.part = Attention::Part::Scores;
    const TensorId made = g.vector({q, k}, op, scores);
    const TensorId shares = g.vector({made}, Softmax{scores[0] * scores[1], scores[2]}, scores);
    op.part = Attention::Part::Context;
    return g.vector({shares, v}, op, out);
}

Graph random_graph(Dice& dice) {
    GraphOf g;
    Attention op;
    op.batch = dice.pick(1, 2);
    op.q_len = dice.pick(1, 7);
    op.kv_len = op.q_len + (dice.coin() ? 0 : dice.pick(1, 12));
    op.kv_heads = dice.pick(1, 3);
    op.heads = op.kv_heads * dice.pick(1, 4);
    op.head_dim = dice.pick(1, 8);
    op.causal = dice.coin();
    op.by_head = dice.coin();
    const bool fused = dice.coin(), appended = dice.coin();
    const DType dtype = dice.coin() ? DType::Int8 : DType::Bf16;
    const std::int64_t width = op.heads * op.head_dim, rows = op.batch * op.q_len;
    const std::int64_t depth = dice.pick(1, 9);
    if (dice.coin()) op.value_width = dice.pick(1, 8);
    op.shared = op.value_dim() <= op.head_dim && dice.coin();
    const TensorId k = random_keys(g, dice, op, op.head_dim, dtype, appended);
    const TensorId v = op.shared ? k : random_keys(g, dice, op, op.value_dim(), dtype, appended);
    const TensorId q = g.matmul(g.input({rows, depth}, dtype), rows, width, depth);
    const Shape out{op.batch, op.q_len, op.heads * op.value_dim()};
    const TensorId context = fused ? g.vector({q, k, v}, op, out) : unfused(g, op, q, k, v, out);
    return g.finish(g.matmul(context, rows, dice.pick(1, 9), out[2]));
}

TEST_CASE("Random attention on random machines keeps every promise") {
    int ran = 0;
    for (std::uint64_t seed = 1; seed <= systole::test::enough(400); ++seed) {
        INFO("seed " << seed);
        Dice dice(seed);
        const SystolicSpec spec = random_machine(dice);
        const Graph graph = random_graph(dice);
        const Protocol protocol = dice.coin() ? Protocol::of_run() : Protocol::of_op();
        Lowered lowered;
        try {
            lowered = lower(graph, spec, protocol);
        } catch (const UserError& refused) {  // buffers may be too short, and nothing else may be wrong
            INFO(refused.what());
            REQUIRE_THAT(refused.what(), Catch::Contains("room") || Catch::Contains("fit"));
            continue;
        }
        test::Replay replay(graph, spec, lowered);
        REQUIRE(replay.run() == std::vector<std::string>{});
        REQUIRE(replay.completes_with_shallow_queues());
        ++ran;
    }
    CHECK(ran >= static_cast<int>(systole::test::enough(300)));
}

}  // namespace
}  // namespace systole::systolic
