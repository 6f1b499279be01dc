// SPDX-License-Identifier: Apache-2.0
// Weights with scales, narrow ones and sparse ones, on every kind of machine: which bytes travel, what the
// arrays are given, and what is refused.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "sim/workload/trace.h"
#include "tests/support/seeds.h"
#include "tests/unit/lowering/fixtures.h"
#include "tests/unit/lowering/random_layers.h"

namespace systole::systolic {
namespace {

using test::check;
using test::message_of;
using test::weights_read;
using Columns = std::map<std::string, std::string>;

std::vector<SystolicSpec> machines(std::int64_t unpack, bool sparse) {
    std::vector<SystolicSpec> all = test::machines();
    for (SystolicSpec& spec : all) {
        spec.mxu.unpack = unpack;
        if (sparse) spec.mxu.sparse_kept = 2, spec.mxu.sparse_of = 4;
    }
    return all;
}

Graph matmul(Columns more, std::int64_t m = 9, std::int64_t n = 10, std::int64_t k = 32) {
    more.merge(Columns{{"m", std::to_string(m)}, {"n", std::to_string(n)}, {"k", std::to_string(k)}});
    return single_operator("matmul", more, {});
}

}  // namespace

TEST_CASE("Weights with scales of every kind reach the arrays of every machine") {
    for (const SystolicSpec& spec : machines(4, false)) {
        for (const Columns& format : {Columns{{"scales", "tensor"}}, Columns{{"scales", "channel"}},
                                      Columns{{"scales", "group"}, {"group", "4"}, {"dtype_b", "int8"}},
                                      Columns{{"scales", "group"}, {"group", "8"}, {"dtype_b", "int8"}},
                                      Columns{{"scales", "group"}, {"group", "2"}, {"scale_dtype", "fp32"}}})
            check(matmul(format), spec);
        Columns conv = {{"h", "6"}, {"w", "5"}, {"c", "8"}, {"k", "6"}, {"r", "3"}, {"s", "3"}, {"pad", "1"}};
        conv.merge(Columns{{"dtype_b", "int8"}, {"scales", "channel"}, {"groups", "2"}});
        check(single_operator("conv2d", conv, {}), spec);
    }
}

TEST_CASE("Sparse weights reach arrays that know their pattern and arrays that do not") {
    for (const bool known : {false, true}) {
        for (const SystolicSpec& spec : machines(4, known)) {
            // 9 bits a weight: columns of an array of four rows would be cut inside a byte.
            if (!known && spec.mxu.dataflow == Dataflow::InputStationary) {
                CHECK_THAT(message_of(matmul({{"sparsity", "2:4"}}), spec),
                           Catch::Contains("whole bytes every 8"));
                continue;
            }
            for (const char* dtype : {"int8", "bf16"}) {
                const Lowered lowered = check(matmul({{"sparsity", "2:4"}, {"dtype", dtype}}), spec);
                for (const MatrixPass& pass : lowered.program.passes) {
                    CHECK(pass.sparsity == (known ? 2 : 1));
                    CHECK(pass.unpacked == !known);
                }
            }
            Columns conv = {{"h", "6"}, {"w", "5"}, {"c", "8"}, {"k", "6"}, {"r", "3"}, {"s", "3"}};
            conv.merge(Columns{{"sparsity", "2:4"}, {"stride", "2"}, {"pad", "1"}});
            check(single_operator("conv2d", conv, {}), spec);
        }
    }
}

TEST_CASE("A known pattern takes half the passes, an unknown one all of them") {
    SystolicSpec spec = test::small_machine(1);
    spec.mxu.unpack = 16;
    const std::size_t dense = lower(matmul({}, 9, 8, 64), spec, Protocol::of_op()).program.passes.size();
    const Graph graph = matmul({{"sparsity", "2:4"}}, 9, 8, 64);
    CHECK(lower(graph, spec, Protocol::of_op()).program.passes.size() == dense);
    spec.mxu.sparse_kept = 2, spec.mxu.sparse_of = 4;
    CHECK(2 * lower(graph, spec, Protocol::of_op()).program.passes.size() == dense);
}

TEST_CASE("Random formats on random machines keep every promise") {
    for (std::uint64_t seed = 1; seed <= systole::test::enough(200); ++seed) {
        CAPTURE(seed);
        test::Dice dice(seed);
        SystolicSpec spec = test::random_machine(dice);
        spec.mxu.unpack = dice.pick(1, 9);
        if (dice.coin()) spec.mxu.sparse_kept = 2, spec.mxu.sparse_of = 4;
        Columns format = {{"dtype_b", dice.coin() ? "int8" : "bf16"}};
        const bool sparse = dice.coin();
        if (sparse) format["sparsity"] = "2:4";
        const char* const scales[] = {"none", "tensor", "channel", "group"};
        format["scales"] = scales[dice.pick(0, 3)];
        if (format["scales"] == "group") format["group"] = std::to_string(4 << dice.pick(0, 2));
        const Graph graph = matmul(format, dice.pick(1, 20), dice.pick(1, 20), 16 * dice.pick(1, 4));
        const std::string refused = message_of(graph, spec);
        if (refused == "fine")
            check(graph, spec);
        else
            CHECK_THAT(refused, Catch::Contains("a pass takes") || Catch::Contains("that a pass takes"));
    }
}

TEST_CASE("What leaves DRAM is the narrow weights and their scales") {
    SystolicSpec spec = test::large_machine();
    spec.mxu.unpack = 128;
    const auto read = [&](const Columns& format) {
        return weights_read(lower(matmul(format, 64, 256, 512), spec, Protocol::of_op()).program);
    };
    const std::int64_t weights = 512 * 256;
    CHECK(read({}) == 2 * weights);
    CHECK(read({{"dtype_b", "int4"}}) == weights / 2);
    CHECK(read({{"dtype_b", "fp8"}, {"scales", "tensor"}}) == weights);
    CHECK(read({{"dtype_b", "int4"}, {"scales", "channel"}}) == weights / 2 + 256 * 2);
    CHECK(read({{"dtype_b", "int4"}, {"scales", "channel"}, {"scale_dtype", "fp32"}}) ==
          weights / 2 + 256 * 4);
    CHECK(read({{"dtype_b", "int4"}, {"scales", "group"}, {"group", "32"}}) ==
          weights / 2 + weights / 32 * 2);
    // A tile of 128 rows has its scales with it, so a group of 256 comes with two.
    CHECK(read({{"dtype_b", "int4"}, {"scales", "group"}, {"group", "256"}}) ==
          weights / 2 + weights / 128 * 2);
    // Half of the weights, two bits of place each.
    CHECK(read({{"sparsity", "2:4"}}) == weights / 2 * (16 + 2) / 8);
    CHECK(read({{"sparsity", "2:4"}, {"dtype", "int8"}}) == weights / 2 * (8 + 2) / 8);
    CHECK(read({{"sparsity", "1:16"}}) == weights / 16 * (16 + 4) / 8);
}

TEST_CASE("A scale of the whole or of a column costs a multiplication where results leave") {
    SystolicSpec spec = test::small_machine(1);
    spec.vector.cost.simple = 3;
    const auto cost = [&](const Columns& format) {
        std::int64_t sum = 0;
        for (const VectorWork& work : lower(matmul(format), spec, Protocol::of_op()).program.vector_work)
            sum += work.lane_cycles;
        return sum;
    };
    CHECK(cost({}) == 9 * 10 * 3);
    CHECK(cost({{"scales", "tensor"}}) == 9 * 10 * 6);
    CHECK(cost({{"scales", "channel"}}) == 9 * 10 * 6);
}

TEST_CASE("Weights that a machine cannot take are refused with the reason") {
    SystolicSpec spec = test::small_machine(1);
    CHECK_THAT(message_of(matmul({{"dtype_b", "int4"}}), spec),
               Catch::Contains("layer 'matmul': its weights must be converted from int4 to bf16"));
    // Arrays that take both formats, one at a time, are no faster for having nothing that converts.
    CHECK_THAT(message_of(matmul({{"dtype_b", "int8"}}), spec),
               Catch::Contains("must be converted from int8 to bf16"));
    SystolicSpec pairs = spec;
    pairs.mxu.mixed_rate[{DType::Bf16, DType::Int8}] = {1};
    CHECK(message_of(matmul({{"dtype_b", "int8"}}), pairs) == "fine");
    CHECK_THAT(message_of(matmul({{"scales", "group"}, {"group", "4"}}), spec),
               Catch::Contains("must be multiplied by their groups' scales"));
    CHECK_THAT(message_of(matmul({{"sparsity", "1:4"}}), spec),
               Catch::Contains("must be filled up with the zeros that 1:4 leaves out"));
    spec.mxu.unpack = 8;
    CHECK(message_of(matmul({{"dtype_b", "int4"}}), spec) == "fine");
    // Nothing becomes narrower on its way in, and no fraction a whole number.
    CHECK_THAT(message_of(matmul({{"dtype_b", "fp32"}}), spec),
               Catch::Contains("no matrix unit takes dtype 'fp32'"));
    CHECK_THAT(message_of(matmul({{"dtype", "int8"}, {"dtype_b", "fp8"}}), spec),
               Catch::Contains("no matrix unit takes dtype 'fp8'"));
    CHECK_THAT(message_of(matmul({{"sparsity", "1:8"}}), spec),
               Catch::Contains(
                   "a pass takes 4 rows of its weights, but patterns and groups fill whole bytes every 8"));
    CHECK_THAT(message_of(matmul({{"scales", "group"}, {"group", "6"}}, 9, 10, 36), spec),
               Catch::Contains(
                   "groups of 6 weights that share a scale are not a whole number of the 4 that a pass"));
}

TEST_CASE("Quantize and dequantize run on every machine, and cost a multiplication and a conversion") {
    for (const SystolicSpec& spec : test::machines()) {
        for (const char* name : {"quantize", "dequantize"}) {
            for (const Columns& scales :
                 {Columns{}, Columns{{"scales", "channel"}}, Columns{{"scales", "group"}, {"group", "3"}},
                  Columns{{"scales", "group"}, {"group", "12"}}}) {
                Columns columns = {{"rows", "36"}, {"cols", "14"}};
                columns.insert(scales.begin(), scales.end());
                const Lowered lowered = check(single_operator(name, columns, {}), spec);
                std::int64_t elements = 0, cycles = 0;
                for (const VectorWork& work : lowered.program.vector_work)
                    elements += work.elements, cycles += work.lane_cycles;
                CHECK(elements == 36 * 14);
                CHECK(cycles == 36 * 14 * 2 * spec.vector.cost.simple);
            }
        }
    }
}

TEST_CASE("Scales are loaded once where they fit, and rows that do not fit are refused") {
    SystolicSpec spec = test::small_machine(1);
    const Columns columns = {{"rows", "64"}, {"cols", "8"}, {"scales", "group"}, {"group", "16"}};
    const Lowered lowered = lower(single_operator("dequantize", columns, {}), spec, Protocol::of_op());
    CHECK(weights_read(lowered.program) == 4 * 8 * 2);
    const Columns wide = {{"rows", "2"}, {"cols", "4000"}, {"scales", "channel"}};
    CHECK_THAT(message_of(single_operator("dequantize", wide, {}), spec),
               Catch::Contains("layer 'dequantize': a row of 4000 elements does not fit"));
}

TEST_CASE("Weights that a layer of its own turns into numbers are written, and read again by the product") {
    for (const SystolicSpec& spec : test::machines()) {
        const Graph graph =
            matmul({{"scales", "group"}, {"group", "8"}, {"dtype_b", "int8"}, {"fused", "false"}}, 9, 10, 16);
        REQUIRE(graph.layers.size() == 2);
        const Lowered lowered = check(graph, spec);
        // Both rows of scales; one of several cores may read one that another reads, too.
        if (spec.cores == 1) CHECK(weights_read(lowered.program) == 16 * 10 + 2 * 10 * 2);
    }
}

TEST_CASE("Two formats that have a rate of their own go into the arrays as they are") {
    const Graph graph = matmul({{"dtype", "bf16"}, {"dtype_b", "int8"}});
    SystolicSpec spec = test::small_machine(1);
    spec.mxu.unpack = 16;
    const MatrixPass converted = check(graph, spec).program.passes.front();
    CHECK(converted.unpacked);
    CHECK_FALSE(converted.second_dtype);
    spec.mxu.mixed_rate[{DType::Bf16, DType::Int8}] = MacRate{1, 2};
    const MatrixPass mixed = check(graph, spec).program.passes.front();
    CHECK_FALSE(mixed.unpacked);
    CHECK(mixed.second_dtype == DType::Int8);
}

}  // namespace systole::systolic
