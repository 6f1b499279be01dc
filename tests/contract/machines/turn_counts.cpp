// SPDX-License-Identifier: Apache-2.0
// What the program says that a turn of a repeated block counts, against what a run with two turns more has
// counted more.
#include <catch2/catch.hpp>

#include "models/devices/systolic/lowering/lower.h"
#include "models/devices/systolic/machine/machine.h"
#include "models/devices/systolic/machine/program_counts.h"
#include "sim/base/error.h"
#include "sim/kernel/kernel.h"
#include "sim/workload/shorter_graph.h"
#include "sim/workload/trace.h"
#include "tests/support/device_text.h"
#include "tests/support/random_machine.h"

namespace systole::systolic {
namespace {

constexpr const char* kTrace = R"(trace: turns
inputs:
  x: {shape: [24, 32], dtype: int8}
layers:
  - {name: first, op: matmul, n: 32}
  - name: block
    repeat: 7
    layers:
      - {name: a, op: matmul, n: 48}
      - {name: b, op: softmax}
      - {name: c, op: matmul, n: 32}
  - {name: out, op: matmul, n: 8}
outputs: [out]
)";

struct Counted {
    Program program;
    std::vector<Stat> stats;
};

Counted run(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol) {
    Counted counted{lower(graph, spec, protocol).program, {}};
    const FreshKernel kernel;
    Machine machine("random", spec, counted.program, {protocol});
    machine.run();
    counted.stats = machine.stats();
    return counted;
}

}  // namespace

TEST_CASE("a turn's commands count what a run with that turn has counted more", "[machines]") {
    const Graph graph = build_trace(config::parse_yaml(kTrace, "turns.yaml"), {});
    int ran = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        test::RandomMachine random(seed);
        const std::string text = random.device();
        INFO("seed " << seed << "\n" << text);
        Protocol protocol;
        protocol.launch = static_cast<Protocol::Launch>(seed % 3);
        std::optional<SystolicSpec> spec;
        Counted five, three;
        try {
            spec = test::spec_of(text);
            five = run(shorten(graph, {5}).graph, *spec, protocol);
            three = run(shorten(graph, {3}).graph, *spec, protocol);
        } catch (const UserError&) {
            continue;  // no int8, or too small
        }
        ++ran;
        constexpr std::size_t kBegin = 1 + 3, kEnd = kBegin + 3;  // the second turn
        const auto counts_until = [&](std::size_t layers) {
            std::vector<Stat> none = five.stats;
            for (Stat& stat : none) stat.value = -1;
            return ProgramCounts(five.program, *spec, protocol.launch, layers).put_into(none, "random");
        };
        const std::vector<Stat> begin = counts_until(kBegin), end = counts_until(kEnd);
        for (std::size_t i = 0; i < end.size(); ++i) {
            const bool follows = end[i].value >= 0 && end[i].name != "row_hits" && end[i].name != "bus_busy";
            if (!follows) continue;
            INFO(end[i].path << " " << end[i].name);
            CHECK(2 * (end[i].value - begin[i].value) == five.stats[i].value - three.stats[i].value);
        }
    }
    CHECK(ran > 10);
}

}  // namespace systole::systolic
