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
