// SPDX-License-Identifier: Apache-2.0
// Lines as values of --set, for devices of both kinds, a trace and the way of measuring.
#include <algorithm>
#include <array>

#include "sim/app/load_device.h"
#include "sim/workload/trace.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/small_work.h"

namespace systole::fuzz {
namespace {

constexpr std::size_t kMostLines = 20;

std::vector<std::string> lines_of(const std::string& input) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < input.size();) {
        const std::size_t end = std::min(input.find('\n', at), input.size());
        lines.push_back(input.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

app::DeviceDocument document_of(const char* name) {
    setenv("SYSTOLE_HOME", ".", 1);
    return app::read_device(app::Library::find(), name);
}

/// The PE grid takes its time with large arrays, and turns take as long as there are.
bool is_quick(const app::Settings& settings) {
    const bool is_grid =
        std::ranges::any_of(settings.device, [](const auto& each) { return each.path == "mxu.engine"; });
    return !is_grid && settings.protocol.repeat <= 3 && settings.protocol.weight_copies <= 3;
}

}  // namespace

void read_input(const std::string& input) {
    static const std::array documents{document_of("teaching_4x4"), document_of("h100")};
    static const config::YamlNode trace = config::load_yaml("traces/teaching/three_layers.yaml");
    const std::vector<std::string> lines = lines_of(input);
    if (lines.size() > kMostLines) return;
    for (const app::DeviceDocument& document : documents) {
        try {
            const app::Settings settings =
                app::read_settings(lines, Protocol::of_run(), {"teaching_4x4", "h100"});
            app::LoadedDevice device = app::build_device(document, settings);
            const Graph graph = build_trace(trace, settings.workload);
            device.device = std::make_unique<SmallWork>(std::move(device.device));
            if (is_quick(settings)) device.run(graph, {settings.protocol});
        } catch (const UserError&) {
        }
    }
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{"\n",
                                                      "=",
                                                      ":",
                                                      ".",
                                                      "mxu.rows=",
                                                      "mxu.cols=8",
                                                      "mxu.dataflow=",
                                                      "auto",
                                                      "h100:",
                                                      "teaching_4x4:",
                                                      "workload.batch=",
                                                      "workload.dtype=bf16",
                                                      "run.launch=graph",
                                                      "run.reuse=rough",
                                                      "run.inputs_at=dram",
                                                      "run.refresh_phase=1 ns",
                                                      "run.repeat=2",
                                                      "run.weight_copies=auto",
                                                      "run.protocol=graph_replay",
                                                      "memory.preset=",
                                                      "hbm2_tpu_v4",
                                                      "teaching",
                                                      "memory.kind=ideal",
                                                      "energy.preset=energy_7nm",
                                                      "cost.preset=data_center",
                                                      "sm.count=",
                                                      "l2.capacity=",
                                                      "clock=1 GHz",
                                                      "placement.activations=auto",
                                                      "core.count=2",
                                                      " GB/s",
                                                      " KiB",
                                                      "9223372036854775807",
                                                      "row,bank",
                                                      "[a, b]",
                                                      "\xae"};
    return pieces;
}

}  // namespace systole::fuzz
