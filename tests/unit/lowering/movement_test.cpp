// SPDX-License-Identifier: Apache-2.0
// Operators that move, gather or repeat data, on every kind of machine, held to the promises that Replay
// checks.
#include <catch2/catch.hpp>

#include "sim/base/error.h"
#include "tests/unit/lowering/fixtures.h"

namespace systole::systolic {
namespace {

using test::check;
using test::GraphOf;
using test::machines;

bool has_vector_work(const Lowered& lowered) {
    return !lowered.program.vector_work.empty();
}

TEST_CASE("Concatenated tensors arrive byte by byte where the axis says") {
    struct Case {
        std::vector<Shape> inputs;
        Concat op;
        Shape out;
    };
    const std::vector<Case> cases = {
        {{{3, 5, 4}, {3, 2, 4}}, {3, 4, {5, 2}}, {3, 7, 4}},                  // rows of rows
        {{{6, 7, 3}, {6, 7, 8}, {6, 7, 1}}, {42, 1, {3, 8, 1}}, {6, 7, 12}},  // channels
        {{{40, 30}, {7, 30}}, {1, 30, {40, 7}}, {47, 30}}};                   // one behind the other
    for (const SystolicSpec& spec : machines()) {
        for (const Case& c : cases) {
            for (const DType dtype : {DType::Int8, DType::Bf16}) {
                GraphOf g;
                std::vector<TensorId> in;
                for (const Shape& shape : c.inputs) in.push_back(g.input(shape, dtype));
                const Lowered lowered = check(g.finish(g.vector(in, c.op, c.out)), spec);
                CHECK(has_vector_work(lowered) == (spec.placement.activations == Space::Scratchpad));
            }
        }
    }
}

TEST_CASE("A slice takes its part of every row, and reads nothing else") {
    struct Case {
        Shape in;
        Slice op;
        Shape out;
    };
    const std::vector<Case> cases = {{{5, 12, 4}, {5, 4, 12, 3, 6}, {5, 6, 4}},
                                     {{9, 40}, {9, 1, 40, 10, 20}, {9, 20}},
                                     {{50, 30}, {1, 30, 50, 17, 33}, {33, 30}}};
    for (const SystolicSpec& spec : machines()) {
        for (const Case& c : cases) {
            GraphOf g;
            const Graph graph = g.finish(g.vector({g.input(c.in, DType::Bf16)}, c.op, c.out));
            const Lowered lowered = check(graph, spec, Protocol::of_op());
            if (spec.placement.activations == Space::Scratchpad) continue;
            std::int64_t loaded = 0;
            for (const Transfer& t : lowered.program.transfers)
                loaded += t.to.place == Place::Scratchpad ? t.bytes() : 0;
            CHECK(loaded == 2 * elements(c.out));
            // a read and a write of every byte
            CHECK(lowered.program.layers[0].compulsory_dram == 2 * 2 * elements(c.out));
        }
    }
}

TEST_CASE("Rows longer than a chunk are moved in parts") {
    for (const SystolicSpec& spec : machines()) {
        GraphOf g;
        const TensorId a = g.input({2, 1, 500}, DType::Int8), b = g.input({2, 2, 500}, DType::Int8);
        const TensorId both = g.vector({a, b}, Concat{2, 500, {1, 2}}, {2, 3, 500});
        check(g.finish(g.vector({both}, Slice{2, 500, 3, 1, 1}, {2, 1, 500})), spec);
    }
    SystolicSpec tiny = test::small_machine(1);
    tiny.placement.input_buffer = Bytes(128);
    GraphOf g;
    const TensorId long_row = g.input({3, 1000}, DType::Bf16);
    const Lowered lowered = check(g.finish(g.vector({long_row}, Slice{3, 1, 1000, 1, 999}, {3, 999})), tiny);
    CHECK(lowered.program.layers[0].mapping == "DMA, through the scratchpad: copies 1 piece; 96 chunks");
}

TEST_CASE("Halves of a byte travel with their neighbours") {
    for (const SystolicSpec& spec : machines()) {
        GraphOf g;
        const TensorId in = g.input({5, 12}, DType::Int4);
        const TensorId part = g.vector({in}, Slice{5, 1, 12, 4, 6}, {5, 6});
        check(g.finish(g.vector({part, in}, Concat{5, 1, {6, 12}}, {5, 18})), spec);
    }
}

}  // namespace
}  // namespace systole::systolic
