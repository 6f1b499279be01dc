// SPDX-License-Identifier: Apache-2.0
// The estimate of a network by a few turns of its repeated block, against that of the whole network.
#include <catch2/catch.hpp>

#include "models/devices/systolic/lowering/network_time.h"
#include "sim/base/error.h"
#include "sim/workload/trace.h"
#include "tests/support/device_text.h"
#include "tests/support/random_machine.h"

namespace systole::systolic {
namespace {

/// Between layers of other sizes, so that what comes before and behind the block shows.
std::string trace_of(int turns, int rows, int behind) {
    return "trace: turns\ninputs:\n  x: {shape: [" + std::to_string(rows) +
           ", 32], dtype: int8}\n"
           "layers:\n"
           "  - {name: first, op: matmul, n: 32}\n"
           "  - name: block\n"
           "    repeat: " +
           std::to_string(turns) +
           "\n    layers:\n"
           "      - {name: a, op: matmul, n: 48}\n"
           "      - {name: b, op: softmax}\n"
           "      - {name: c, op: matmul, n: 32}\n"
           "      - {name: out, op: elementwise, kind: add, in: [c, block_in]}\n"
           "  - {name: last, op: matmul, n: " +
           std::to_string(behind) +
           "}\n"
           "outputs: [last]\n";
}

/// `behind`: columns of the layer behind the block.
Graph graph_of(int turns, int rows, int behind) {
    return build_trace(config::parse_yaml(trace_of(turns, rows, behind), "turns.yaml"), {});
}

}  // namespace

TEST_CASE("few turns tell the time of a network within what is said of it", "[machines]") {
    int compared = 0, told = 0;
    for (std::uint64_t seed = 1; seed <= 80; ++seed) {
        test::RandomMachine random(seed);
        const std::string text = random.device();
        const Graph graph =
            graph_of(16 + static_cast<int>(seed % 40), seed % 2 == 0 ? 24 : 7, seed % 4 < 2 ? 200 : 8);
        INFO("seed " << seed << "\n" << text);
        std::optional<SystolicSpec> spec;
        try {
            spec = test::spec_of(text);
        } catch (const UserError&) {
            continue;
        }
        spec->cores = 2;
        for (const int cores : {1, 2}) {
            const auto whole = network_time(cores, graph, *spec, Protocol::of_run(), nullptr);
            const auto few = network_time_by_turns(cores, graph, *spec, Protocol::of_run(), nullptr);
            if (!whole || !few) continue;
            ++compared;
            CHECK(few->cycles == Approx(*whole).margin(few->blur));
            CHECK(few->cycles == Approx(*whole).epsilon(0.05));
            told += few->blur < 0.05 * few->cycles ? 1 : 0;
        }
    }
    CHECK(compared > 20);
    CHECK(2 * told > compared);
}

TEST_CASE("a network without many turns is not told by few", "[machines]") {
    test::RandomMachine random(1);
    const SystolicSpec spec = test::spec_of(random.device());
    CHECK_FALSE(network_time_by_turns(1, graph_of(15, 24, 200), spec, Protocol::of_run(), nullptr));
}

}  // namespace systole::systolic
