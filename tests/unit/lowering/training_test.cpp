// SPDX-License-Identifier: Apache-2.0
// What the layers of a step of training cost, and what they move: numbers by hand.
#include <catch2/catch.hpp>

#include "sim/base/error.h"
#include "tests/unit/lowering/fixtures.h"

namespace systole::systolic {
namespace {

using test::check;
using test::GraphOf;

SystolicSpec costly_machine() {
    SystolicSpec spec = test::large_machine();
    spec.vector.cost = {2, 7, 3, 5};  // simple, transcendental, reduce, mac
    return spec;
}

VectorWork only_work(const Graph& graph) {
    const Program program = lower(graph, costly_machine(), Protocol::of_op()).program;
    REQUIRE(program.vector_work.size() == 1);
    return program.vector_work[0];
}

/// An operator of two inputs of one shape.
Graph two(const Operator& op, const Shape& shape, const Shape& out) {
    GraphOf g;
    const TensorId a = g.input(shape, DType::Bf16), b = g.input(shape, DType::Bf16);
    return g.finish(g.vector({a, b}, op, out));
}

Graph norm_gradient(Norm::Kind kind) {
    GraphOf g;
    const TensorId a = g.input({10, 50}, DType::Bf16), b = g.input({10, 50}, DType::Bf16);
    Norm op{kind, 10, 50, true};
    const TensorId out = g.vector({a, b}, op, {10, 50});
    g.graph.tensors.push_back({"gains", {50}, DType::Bf16, TensorRole::Weights});
    g.graph.layers.back().weights = g.graph.tensors.size() - 1;
    return g.finish(out);
}

Reduce columns(std::int64_t rows, std::int64_t cols) {
    Reduce op{Reduce::Kind::Sum, rows, cols};
    op.columns = true;
    return op;
}

/// A product, and the optimizer of its weights [k, n].
Graph learnt(Optimizer::Kind kind, std::int64_t k, std::int64_t n, bool used_again = false) {
    GraphOf g;
    const TensorId x = g.input({8, k}, DType::Bf16), dw = g.input({k, n}, DType::Bf16);
    const TensorId y = g.matmul(x, 8, n, k);
    const TensorId weights = *g.graph.layers.back().weights;
    const Optimizer op{kind, k * n};
    const TensorId state = g.vector({dw}, op, {op.slots(), op.elements});
    g.graph.layers.back().weights = weights;
    g.graph.tensors[state].dtype = DType::Fp32;
    g.graph.tensors[state].role = TensorRole::OptimizerState;
    if (used_again) {
        g.matmul(x, 8, n, k);
        g.graph.layers.back().weights = weights;
    }
    return g.finish(y);
}

std::int64_t moved(const Lowered& lowered, Place from, Operand operand) {
    std::int64_t sum = 0;
    for (const Transfer& t : lowered.program.transfers)
        if (t.from.place == from && t.to.place != Place::WeightFifo && t.operand == operand) sum += t.bytes();
    return sum;
}

TEST_CASE("The slope of a function costs what it is made of, and the gradient's product with it one more") {
    for (const auto& [function, cost] :
         {std::pair(Function::None, 0), std::pair(Function::Relu, 2), std::pair(Function::HardSwish, 6),
          std::pair(Function::Exp, 7), std::pair(Function::Sigmoid, 7 + 2), std::pair(Function::Tanh, 7 + 2),
          std::pair(Function::Silu, 7 + 4), std::pair(Function::Gelu, 14 + 4),
          std::pair(Function::Mish, 14 + 6)}) {
        Elementwise op{Elementwise::Kind::Mul, 640};
        op.slope = function;
        CHECK(only_work(two(op, {640}, {640})).lane_cycles == 640 * (2 + cost));
    }
}

TEST_CASE("Gradients of rows read both inputs twice") {
    const VectorWork softmax = only_work(two(Softmax{10, 50, true}, {10, 50}, {10, 50}));
    CHECK(softmax.lane_cycles == 500 * (3 + 3 * 2));  // g y, sum, g - sum, y (..)
    CHECK(softmax.scratchpad_read == 2 * 2 * 500 * 2);
    CHECK(softmax.scratchpad_written == 500 * 2);
    const VectorWork rms = only_work(norm_gradient(Norm::Kind::Rms));
    CHECK(rms.lane_cycles == 500 * (2 * 3 + 6 * 2));  // x x, h, h x, two sums; h, r h, less x c
    CHECK(rms.scratchpad_read == 2 * 2 * 500 * 2);
    const VectorWork layer = only_work(norm_gradient(Norm::Kind::Layer));
    CHECK(layer.lane_cycles == 500 * (4 * 3 + 8 * 2));  // and two sums more, x less its mean twice
}

TEST_CASE("The gradient of a norm reads the gains once") {
    const Program program =
        lower(norm_gradient(Norm::Kind::Rms), costly_machine(), Protocol::of_op()).program;
    CHECK(program.layers[0].compulsory_dram == 3 * 500 * 2 + 50 * 2);
}

TEST_CASE("Summing columns takes a reduction an element, sums of products a multiply-accumulate") {
    GraphOf g;
    const Graph one = g.finish(g.vector({g.input({10, 50}, DType::Bf16)}, columns(10, 50), {50}));
    const VectorWork sum = only_work(one);
    CHECK(sum.lane_cycles == 500 * 3);
    CHECK(sum.elements == 50);
    CHECK(sum.scratchpad_read == 500 * 2);
    CHECK(sum.scratchpad_written == 50 * 2);
    const VectorWork products = only_work(two(columns(10, 50), {10, 50}, {50}));
    CHECK(products.lane_cycles == 500 * 5);
    CHECK(products.scratchpad_read == 2 * 500 * 2);
}

TEST_CASE("Between chunks of rows the sums of columns are read and written in fp32") {
    // Half of the input buffer is 2,048 B: of 40 columns 25 rows of 80 B, and 50 rows in two even chunks.
    GraphOf g;
    const Graph graph = g.finish(g.vector({g.input({50, 40}, DType::Bf16)}, columns(50, 40), {40}));
    const Lowered lowered = check(graph, test::small_machine(1));
    REQUIRE(lowered.program.vector_work.size() == 2);
    const VectorWork &first = lowered.program.vector_work[0], &last = lowered.program.vector_work[1];
    CHECK(first.scratchpad_read == 25 * 80);
    CHECK(first.scratchpad_written == 40 * 4);
    CHECK(last.scratchpad_read == 25 * 80 + 40 * 4);
    CHECK(last.scratchpad_written == 40 * 2);
    CHECK(moved(lowered, Place::Scratchpad, Operand::Outputs) == 80);
    CHECK(moved(lowered, Place::Dram, Operand::Activations) == 4000);
}

TEST_CASE("The gradient of a table is all of it, with a gradient added for each lookup") {
    GraphOf g;
    const TensorId back = g.input({10, 6}, DType::Bf16), indices = g.input({10}, DType::Int32);
    EmbeddingGradient op{20, 6, 10, Spread::Even, 1};
    SECTION("evenly") {}
    SECTION("at random") {
        op.spread = Spread::Random;
    }
    const Graph graph = g.finish(g.vector({back, indices}, op, {20, 6}));
    const VectorWork work = only_work(graph);
    CHECK(work.lane_cycles == 10 * 6 * 3 + 20 * 6 * 2);
    CHECK(work.scratchpad_read == 10 * 6 * 2);
    CHECK(work.scratchpad_written == 20 * 6 * 2);
    const Lowered lowered = check(graph, test::large_machine());
    CHECK(moved(lowered, Place::Dram, Operand::Activations) == 10 * 6 * 2 + 10 * 4);
    CHECK(moved(lowered, Place::Scratchpad, Operand::Outputs) == 20 * 6 * 2);
}

TEST_CASE("Bags of lookups that chunks of a table share are added to each") {
    for (const Spread spread : {Spread::Even, Spread::Random}) {
        GraphOf g;
        const TensorId back = g.input({26, 7}, DType::Bf16), indices = g.input({78}, DType::Int32);
        check(g.finish(g.vector({back, indices}, EmbeddingGradient{8, 7, 78, spread, 3}, {8, 7})),
              test::small_machine(1));
    }
}

TEST_CASE("An optimizer reads and writes its state and writes weights, each once") {
    using Kind = Optimizer::Kind;
    for (const auto& [kind, slots, cost] :
         {std::tuple(Kind::Sgd, 1, 2 * 2), std::tuple(Kind::Momentum, 2, 3 * 2),
          std::tuple(Kind::Adam, 3, 9 * 2 + 2 * 7)}) {
        const Lowered lowered = check(learnt(kind, 64, 128), costly_machine());
        std::int64_t lane_cycles = 0, read = 0;
        for (const Command& command : lowered.program.commands) {
            if (command.layer != 1 || unit_kind(command.unit) != UnitKind::Vector) continue;
            lane_cycles += lowered.program.vector(command).lane_cycles;
            read += lowered.program.vector(command).scratchpad_read;
        }
        const std::int64_t elements = 64 * 128, state = 4 * slots * elements;
        CHECK(lane_cycles == elements * cost);
        CHECK(read == elements * 2 + state);
        CHECK(moved(lowered, Place::Dram, Operand::OptimizerState) == state);
        CHECK(moved(lowered, Place::Scratchpad, Operand::OptimizerState) == state);
        CHECK(moved(lowered, Place::Scratchpad, Operand::Weights) == elements * 2);
        // The gradient, the weights and twice the state.
        CHECK(lowered.program.layers[1].compulsory_dram == elements * (2 + 2) + 2 * state);
        CHECK(lowered.weights[1] == Bytes(elements * 2 + 2 * state));
    }
}

TEST_CASE("Weights that have been written are not read again by the step") {
    const Graph graph = learnt(Optimizer::Kind::Sgd, 4, 4, true);
    CHECK_THROWS_WITH(
        lower(graph, costly_machine(), Protocol::of_op()),
        Catch::Contains("layer 'layer2': its weights 't2' are those that 'layer1' has written"));
}

TEST_CASE("A state that does not fit the memory is named beside weights and activations") {
    SystolicSpec spec = test::small_machine(1);
    spec.memory.rows = 16;
    CHECK_THROWS_WITH(lower(learnt(Optimizer::Kind::Adam, 64, 64), spec, Protocol::of_op()),
                      Catch::Contains("8.192 kB weights, 49.15 kB optimizer state, "));
}

TEST_CASE("What is too wide for the buffers is refused") {
    SystolicSpec spec = test::small_machine(1);
    spec.placement.output_buffer = Bytes(64);
    GraphOf g;
    const TensorId back = g.input({10, 60}, DType::Bf16), indices = g.input({10}, DType::Int32);
    const Graph table =
        g.finish(g.vector({back, indices}, EmbeddingGradient{20, 60, 10, Spread::Even, 1}, {20, 60}));
    CHECK_THROWS_WITH(lower(table, spec, Protocol::of_op()),
                      Catch::Contains("a row of the table's gradient does not fit: 240 B of sums"));
    spec = test::small_machine(1);
    spec.placement.input_buffer = Bytes(16);
    CHECK_THROWS_WITH(lower(learnt(Optimizer::Kind::Adam, 4, 4), spec, Protocol::of_op()),
                      Catch::Contains("fit"));
}

}  // namespace
}  // namespace systole::systolic
