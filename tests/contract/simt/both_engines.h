// SPDX-License-Identifier: Apache-2.0
// One trace on a GPU, by steps or in warps (sm.engine), and what is asked of both.
#pragma once

#include <cstdint>
#include <string>

#include "models/devices/simt/simt_device.h"
#include "sim/workload/trace.h"
#include "tests/unit/simt/gpu_config.h"

namespace systole::test {

/// `sms`: 0: as many as shipped. `kernels`: whose (kernels.layers); TensorRT-LLM's with a table of 1,024
/// positions.
struct Machine {
    std::string gpu;
    int sms = 0;
    std::string kernels = "pytorch";
};

/// All layers together, with the mapping of the first one. `repeat`: how often it runs; the last one counts.
inline ResultRow run_on(const Machine& machine, const std::string& engine, const std::string& trace,
                        int repeat) {
    config::Config config = gpu_config("device: Mine\nextends: " + machine.gpu + "\n");
    config.set("sm.engine", engine);
    config.set("kernels.layers", machine.kernels);
    if (machine.kernels == "tensorrt_llm") config.set("kernels.table_positions", "1024");
    if (machine.sms > 0) config.set("sm.count", std::to_string(machine.sms));
    const auto device = simt::make_simt_device(config, "mine");
    config.finish();
    const Graph graph = build_trace(config::parse_yaml(trace, "one.yaml"), {});
    Protocol protocol = Protocol::of_op();
    protocol.launch = Protocol::Launch::Graph;
    protocol.repeat = repeat;
    const DeviceResult result = device->run(graph, {protocol}).result;
    ResultRow total = result.total;
    total.mapping = result.layers.front().mapping;
    return total;
}

inline std::int64_t bytes(const ResultRow& row, Place from, Place to) {
    std::int64_t sum = 0;
    for (const Movement& movement : row.movements)
        if (movement.from == from && movement.to == to) sum += movement.bytes.value();
    return sum;
}

/// By how much steps take longer, as a part of what warps take.
inline double excess(const ResultRow& steps, const ResultRow& warps) {
    return static_cast<double>(steps.time().value()) / static_cast<double>(warps.time().value()) - 1;
}

}  // namespace systole::test
