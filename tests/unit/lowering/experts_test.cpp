// SPDX-License-Identifier: Apache-2.0
// Products with stored matrices of experts, on random machines: each that is met has its rows, and weights of
// the others stay where they are.
#include <catch2/catch.hpp>

#include "sim/base/error.h"
#include "sim/config/yaml.h"
#include "sim/workload/trace.h"
#include "sim/workload/transposed_operands.h"
#include "tests/support/seeds.h"
#include "tests/unit/lowering/fixtures.h"
#include "tests/unit/lowering/random_layers.h"
#include "tests/unit/lowering/replay.h"

namespace systole::systolic {
namespace {

using test::Dice;
using test::weights_read;

Graph random_experts(Dice& dice) {
    const std::int64_t met = dice.pick(1, 4), rows = dice.pick(1, 9), k = dice.pick(1, 20),
                       hidden = dice.pick(1, 12);
    const std::string experts = std::to_string(met + dice.pick(0, 3));
    const std::string first = dice.coin() ? ", bias: true" : "",
                      second = dice.coin() ? ", activation: relu" : "";
    const std::string text =
        "trace: t\ninputs: {x: {shape: [" + std::to_string(met) + ", " + std::to_string(rows) + ", " +
        std::to_string(k) + "], dtype: " + (dice.coin() ? "int8" : "bf16") + "}}\nlayers:\n" +
        "  - {name: a, op: matmul, n: " + std::to_string(hidden) + ", experts: " + experts + first + "}\n" +
        "  - {name: b, op: matmul, in: x, n: " + std::to_string(hidden) + ", experts: " + experts + second +
        "}\n" + "  - {name: c, op: elementwise, kind: mul, in: [a, b]}\n" +
        "  - {name: out, op: matmul, n: " + std::to_string(dice.pick(1, 9)) + ", experts: " + experts +
        "}\noutputs: [out]\n";
    return build_trace(config::parse_yaml(text, "t"), {});
}

/// A step of training of experts that tokens choose, and of slices of what they read.
Graph random_step(Dice& dice) {
    const std::int64_t tokens = dice.pick(2, 8), experts = dice.pick(2, 4), chosen = dice.pick(1, 2),
                       met = dice.pick(1, experts), rows = dice.pick(1, tokens), width = dice.pick(2, 9);
    const auto text = [](std::int64_t number) { return std::to_string(number); };
    const std::string each =
        ", experts: " + text(experts) + (dice.coin() ? ", bias: true}\n" : ", activation: relu}\n");
    const std::string cut = text(dice.pick(1, width - 1));
    const std::string trace =
        "trace: t\ntraining: {optimizer: adam}\ninputs: {x: {shape: [" + text(tokens) +
        ", 5], dtype: bf16}}\nlayers:\n  - {name: start, op: matmul, n: " + text(width) +
        "}\n  - {name: router, op: matmul, n: " + text(experts) +
        "}\n  - {name: scores, op: softmax}\n  - {name: best, op: top_k, k: " + text(chosen) +
        "}\n  - {name: places, op: top_k, in: scores, k: " + text(chosen) +
        ", result: indices}\n  - {name: by_expert, op: transpose, in: scores, permutation: [1, 0]}\n"
        "  - {name: scores_met, op: slice, axis: 0, size: " +
        text(met) + "}\n  - {name: tokens_met, op: top_k, k: " + text(rows) +
        ", result: indices}\n  - {name: rows, op: gather, in: [start, tokens_met]}\n"
        "  - {name: a, op: matmul, n: 3" +
        each + "  - {name: b, op: matmul, n: " + text(width) + each +
        "  - {name: flat, op: reshape, shape: [" + text(met * rows) + ", " + text(width) +
        "]}\n  - {name: made, op: gather, in: [flat, places]}\n  - {name: factors, op: reshape, in: best, "
        "shape: [" +
        text(tokens) + ", " + text(chosen) + ", 1]}\n" +
        "  - {name: weighed, op: elementwise, kind: mul, in: [made, factors]}\n"
        "  - {name: map, op: reshape, shape: [" +
        text(tokens) + ", " + text(chosen) + ", 1, " + text(width) +
        "]}\n  - {name: mean, op: pool, kind: average, global: true}\n  - {name: sum, op: reshape, shape: [" +
        text(tokens) + ", " + text(width) + "]}\n  - {name: first, op: slice, in: sum, size: " + cut +
        "}\n  - {name: last, op: slice, in: sum, begin: " + cut + ", size: " + text(width) + " - " + cut +
        "}\n  - {name: all, op: concat, in: [last, first, last]}\n  - {name: out, op: matmul, n: 3}\n"
        "outputs: [out]\n";
    return transpose_operands(build_trace(config::parse_yaml(trace, "t"), {}));
}

Graph one_product(std::int64_t experts, const std::string& keys) {
    return build_trace(config::parse_yaml("trace: t\ninputs: {x: {shape: [3, 2, 16], dtype: bf16}}\nlayers:\n"
                                          "  - {name: out, op: matmul, n: 8, experts: " +
                                              std::to_string(experts) + keys + "}\noutputs: [out]\n",
                                          "t"),
                       {});
}

TEST_CASE("Random steps of training with experts keep every promise") {
    int ran = 0;
    for (std::uint64_t seed = 1; seed <= systole::test::enough(300); ++seed) {
        INFO("seed " << seed);
        Dice dice(seed);
        SystolicSpec spec = test::random_machine(dice);
        if (dice.coin()) {
            spec.cores = 2;
            spec.mxu.count = std::min(spec.mxu.count, 3);
            if (spec.placement.activations == Space::Scratchpad) spec.placement.choose = true;
            spec.placement.activations = Space::Dram;
        }
        const Graph graph = random_step(dice);
        const Protocol protocol = dice.coin() ? Protocol::of_run() : Protocol::of_op();
        Lowered lowered;
        try {
            lowered = lower(graph, spec, protocol, {.cores = spec.cores});
        } catch (const UserError& refused) {
            INFO(refused.what());
            REQUIRE_THAT(refused.what(), Catch::Contains("room") || Catch::Contains("fit") ||
                                             Catch::Contains("chunks may have"));
            continue;
        }
        test::Replay replay(graph, spec, lowered);
        REQUIRE(replay.run() == std::vector<std::string>{});
        REQUIRE(replay.completes_with_shallow_queues());
        ++ran;
    }
    CHECK(ran > static_cast<int>(systole::test::enough(200)));
}

TEST_CASE("Random experts on random machines keep every promise") {
    int ran = 0;
    for (std::uint64_t seed = 1; seed <= systole::test::enough(300); ++seed) {
        INFO("seed " << seed);
        Dice dice(seed);
        const SystolicSpec spec = random_machine(dice);
        const Graph graph = random_experts(dice);
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
        ++ran;
    }
    CHECK(ran > static_cast<int>(systole::test::enough(150)));
}

TEST_CASE("Experts that nobody meets are not read") {
    for (SystolicSpec spec : test::machines()) {
        spec.mxu.unpack = 4;
        for (const std::string keys : {"", ", bias: true", ", weight_dtype: int8, scales: channel",
                                       ", weight_dtype: int8, scales: group, group: 4"}) {
            INFO(keys);
            const Lowered met = test::check(one_product(3, keys), spec);
            const Lowered more = test::check(one_product(11, keys), spec);
            CHECK(weights_read(more.program) == weights_read(met.program));
            CHECK(more.program.compulsory_dram == met.program.compulsory_dram);
        }
    }
}

}  // namespace
}  // namespace systole::systolic
