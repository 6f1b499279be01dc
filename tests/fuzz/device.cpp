// SPDX-License-Identifier: Apache-2.0
// Devices of kind systolic to their specification; one that is taken runs small networks, and what they were
// lowered to.
#include <memory>

#include "models/devices/systolic/systolic_device.h"
#include "sim/config/yaml.h"
#include "sim/device/cost_config.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/network_runs.h"
#include "tests/support/shipped_preset.h"

namespace systole::fuzz {
namespace {

constexpr const char* kProducts = R"(trace: products
params: {dtype: bf16}
inputs: {x: {shape: [9, 21], dtype: dtype}}
layers:
  - {name: wide, op: matmul, n: 33, bias: true, activation: gelu}
  - {name: narrow, op: matmul, n: 21}
  - {name: sum, op: elementwise, kind: add, in: [narrow, x], activation: relu}
  - {name: shares, op: softmax}
outputs: [shares]
)";

constexpr const char* kMaps = R"(trace: maps
params: {dtype: bf16}
inputs: {x: {shape: [2, 7, 9, 3], dtype: dtype}}
layers:
  - {name: dense, op: conv2d, in: x, filters: 10, kernel: 3, stride: 2, pad: 1, activation: relu}
  - {name: depthwise, op: conv2d, filters: 10, kernel: 3, pad: 1, groups: 10}
  - {name: greatest, op: pool, kind: max, window: 2}
outputs: [greatest]
)";

constexpr const char* kChips = R"(trace: chips
params: {dtype: bf16}
inputs: {x: {shape: [4, 12], dtype: dtype}}
layers:
  - {name: product, op: matmul, n: 8}
  - {name: sum, op: collective, kind: all_reduce, chips: 4}
outputs: [sum]
)";

void run_on(const Device& device) {
    for (const char* const trace : {kProducts, kMaps, kChips}) {
        try {
            const Graph graph = network_of(trace, format_of(device));
            const RunOptions options{Protocol::of_run(), WantTimeline::Yes, true};
            const DeviceResult result = device.run(graph, options).result;
            expect_sound(result, graph);
            const std::string program = device.lower(graph, {Protocol::of_run()});
            const DeviceResult again = device.run_program(program, "lowered", {Protocol::of_run()}).result;
            if (again.total.cycles != result.total.cycles)
                throw std::logic_error("a program takes another time than what it was lowered from");
        } catch (const UserError&) {
        }
    }
}

}  // namespace

void read_input(const std::string& input) {
    try {
        config::Config config =
            config::Config::from_document(config::parse_yaml(input, "f.yaml"), test::shipped_preset);
        config.root().text("kind", "device kind");
        config.root().text("fidelity", "how far published facts carry", "detailed");
        read_cost(config.root());
        const std::unique_ptr<Device> device = systolic::make_systolic_device(config, "device");
        config.finish();
        run_on(*device);
    } catch (const UserError&) {
    }
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{"extends: tpu_v4",
                                                      "extends: teaching_4x4\n",
                                                      "{value: ",
                                                      "assumed: \"x\", range: 1..2",
                                                      " GB/s",
                                                      " MHz",
                                                      " MiB",
                                                      "kind: systolic\n",
                                                      "calibrated:",
                                                      "1e308 GHz",
                                                      "&a",
                                                      "<<: ",
                                                      "\n  ",
                                                      "bf16: 1",
                                                      "int8: 1/2",
                                                      "dataflow: auto",
                                                      "dataflow: os",
                                                      "engine: grid",
                                                      "activations: auto",
                                                      "activations: scratchpad",
                                                      "fuse: on",
                                                      "slice: on",
                                                      "sync: tensors",
                                                      "core: {count: 2}\n",
                                                      "chip_link: {bandwidth: 1 GB/s, latency: 1 ns}\n",
                                                      "memory: {preset: teaching}\n",
                                                      "memory: {preset: hbm2_tpu_v4}\n",
                                                      "- ",
                                                      "\xff",
                                                      "0 GHz"};
    return pieces;
}

}  // namespace systole::fuzz
