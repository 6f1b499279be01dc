// SPDX-License-Identifier: Apache-2.0
// Products with stored matrices of experts, on random machines: each that is met has its rows, and weights of
// the others stay where they are.
#include <catch2/catch.hpp>

#include "sim/base/error.h"
#include "sim/config/yaml.h"
#include "sim/workload/trace.h"
#include "tests/unit/lowering/fixtures.h"
#include "tests/unit/lowering/random_layers.h"
#include "tests/unit/lowering/replay.h"

namespace systole::systolic {
namespace {

using test::Dice;

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

/// Bytes of stored operands on their way out of DRAM.
std::int64_t weights_read(const Program& program) {
    std::int64_t bytes = 0;
    for (const Transfer& t : program.transfers)
        if (t.from.place == Place::Dram && t.operand == Operand::Weights) bytes += t.bytes();
    return bytes;
}

Graph one_product(std::int64_t experts, const std::string& keys) {
    return build_trace(config::parse_yaml("trace: t\ninputs: {x: {shape: [3, 2, 16], dtype: bf16}}\nlayers:\n"
                                          "  - {name: out, op: matmul, n: 8, experts: " +
                                              std::to_string(experts) + keys + "}\noutputs: [out]\n",
                                          "t"),
                       {});
}

TEST_CASE("Random experts on random machines keep every promise") {
    int ran = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
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
    CHECK(ran > 150);
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
