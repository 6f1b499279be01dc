// SPDX-License-Identifier: Apache-2.0
// Mappings by hand; a network that is mapped so is run, and the mapping that was written down is the same
// one.
#include <array>

#include "sim/workload/trace.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/network_runs.h"
#include "tests/fuzz/teaching_machine.h"

namespace systole::fuzz {
namespace {

/// Layers that the mappings of the corpus name.
constexpr const char* kNetwork = R"(trace: net
params: {dtype: int8}
inputs: {image: {shape: [4, 6, 6, 2], dtype: dtype}}
layers:
  - {name: conv, op: conv2d, in: image, filters: 8, kernel: 3, pad: 1, activation: relu}
  - {name: more, op: conv2d, filters: 8, kernel: 1}
  - {name: sum, op: elementwise, kind: add, in: [more, conv]}
  - {name: pool, op: pool, kind: max, window: 2}
  - {name: classes, op: matmul, n: 10}
outputs: [classes]
)";

using Machines = std::array<std::unique_ptr<Device>, 3>;

Machines machines() {
    return {teaching_machine({}), teaching_machine({{"mxu.dataflow", "auto"}, {"core.count", "2"}}),
            teaching_machine({{"placement.activations", "auto"},
                              {"placement.activation_space", "8 KiB"},
                              {"placement.input_buffer", "16 KiB"},
                              {"placement.weight_buffer", "16 KiB"},
                              {"placement.fuse", "on"},
                              {"placement.slice", "on"},
                              {"mxu.count", "4"}})};
}

}  // namespace

void read_input(const std::string& input) {
    static const Machines devices = machines();
    static const Graph graph = network_of(kNetwork, "int8");
    for (const auto& device : devices) {
        RunOptions options{Protocol::of_run()};
        RunOutcome outcome;
        try {
            options.mapping = config::parse_yaml(input, "m.yaml");
            outcome = device->run(graph, options);
        } catch (const UserError&) {
            continue;
        }
        expect_sound(outcome.result, graph);
        options.mapping = config::parse_yaml(outcome.mapping, "written.yaml");
        if (device->run(graph, options).result.total.cycles != outcome.result.total.cycles)
            throw std::logic_error("the mapping that was written down is another one");
    }
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{"mapping: x\n",
                                                      "layers:\n",
                                                      "\n  conv: {",
                                                      "\n  more: {",
                                                      "\n  classes: {",
                                                      "rows: ",
                                                      "columns: ",
                                                      "depth: ",
                                                      "over_batch: 2, ",
                                                      "over_m: 2, ",
                                                      "over_n: 4, ",
                                                      "outer: n",
                                                      "outer: m",
                                                      "cores: m",
                                                      "cores: n",
                                                      "cores: batch",
                                                      "cores: none",
                                                      "cores: 1\n",
                                                      "resident: [conv, pool]\n",
                                                      "resident: []\n",
                                                      "fused: [sum]\n",
                                                      "fused: []\n",
                                                      "dataflow: os",
                                                      "dataflow: is",
                                                      "slices:\n  - {first: conv, last: pool, count: 2}\n",
                                                      "slices: []\n",
                                                      "count: 4",
                                                      "9223372036854775807",
                                                      "&a",
                                                      "\xff",
                                                      "}\n"};
    return pieces;
}

}  // namespace systole::fuzz
