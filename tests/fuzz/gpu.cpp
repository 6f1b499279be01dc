// SPDX-License-Identifier: Apache-2.0
// GPUs to their specification; one that is taken runs a small network, replayed, and explains a product.
// Every run holds its invariants, and aborts where one breaks.
#include <memory>

#include "models/devices/simt/simt_device.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/network_runs.h"
#include "tests/unit/simt/gpu_config.h"

namespace systole::fuzz {
namespace {

// The second product's K is long for its few tiles: parts of it, where the SM holds such a kernel. The sum
// joins it.
constexpr const char* kNetwork = R"(trace: small
params: {dtype: bf16}
inputs: {x: {shape: [70, 136], dtype: dtype}}
layers:
  - {name: wide, op: matmul, n: 330, bias: true, activation: gelu}
  - {name: narrow, op: matmul, n: 136}
  - {name: sum, op: elementwise, kind: add, in: [narrow, x], activation: relu}
outputs: [sum]
)";

// Every way of a window: gathered with a padded copy, on FP32 pipes, pooled, and a map's mean.
constexpr const char* kMaps = R"(trace: maps
params: {dtype: bf16}
inputs: {x: {shape: [2, 9, 11, 5], dtype: dtype}}
layers:
  - {name: dense, op: conv2d, in: x, filters: 40, kernel: 3, stride: 2, pad: 1, bias: true, activation: relu}
  - {name: depthwise, op: conv2d, filters: 40, kernel: 3, pad: 1, groups: 40}
  - {name: greatest, op: pool, kind: max, window: 2}
  - {name: mean, op: pool, kind: average, global: true}
outputs: [mean]
)";

void run_on(const Device& device) {
    const std::string dtype = format_of(device);
    const Graph network = network_of(kNetwork, dtype);
    Protocol replay = Protocol::of_run();
    replay.launch = Protocol::Launch::Graph;
    replay.repeat = 2;
    replay.weight_copies = Protocol::kEnoughCopies;
    device.run(network, {replay, WantTimeline::Yes});
    device.run(network_of(kMaps, dtype), {Protocol::of_run(), WantTimeline::Yes});
    device.lower(network, {replay});
    device.explain(single_operator("matmul", {{"m", "3"}, {"n", "65"}, {"k", "1030"}, {"dtype", dtype}}, {}),
                   Protocol::of_op());
}

}  // namespace

void read_input(const std::string& input) {
    try {
        config::Config config = test::gpu_config(input);
        const std::unique_ptr<Device> device = simt::make_simt_device(config, "mine");
        config.finish();
        run_on(*device);
    } catch (const UserError&) {
    }
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{"extends: h100",
                                                      "kind: simt\n",
                                                      "{value: ",
                                                      "calibrated: x, range: 1..2",
                                                      " B",
                                                      " MiB",
                                                      " ns",
                                                      " W",
                                                      " MHz",
                                                      "issue: warp_group",
                                                      "issue: warp",
                                                      "scheduling: lrr",
                                                      "sub_cores: 4",
                                                      "kind: ideal, capacity: 1 MiB",
                                                      "preset: hbm3_h100",
                                                      "refresh: per_bank",
                                                      "cap: 0 W",
                                                      "fp32: 1",
                                                      "int4: 64, ",
                                                      "ways: 0",
                                                      "1024",
                                                      "100000",
                                                      "\n  ",
                                                      "\xff"};
    return pieces;
}

}  // namespace systole::fuzz
