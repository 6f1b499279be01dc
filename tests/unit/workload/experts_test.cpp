// SPDX-License-Identifier: Apache-2.0
// Products with stored matrices of which each has rows of its own.
#include <fmt/format.h>

#include "graphs.h"
#include "sim/workload/allocation.h"

using namespace systole;
using namespace systole::test;
using Catch::Contains;

namespace {

std::string product(const std::string& shape, const std::string& keys) {
    return trace_of(shape, "  - {name: out, op: matmul, " + keys + "}\n", "bf16");
}

}  // namespace

TEST_CASE("each expert that is met multiplies its rows; all are stored", "[workload]") {
    const Graph graph = graph_of(product("[3, 5, 16]", "n: 8, experts: 7, bias: true"));
    CHECK(tensor(graph, "out").shape == Shape{3, 5, 8});
    CHECK(tensor(graph, "out.weights").shape == Shape{7, 16, 8});
    CHECK(tensor(graph, "out.bias").shape == Shape{7, 8});
    CHECK(total_macs(graph) == Macs(3 * 5 * 16 * 8));
}

TEST_CASE("weights of experts may be narrow, with scales of their own", "[workload]") {
    const Graph graph =
        graph_of(product("[3, 5, 16]", "n: 8, experts: 7, weight_dtype: int8, scales: channel"));
    CHECK(tensor(graph, "out.scales").shape == Shape{7, 8});
    const Graph groups =
        graph_of(product("[3, 5, 16]", "n: 8, experts: 7, weight_dtype: int4, scales: group, group: 8"));
    // Four bits each, and 16 for every eight.
    CHECK(stored_bytes(tensor(groups, "out.weights")) == Bytes(7 * 16 * 8 * (4 + 2) / 8));
}

TEST_CASE("memory holds experts that nobody meets", "[workload]") {
    const auto bytes = [](std::int64_t experts) {
        const Graph graph = graph_of(product("[2, 5, 64]", fmt::format("n: 32, experts: {}", experts)));
        AllocationRules rules;
        rules.dram_capacity = Bytes(1 << 20);
        rules.tile_rows = rules.tile_cols = 16;
        const auto placements = allocate(graph, rules);
        for (TensorId id = 0; id < graph.tensors.size(); ++id)
            if (graph.tensors[id].role == TensorRole::Weights) return placements[id].bytes.value();
        return std::int64_t{0};
    };
    CHECK(bytes(2) == 2 * 64 * 32 * 2);
    CHECK(bytes(9) == 9 * 64 * 32 * 2);
}

TEST_CASE("rows for more experts than there are, and other nonsense, are refused", "[workload]") {
    CHECK_THAT(mistakes_of(product("[3, 5, 16]", "n: 8, experts: 2")),
               Contains("matmul 'out': rows for 3 experts, but 2 are stored"));
    CHECK_THAT(mistakes_of(product("[5, 16]", "n: 8, experts: 2")),
               Contains("rows for each expert, [met, rows, k]"));
    CHECK_THAT(mistakes_of(product("[3, 5, 16]", "n: 8, experts: 0")), Contains("'experts' must be 1"));
    CHECK_THAT(mistakes_of(product("[3, 5, 16]", "n: 8, experts: 3, scales: channel, fused: false")),
               Contains("not for those of experts"));
    CHECK_THAT(mistakes_of(product("[1, 1, 2147483647]", "n: 2147483647, experts: 2147483647")),
               Contains("more than 2^56 elements"));
}
