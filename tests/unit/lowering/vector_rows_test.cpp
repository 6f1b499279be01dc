// SPDX-License-Identifier: Apache-2.0
// Operators whose rows are read and written with columns of their own: the greatest elements, recurrent
// cells.
#include <catch2/catch.hpp>

#include "tests/unit/lowering/fixtures.h"

namespace systole::systolic {
namespace {

using test::check;
using test::GraphOf;
using test::machines;

SystolicSpec costly_machine() {
    SystolicSpec spec = test::large_machine();
    spec.vector.cost.simple = 2;
    spec.vector.cost.transcendental = 7;
    return spec;
}

Graph top_k_of(const TopK& op, DType dtype) {
    GraphOf g;
    const Graph graph = g.finish(g.vector({g.input({op.rows, op.cols}, dtype)}, op, {op.rows, op.k}));
    return graph;
}

Graph reduce_of(std::int64_t rows, std::int64_t cols, DType dtype) {
    GraphOf g;
    return g.finish(
        g.vector({g.input({rows, cols}, dtype)}, Reduce{Reduce::Kind::Mean, rows, cols}, {rows, 1}));
}

Graph lstm_of(std::int64_t batch, std::int64_t h, DType dtype) {
    GraphOf g;
    const TensorId gates = g.input({batch, 4 * h}, dtype), c = g.input({batch, h}, dtype);
    return g.finish(g.vector({gates, c}, LstmCell{batch, h}, {batch, 2 * h}));
}

Graph gru_of(std::int64_t batch, std::int64_t h, DType dtype) {
    GraphOf g;
    const TensorId x = g.input({batch, 3 * h}, dtype), u = g.input({batch, 3 * h}, dtype);
    return g.finish(g.vector({x, u, g.input({batch, h}, dtype)}, GruCell{batch, h}, {batch, h}));
}

VectorWork only_work(const Graph& graph, const SystolicSpec& spec) {
    const Program program = lower(graph, spec, Protocol::of_op()).program;
    REQUIRE(program.vector_work.size() == 1);
    return program.vector_work[0];
}

TEST_CASE("Greatest elements and recurrent cells run on every machine") {
    for (const SystolicSpec& spec : machines()) {
        for (const DType dtype : {DType::Bf16, DType::Int8, DType::Int4}) {
            check(top_k_of({37, 50, 3, false}, dtype), spec);
            check(top_k_of({5, 7, 7, false}, dtype), spec);
            check(reduce_of(37, 50, dtype), spec);
            check(lstm_of(13, 9, dtype), spec);
            check(gru_of(13, 9, dtype), spec);
        }
    }
}

TEST_CASE("Finding the k greatest takes a comparison an element on each level of a heap of k") {
    const SystolicSpec spec = costly_machine();
    for (const auto& [k, levels] : {std::pair(1, 1), std::pair(2, 2), std::pair(3, 2), std::pair(8, 4)}) {
        const VectorWork work = only_work(top_k_of({10, 50, k, false}, DType::Bf16), spec);
        CHECK(work.lane_cycles == 10 * 50 * levels * 2);
        CHECK(work.elements == 10 * k);
        CHECK(work.scratchpad_read == 10 * 50 * 2);
        CHECK(work.scratchpad_written == 10 * k * 2);
    }
}

TEST_CASE("Reducing takes a reduction an element") {
    SystolicSpec spec = costly_machine();
    spec.vector.cost.reduce = 3;
    const VectorWork work = only_work(reduce_of(10, 50, DType::Bf16), spec);
    CHECK(work.lane_cycles == 10 * 50 * 3);
    CHECK(work.elements == 10);
    CHECK(work.scratchpad_read == 10 * 50 * 2);
    CHECK(work.scratchpad_written == 10 * 2);
}

TEST_CASE("Gradients of the greatest are put into rows of zeros, an operation an element") {
    GraphOf g;
    TopK op{10, 50, 3};
    op.gradient = true;
    const TensorId made = g.input({10, 3}, DType::Bf16), indices = g.input({10, 3}, DType::Int32);
    const VectorWork work = only_work(g.finish(g.vector({made, indices}, op, {10, 50})), costly_machine());
    CHECK(work.lane_cycles == 10 * 50 * 2);
    CHECK(work.elements == 10 * 50);
    CHECK(work.scratchpad_read == 10 * 3 * (2 + 4));
    CHECK(work.scratchpad_written == 10 * 50 * 2);
}

TEST_CASE("Gradients of an average are read once and written to every pixel") {
    GraphOf g;
    Pool op{Pool::Kind::Average, 10, 3, 2, 8, 3, 2};
    op.gradient = true;
    const VectorWork work = only_work(
        g.finish(g.vector({g.input({10, 1, 1, 8}, DType::Bf16)}, op, {10, 3, 2, 8})), costly_machine());
    CHECK(work.lane_cycles == 10 * 6 * 8 * 2);
    CHECK(work.scratchpad_read == 10 * 8 * 2);
    CHECK(work.scratchpad_written == 10 * 6 * 8 * 2);
}

TEST_CASE("Columns of small matrices are summed like rows, a reduction or a product an element") {
    SystolicSpec spec = costly_machine();
    spec.vector.cost.reduce = 3;
    spec.vector.cost.mac = 5;
    for (const int inputs : {1, 2}) {
        GraphOf g;
        std::vector<TensorId> in{g.input({10, 4, 6}, DType::Bf16)};
        if (inputs == 2) in.push_back(g.input({10, 4, 6}, DType::Bf16));
        const Reduce op{Reduce::Kind::Sum, 4, 6, true, 10};
        const VectorWork work = only_work(g.finish(g.vector(in, op, {10, 6})), spec);
        CHECK(work.lane_cycles == 10 * 4 * 6 * (inputs == 2 ? 5 : 3));
        CHECK(work.scratchpad_read == inputs * 10 * 4 * 6 * 2);
        CHECK(work.scratchpad_written == 10 * 6 * 2);
    }
}

TEST_CASE("A division is an inverse and a product, a power a logarithm, a product and an exponential") {
    const SystolicSpec spec = costly_machine();
    using Kind = Elementwise::Kind;
    for (const auto& [kind, cost] :
         {std::pair(Kind::Add, 2), std::pair(Kind::Min, 2), std::pair(Kind::Compare, 2),
          std::pair(Kind::Select, 2), std::pair(Kind::Div, 7 + 2), std::pair(Kind::Pow, 2 * 7 + 2)}) {
        GraphOf g;
        const TensorId a = g.input({640}, DType::Bf16), b = g.input({640}, DType::Bf16);
        const Graph graph = g.finish(g.vector({a, b}, Elementwise{kind, 640}, {640}));
        CHECK(only_work(graph, spec).lane_cycles == 640 * cost);
    }
}

TEST_CASE("A single element that all others meet is read once, a row every time") {
    const SystolicSpec spec = costly_machine();
    for (const auto& [second, read] : {std::pair(1, 640 * 2 + 2), std::pair(64, 640 * 2 + 640 * 2)}) {
        GraphOf g;
        const Elementwise op{Elementwise::Kind::Div, 640, Function::None, 640 / second, true};
        const Graph graph = g.finish(g.stored(g.input({640}, DType::Bf16), op, {640}));
        const VectorWork work = only_work(graph, spec);
        CHECK(work.scratchpad_read == read);
        CHECK(work.lane_cycles == 640 * (7 + 2));
    }
}

TEST_CASE("Functions cost an evaluation, or the simple operations they are made of") {
    const SystolicSpec spec = costly_machine();
    for (const auto& [function, cost] :
         {std::pair(Function::Clip, 2), std::pair(Function::LeakyRelu, 4), std::pair(Function::HardSwish, 6),
          std::pair(Function::Erf, 7), std::pair(Function::Rsqrt, 7)}) {
        GraphOf g;
        const Graph graph =
            g.finish(g.vector({g.input({640}, DType::Bf16)}, Activation{function, 640}, {640}));
        CHECK(only_work(graph, spec).lane_cycles == 640 * cost);
    }
}

TEST_CASE("Cells cost their functions, products and sums for every element of the state") {
    const SystolicSpec spec = costly_machine();
    // sigmoid of i, f, o and tanh of g, c; f c, i g, o tanh(c) and a sum
    const VectorWork lstm = only_work(lstm_of(6, 10, DType::Bf16), spec);
    CHECK(lstm.lane_cycles == 60 * (5 * 7 + 4 * 2));
    CHECK(lstm.scratchpad_read == 60 * (4 + 1) * 2);
    CHECK(lstm.scratchpad_written == 60 * 2 * 2);
    // sigmoid of r, z and tanh of n; three sums of pre-activations, r (U h), and h - n, z (..), n + (..)
    const VectorWork gru = only_work(gru_of(6, 10, DType::Bf16), spec);
    CHECK(gru.lane_cycles == 60 * (3 * 7 + 7 * 2));
    CHECK(gru.scratchpad_read == 60 * (3 + 3 + 1) * 2);
    CHECK(gru.scratchpad_written == 60 * 2);
}

TEST_CASE("Every input of a cell counts with its own bytes") {
    const Program program = lower(gru_of(6, 10, DType::Bf16), costly_machine(), Protocol::of_op()).program;
    CHECK(program.layers[0].compulsory_dram == 60 * 2 * (3 + 3 + 1 + 1));
}

}  // namespace
}  // namespace systole::systolic
