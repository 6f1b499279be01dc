// SPDX-License-Identifier: Apache-2.0
// Operators whose second operand is met again and again: it is staged as often as it must be, and no more.
#include <catch2/catch.hpp>

#include "tests/unit/lowering/fixtures.h"

namespace systole::systolic {
namespace {

using test::check;
using test::GraphOf;
using test::machines;

std::int64_t loaded(const Program& program, Operand operand) {
    std::int64_t bytes = 0;
    for (const Transfer& t : program.transfers)
        bytes += t.to.place == Place::Scratchpad && t.operand == operand ? t.bytes() : 0;
    return bytes;
}

Graph rotary_of(const Rotary& op, DType dtype) {
    GraphOf g;
    return g.finish(g.rotary(g.input({op.outer, op.seq, op.heads, op.dim}, dtype), op));
}

TEST_CASE("Rotary embeddings of any layout run on every machine") {
    for (const SystolicSpec& spec : machines()) {
        for (const DType dtype : {DType::Bf16, DType::Int8}) {
            check(rotary_of({3, 7, 2, 8}, dtype), spec);    // heads inside
            check(rotary_of({6, 7, 1, 8}, dtype), spec);    // heads outside
            check(rotary_of({2, 150, 1, 4}, dtype), spec);  // the table in parts
            check(rotary_of({1, 1, 1, 2}, dtype), spec);
        }
    }
}

TEST_CASE("A rotary embedding costs three simple operations an element and reads its table once a position") {
    SystolicSpec spec = test::large_machine();
    spec.vector.cost.simple = 2;
    const Program program = lower(rotary_of({4, 10, 3, 16}, DType::Bf16), spec, Protocol::of_op()).program;
    const std::int64_t elements = 4 * 10 * 3 * 16;
    REQUIRE(program.vector_work.size() == 1);
    CHECK(program.vector_work[0].elements == elements);
    CHECK(program.vector_work[0].lane_cycles == 3 * 2 * elements);
    // four times the table of 10 x 16, for all three heads together
    CHECK(program.vector_work[0].scratchpad_read == 2 * elements + 4 * 10 * 16 * 2);
    CHECK(loaded(program, Operand::Weights) == 10 * 16 * 2);
    CHECK(program.layers[0].compulsory_dram == 2 * 2 * elements + 10 * 16 * 2);
}

TEST_CASE("A table longer than its share of the buffer is still loaded once") {
    // An eighth of 1024 B takes 8 positions of 16 B; the parts are turned through one after the other.
    SystolicSpec spec = test::small_machine(1);
    const Program program = lower(rotary_of({5, 32, 1, 8}, DType::Bf16), spec, Protocol::of_op()).program;
    CHECK(program.vector_work.size() == 4 * 5);
    CHECK(loaded(program, Operand::Weights) == 32 * 8 * 2);
    CHECK(loaded(program, Operand::Activations) == 5 * 32 * 8 * 2);
}

Elementwise multiply(std::int64_t elements, std::int64_t times) {
    return {Elementwise::Kind::Mul, elements, Function::Silu, times, false};
}

TEST_CASE("A shorter operand is met again on every machine, read or stored") {
    for (const SystolicSpec& spec : machines()) {
        for (const DType dtype : {DType::Bf16, DType::Int8, DType::Int4}) {
            for (const auto& [times, units] : {std::pair(40, 12), std::pair(3, 500), std::pair(700, 2)}) {
                const Shape shape{times, units};
                GraphOf g;
                const TensorId a = g.input(shape, dtype);
                const TensorId b = g.input({units}, dtype);
                check(g.finish(g.vector({a, b}, multiply(times * units, times), shape)), spec);
                GraphOf s;
                check(s.finish(s.stored(s.input(shape, dtype), multiply(times * units, times), shape)), spec);
            }
        }
    }
}

TEST_CASE("Items of a batch each meet a shorter operand of their own") {
    for (const SystolicSpec& spec : machines()) {
        for (const DType dtype : {DType::Bf16, DType::Int8}) {
            for (const auto& [items, times, units] :
                 {std::tuple(3, 9, 12), std::tuple(2, 3, 160), std::tuple(5, 100, 2), std::tuple(4, 1, 7)}) {
                const Shape shape{items, times, units};
                const Elementwise op{
                    Elementwise::Kind::Mul, items * times * units, Function::None, times, false, items};
                GraphOf g;
                const TensorId a = g.input(shape, dtype);
                const TensorId b = g.input({items, 1, units}, dtype);
                check(g.finish(g.vector({a, b}, op, shape)), spec);
            }
        }
    }
}

TEST_CASE("Every item's shorter operand is loaded once") {
    GraphOf g;
    const TensorId a = g.input({3, 50, 8}, DType::Int8);
    const TensorId b = g.input({3, 1, 8}, DType::Int8);
    const Elementwise op{Elementwise::Kind::Mul, 3 * 50 * 8, Function::None, 50, false, 3};
    const Graph graph = g.finish(g.vector({a, b}, op, {3, 50, 8}));
    const Program program = lower(graph, test::small_machine(1), Protocol::of_op()).program;
    CHECK(loaded(program, Operand::Activations) == 3 * 50 * 8 + 3 * 8);
    CHECK(program.layers[0].compulsory_dram == 2 * 3 * 50 * 8 + 3 * 8);
}

TEST_CASE("A shorter operand on chip is left alone until every row has met it") {
    for (const SystolicSpec& spec : machines()) {
        GraphOf g;
        const TensorId b = g.input({64}, DType::Int8), a = g.input({40, 64}, DType::Int8);
        const TensorId indices = g.input({6}, DType::Int32);
        g.vector({a, b}, multiply(2560, 40), {40, 64});
        // The first that is free again is the place of b; the DMA fills it, which waits for nothing else.
        const Graph graph = g.finish(g.embedding(indices, {100, 8, 6}, DType::Int8));
        const Lowered lowered = check(graph, spec);
        if (spec.placement.activations == Space::Scratchpad)
            CHECK(lowered.placements[b].address == lowered.placements[graph.outputs[0]].address);
    }
}

TEST_CASE("A broadcast operand is loaded once and read with every row") {
    SystolicSpec spec = test::large_machine();
    spec.vector.cost.simple = 2;
    spec.vector.cost.transcendental = 7;
    GraphOf g;
    const TensorId a = g.input({50, 32}, DType::Bf16), b = g.input({32}, DType::Bf16);
    const Graph graph = g.finish(g.vector({a, b}, multiply(1600, 50), {50, 32}));
    const Program program = lower(graph, spec, Protocol::of_op()).program;
    REQUIRE(program.vector_work.size() == 1);
    CHECK(program.vector_work[0].lane_cycles == 1600 * (2 + 7));
    CHECK(program.vector_work[0].scratchpad_read == 2 * (1600 + 50 * 32));
    CHECK(loaded(program, Operand::Activations) == 2 * (1600 + 32));
    CHECK(program.layers[0].compulsory_dram == 2 * (1600 + 32 + 1600));
}

TEST_CASE("A long shorter operand goes part by part, each once for all rows") {
    const SystolicSpec spec =
        test::small_machine(1);  // a quarter of 4096 B for each input, 512 B for results
    GraphOf g;
    const TensorId a = g.input({3, 2000}, DType::Int8), b = g.input({2000}, DType::Int8);
    const Graph graph = g.finish(g.vector({a, b}, multiply(6000, 3), {3, 2000}));
    const Program program = lower(graph, spec, Protocol::of_op()).program;
    CHECK(program.vector_work.size() == 4 * 3);  // parts of 512 elements
    CHECK(loaded(program, Operand::Activations) == 6000 + 2000);
}

TEST_CASE("A machine without a weight buffer stages the table among its results") {
    SystolicSpec spec = test::small_machine(1);
    spec.mxu.weight_source = Space::Dram;
    spec.placement.weight_buffer = Bytes(0);
    check(rotary_of({3, 40, 2, 8}, DType::Bf16), spec);
}

}  // namespace
}  // namespace systole::systolic
