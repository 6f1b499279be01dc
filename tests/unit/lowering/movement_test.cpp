// SPDX-License-Identifier: Apache-2.0
// Operators that move, gather or repeat data, on every kind of machine, held to the promises that Replay
// checks.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/unit/lowering/fixtures.h"

namespace systole::systolic {
namespace {

using test::check;
using test::GraphOf;
using test::machines;
using test::message_of;

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

TEST_CASE("The gradient of a slice is read and put into its place once, and zeros are written around it") {
    for (const SystolicSpec& spec : machines()) {
        GraphOf g;
        const Slice op{5, 4, 12, 3, 6, true};
        const Lowered lowered = check(g.finish(g.vector({g.input({5, 6, 4}, DType::Bf16)}, op, {5, 12, 4})),
                                      spec, Protocol::of_op());
        if (spec.placement.activations == Space::Scratchpad) continue;
        std::int64_t loaded = 0, stored = 0;
        for (const Transfer& t : lowered.program.transfers)
            (t.to.place == Place::Scratchpad ? loaded : stored) += t.bytes();
        CHECK(loaded == 5 * 6 * 4 * 2);
        CHECK(stored == 5 * 12 * 4 * 2);
        CHECK(lowered.program.layers[0].compulsory_dram == loaded + stored);
    }
    // Of rows at the beginning, at the end, and all of them.
    for (const std::int64_t begin : {0, 20, 40}) {
        GraphOf g;
        check(
            g.finish(g.vector({g.input({30, 30}, DType::Bf16)}, Slice{1, 30, 70, begin, 30, true}, {70, 30})),
            test::small_machine());
    }
}

TEST_CASE("Halves of a byte travel with their neighbours") {
    for (const SystolicSpec& spec : machines()) {
        GraphOf g;
        const TensorId in = g.input({5, 12}, DType::Int4);
        const TensorId part = g.vector({in}, Slice{5, 1, 12, 4, 6}, {5, 6});
        check(g.finish(g.vector({part, in}, Concat{5, 1, {6, 12}}, {5, 18})), spec);
    }
}

std::int64_t loaded_rows(const Program& program, Operand operand) {
    std::int64_t rows = 0;
    for (const Transfer& t : program.transfers) rows += t.operand == operand ? t.rows : 0;
    return rows;
}

TEST_CASE("Lookups take whole rows of tables in DRAM and on chip, evenly and at random") {
    for (const SystolicSpec& spec : machines()) {
        for (const Spread spread : {Spread::Even, Spread::Random}) {
            for (const std::int64_t rows : {5, 100}) {
                GraphOf e;
                const TensorId words = e.input({40}, DType::Int32);
                const Graph embedding = e.finish(e.embedding(words, {rows, 12, 40, spread}, DType::Int8));
                CHECK(loaded_rows(check(embedding, spec).program, Operand::Weights) == 40);
                GraphOf g;
                const TensorId table = g.input({rows, 12}, DType::Bf16);
                const TensorId indices = g.input({40}, DType::Int32);
                check(g.finish(g.vector({table, indices}, Gather{rows, 12, 40, spread}, {40, 12})), spec);
            }
        }
    }
}

TEST_CASE("A gathered table waits for whoever wrote any of its rows") {
    for (const SystolicSpec& spec : machines()) {
        GraphOf g;
        const TensorId made = g.matmul(g.input({30, 8}, DType::Int8), 30, 12, 8);
        const TensorId indices = g.input({20}, DType::Int32);
        check(g.finish(g.vector({made, indices}, Gather{30, 12, 20, Spread::Random}, {20, 12})), spec);
    }
}

TEST_CASE("Bags are summed: every row is fetched and read, one of many is written") {
    for (const SystolicSpec& spec : machines()) {
        for (const Spread spread : {Spread::Even, Spread::Random}) {
            for (const std::int64_t rows : {3, 1000}) {
                GraphOf g;
                const TensorId indices = g.input({60}, DType::Int32);
                const Lowered lowered =
                    check(g.finish(g.embedding(indices, {rows, 4, 60, spread, 5}, DType::Int8)), spec);
                CHECK(loaded_rows(lowered.program, Operand::Weights) == 60);
            }
        }
    }
    SystolicSpec spec = test::large_machine();
    spec.vector.cost.reduce = 3;
    GraphOf g;
    const TensorId indices = g.input({60}, DType::Int32);
    const Graph graph = g.finish(g.embedding(indices, {1000, 16, 60, Spread::Random, 5}, DType::Fp32));
    const Program program = lower(graph, spec, Protocol::of_op()).program;
    REQUIRE(program.vector_work.size() == 1);
    CHECK(program.vector_work[0].elements == 12 * 16);
    CHECK(program.vector_work[0].lane_cycles == 60 * 16 * 3);
    CHECK(program.vector_work[0].scratchpad_read == 60 * 16 * 4);
    CHECK(program.vector_work[0].scratchpad_written == 12 * 16 * 4);
    CHECK(program.layers[0].mapping ==
          "DMA: one table row per lookup, met at random; vector unit: sums of 5");
}

TEST_CASE("A machine without a weight buffer sums bags among its results") {
    SystolicSpec spec = test::small_machine(1);
    spec.mxu.weight_source = Space::Dram;
    spec.placement.weight_buffer = Bytes(0);
    GraphOf g;
    const TensorId indices = g.input({120}, DType::Int32);
    const TensorId sums = g.embedding(indices, {50, 8, 120, Spread::Random, 4}, DType::Int8);
    check(g.finish(g.matmul(sums, 30, 6, 8, true)), spec);
}

TEST_CASE("A bag that fits no buffer is refused with its bytes, whatever they come to") {
    const auto bags = [](std::int64_t width, std::int64_t bag) {
        GraphOf g;
        const TensorId indices = g.input({bag}, DType::Int32);
        return g.finish(g.embedding(indices, {1, width, bag, Spread::Even, bag}, DType::Int8));
    };
    SystolicSpec spec = test::small_machine(1);  // an eighth of 1024 B for rows
    CHECK(message_of(bags(16, 8), spec) == "fine");
    CHECK(message_of(bags(16, 9), spec)
              .find("'layer0': a row of the result has 16 B and is made of 9 of the table, "
                    "16 B each; chunks may have 512 B of placement.output_buffer for results, "
                    "2048 B of placement.input_buffer for indices and 128 B for rows") != std::string::npos);
    spec.memory.kind = DramSpec::Kind::Ideal;
    spec.memory.flat_capacity = Bytes(std::int64_t{1} << 40);
    const std::int64_t most = std::numeric_limits<std::int32_t>::max();
    CHECK(message_of(bags(most, most), spec).find("made of 2147483647 of the table, 2147483647 B each") !=
          std::string::npos);
}

TEST_CASE("A table of another dtype is converted on its way") {
    for (const SystolicSpec& spec : machines()) {
        GraphOf g;
        const TensorId out = g.embedding(g.input({30}, DType::Int32), {50, 6, 30}, DType::Int8);
        g.graph.tensors[out].dtype = DType::Bf16;
        const Lowered lowered = check(g.finish(out), spec);
        std::int64_t written = 0;
        for (const VectorWork& work : lowered.program.vector_work) written += work.scratchpad_written;
        CHECK(written == 30 * 6 * 2);
    }
}

TEST_CASE("Random lookups meet rows as uniformly as a hash can") {
    // Of 1000 rows, 100,000 lookups meet each 100 times on the average. The sum of squared deviations over
    // the mean has mean 999 and deviation 45 (chi squared); six deviations are never met by chance.
    std::vector<std::int64_t> times(1000);
    std::int64_t same_again = 0;
    for (std::int64_t i = 0; i < 100'000; ++i) {
        const std::int64_t row = Lookup{1000, 0}.row(i);
        REQUIRE((row >= 0 && row < 1000));
        ++times[static_cast<std::size_t>(row)];
        same_again += i > 0 && row == Lookup{1000, i - 1}.row(0);
    }
    double deviation = 0;
    for (const std::int64_t n : times) deviation += static_cast<double>((n - 100) * (n - 100)) / 100;
    CHECK(std::abs(deviation - 999) < 6 * 45);
    CHECK(same_again < 160);  // 100 on the average, deviation 10
}

}  // namespace
}  // namespace systole::systolic
