// SPDX-License-Identifier: Apache-2.0
// Products of a step of training on random machines: of a matrix product the gradients of its input, whose
// weights lie as the product has laid them out, and of its weights; of attention the products behind its
// gradients. Every product of numbers once, each operand from where its definition says.
#include <catch2/catch.hpp>

#include <algorithm>

#include "models/devices/systolic/lowering/dataflow_specs.h"
#include "sim/base/error.h"
#include "sim/workload/transposed_operands.h"
#include "tests/support/seeds.h"
#include "tests/unit/lowering/fixtures.h"
#include "tests/unit/lowering/random_layers.h"
#include "tests/unit/lowering/replay.h"

namespace systole::systolic {
namespace {

using test::Dice;
using test::GraphOf;

TensorId weights_of(const GraphOf& g, TensorId output) {
    return *std::ranges::find(g.graph.layers, output, &Layer::output)->weights;
}

/// A product with stored weights [k, n], or [n, k] where `transposed`; of weights that are known, or its own.
TensorId product(GraphOf& g, TensorId in, std::int64_t m, std::int64_t n, std::int64_t k, bool transposed,
                 std::optional<TensorId> weights = std::nullopt) {
    const TensorId out = g.matmul(in, m, n, k);
    Layer& layer = g.graph.layers.back();
    std::get<MatMul>(layer.op).transposed_b = transposed;
    if (transposed) g.graph.tensors[*layer.weights].shape = {n, k};
    if (weights) {  // the tensor that was made for it stays behind, unused and small
        g.graph.tensors[*layer.weights].shape = {1};
        layer.weights = weights;
    }
    return out;
}

/// Of weights [k, n]: in^T gradient, over `rows` rows.
TensorId weights_gradient(GraphOf& g, TensorId in, TensorId gradient, std::int64_t rows, std::int64_t k,
                          std::int64_t n) {
    MatMul op;
    op.m = k, op.n = n, op.k = rows;
    op.transposed_a = true;
    return g.batched(in, gradient, op);
}

/// Two or three products one behind the other, and the way back through them.
Graph random_products(Dice& dice) {
    GraphOf g;
    const DType dtype = dice.coin() ? DType::Int8 : DType::Bf16;
    const std::int64_t rows = dice.pick(1, 24);
    std::vector<std::int64_t> widths{dice.pick(1, 20)};
    std::vector<TensorId> maps{g.input({rows, widths[0]}, dtype)}, weights;
    std::vector<bool> transposed;
    for (std::int64_t layers = dice.pick(2, 3); layers > 0; --layers) {
        const std::int64_t n = dice.pick(1, 20);
        transposed.push_back(dice.coin());
        maps.push_back(product(g, maps.back(), rows, n, widths.back(), transposed.back()));
        weights.push_back(weights_of(g, maps.back()));
        widths.push_back(n);
        if (dice.pick(0, 3) == 0)  // the same weights once more, the same way round
            g.graph.outputs.push_back(product(g, maps[maps.size() - 2], rows, n, widths[widths.size() - 2],
                                              transposed.back(), weights.back()));
    }
    TensorId gradient = g.input({rows, widths.back()}, dtype);
    for (std::size_t i = weights.size(); i-- > 0;) {
        g.graph.outputs.push_back(weights_gradient(g, maps[i], gradient, rows, widths[i], widths[i + 1]));
        if (dice.pick(0, 3) == 0)  // the input of several products
            g.graph.outputs.push_back(weights_gradient(g, maps[i], gradient, rows, widths[i], widths[i + 1]));
        gradient = product(g, gradient, rows, widths[i], widths[i + 1], !transposed[i], weights[i]);
    }
    g.graph.outputs.push_back(gradient);
    g.graph.name = "test";
    return transpose_operands(g.graph);
}

/// Attention whose scores are tensors, and the five products that its gradients are made of, as they follow
/// each other.
Graph random_attention(Dice& dice) {
    GraphOf g;
    const DType dtype = dice.coin() ? DType::Int8 : DType::Bf16;
    Attention op;
    op.batch = dice.pick(1, 2);
    op.q_len = dice.pick(1, 9);
    op.kv_len = op.q_len + (dice.coin() ? 0 : dice.pick(1, 6));
    op.kv_heads = dice.pick(1, 3);
    op.heads = op.kv_heads * dice.pick(1, 4);
    op.head_dim = dice.pick(1, 8);
    op.causal = dice.coin();
    if (dice.coin()) op.value_width = dice.pick(1, 8);
    const auto rows = [&](std::int64_t length, std::int64_t heads, std::int64_t dim) {
        return Shape{op.batch, length, heads * dim};
    };
    const Shape scores{op.batch, op.kv_heads, op.q_len, op.group(), op.kv_len};
    const auto part = [&](Attention::Part which, bool of_values) {
        Attention own = op;
        own.part = which;
        own.of_values = of_values;
        return own;
    };
    using Part = Attention::Part;
    const TensorId q = g.input(rows(op.q_len, op.heads, op.head_dim), dtype);
    const TensorId k = g.input(rows(op.kv_len, op.kv_heads, op.head_dim), dtype);
    const TensorId v = g.input(rows(op.kv_len, op.kv_heads, op.value_dim()), dtype);
    const TensorId out_gradient = g.input(rows(op.q_len, op.heads, op.value_dim()), dtype);
    const TensorId made = g.vector({q, k}, part(Part::Scores, false), scores);
    const TensorId shares = g.vector({made}, Softmax{op.batch * op.heads * op.q_len, op.kv_len}, scores);
    const TensorId back = g.vector({out_gradient, v}, part(Part::Scores, true), scores);
    Attention queries = part(Part::Context, false);
    queries.value_width = op.head_dim;
    g.graph.outputs = {
        g.vector({back, k}, queries, g.graph.tensors[q].shape),
        g.vector({back, q}, part(Part::Keys, false), g.graph.tensors[k].shape),
        g.vector({shares, out_gradient}, part(Part::Keys, true), g.graph.tensors[v].shape),
        g.vector({shares, v}, part(Part::Context, false), g.graph.tensors[out_gradient].shape)};
    g.graph.name = "test";
    return transpose_operands(g.graph);
}

SystolicSpec random_chip(Dice& dice) {
    SystolicSpec spec = test::random_machine(dice);
    spec.cores = static_cast<int>(dice.pick(2, 3));
    spec.mxu.count = std::min(spec.mxu.count, 3);
    if (spec.placement.activations == Space::Scratchpad) spec.placement.choose = true;
    spec.placement.activations = Space::Dram;
    return spec;
}

/// How many of so many random graphs run; each refusal is for want of room.
int keep_promises(Graph random(Dice&), SystolicSpec machine(Dice&), std::uint64_t seeds, bool mixed = false) {
    int ran = 0;
    for (std::uint64_t seed = 1; seed <= systole::test::enough(seeds); ++seed) {
        INFO("seed " << seed);
        Dice dice(seed);
        SystolicSpec spec = machine(dice);
        const Graph graph = random(dice);
        const Protocol protocol = dice.coin() ? Protocol::of_run() : Protocol::of_op();
        LayerDataflows dataflows;
        if (mixed) {
            spec.mxu.choose_dataflow = true;
            spec.mxu.weight_source = Space::Scratchpad;
            for (const Layer& layer : graph.layers)
                dataflows.emplace(layer.name, static_cast<Dataflow>(dice.pick(0, 2)));
        }
        Lowered lowered;
        try {
            lowered = lower(graph, spec, protocol,
                            {.dataflows = mixed ? &dataflows : nullptr, .cores = spec.cores});
        } catch (const UserError& refused) {
            INFO(refused.what());
            REQUIRE_THAT(refused.what(), Catch::Contains("room") || Catch::Contains("fit"));
            continue;
        }
        test::Replay replay(graph, spec, lowered);
        REQUIRE(replay.run() == std::vector<std::string>{});
        REQUIRE(replay.completes_with_shallow_queues());
        ++ran;
    }
    return ran;
}

TEST_CASE("Random products with the gradients of their operands keep every promise") {
    CHECK(keep_promises(random_products, test::random_machine, 400) >
          static_cast<int>(systole::test::enough(380)));
    CHECK(keep_promises(random_products, random_chip, 200) > static_cast<int>(systole::test::enough(190)));
}

TEST_CASE("Gradients of products keep every promise whatever dataflow laid the weights out") {
    CHECK(keep_promises(random_products, test::random_machine, 300, true) >
          static_cast<int>(systole::test::enough(280)));
    CHECK(keep_promises(random_products, random_chip, 100, true) >
          static_cast<int>(systole::test::enough(95)));
}

TEST_CASE("The products behind gradients of random attention keep every promise") {
    CHECK(keep_promises(random_attention, test::random_machine, 400) >
          static_cast<int>(systole::test::enough(300)));
    CHECK(keep_promises(random_attention, test::random_machine, 200, true) >
          static_cast<int>(systole::test::enough(150)));
    CHECK(keep_promises(random_attention, random_chip, 200) > static_cast<int>(systole::test::enough(150)));
}

TEST_CASE("Every machine takes the gradients of products and of attention") {
    for (const SystolicSpec& spec : test::machines())
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
            INFO("seed " << seed << " on " << to_string(spec.mxu.dataflow));
            Dice dice(seed);
            const bool attention = seed % 2 == 0;
            test::check(attention ? random_attention(dice) : random_products(dice), spec,
                        dice.coin() ? Protocol::of_run() : Protocol::of_op());
        }
}

}  // namespace
}  // namespace systole::systolic
