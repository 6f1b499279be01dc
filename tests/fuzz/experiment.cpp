// SPDX-License-Identifier: Apache-2.0
// Experiments, and plans of those that are small, against a simulator of a few keys.
#include "sim/sweep/experiment.h"

#include "sim/config/yaml.h"
#include "sim/sweep/plan.h"
#include "tests/fuzz/fuzz_target.h"

namespace systole::fuzz {
namespace {

constexpr std::uint64_t kSmall = 500;

void refuse_unknown(const std::vector<sweep::Setting>& settings, const sweep::Values& known) {
    for (const sweep::Setting& setting : settings) {
        bool is_known = setting.path == "memory.preset";
        for (const auto& [path, value] : known) is_known = is_known || path == setting.path;
        if (!is_known) throw UserError(setting.where, "unknown key");
    }
}

sweep::Simulator simulator() {
    static const sweep::Values device{{"mxu.rows", "128"},
                                      {"mxu.cols", "128"},
                                      {"mxu.dataflow", "ws"},
                                      {"core.clock", "1 GHz"},
                                      {"scratchpad.capacity", "16 MiB"}};
    static const sweep::Values trace{{"workload.batch", "1"}, {"workload.dtype", "bf16"}};
    static const sweep::Values protocol{{"run.launch", "none"}};
    const auto of = [](const sweep::Values& values) {
        return [&values](const std::string&, const std::vector<sweep::Setting>& settings) {
            refuse_unknown(settings, values);
            return sweep::Resolved{values, "digest"};
        };
    };
    sweep::Simulator simulator;
    simulator.program = "fuzz";
    simulator.metrics = {{"time_ns", true, false}, {"bound_by", false, false}};
    simulator.device = of(device);
    simulator.trace = of(trace);
    simulator.protocol = [](const std::vector<sweep::Setting>& settings) {
        refuse_unknown(settings, protocol);
        return sweep::Resolved{protocol, ""};
    };
    simulator.check = [](const std::string&, const std::string&,
                         const std::vector<sweep::Setting>& settings) {
        for (const sweep::Setting& setting : settings)
            if (setting.value == "13") throw UserError(setting.where, "no 13");
    };
    return simulator;
}

}  // namespace

void read_input(const std::string& input) {
    try {
        const sweep::Experiment experiment = sweep::read_experiment(config::parse_yaml(input, "e.yaml"));
        const bool is_grid = experiment.sample.method == sweep::Sample::Method::Grid;
        const auto count = is_grid ? sweep::Combinations::of_grid(experiment.axes)
                                   : std::optional(static_cast<std::uint64_t>(experiment.sample.count));
        if (!count || *count > kSmall || experiment.devices.size() * experiment.traces.size() > 4) return;
        const sweep::Plan plan = sweep::make_plan(experiment, simulator(), {});
        // What is written must be read as it was.
        const sweep::Manifest again = sweep::Manifest::parse(plan.manifest.text(), "manifest.csv");
        if (again.size() != plan.manifest.size() || again.columns() != plan.manifest.columns()) std::abort();
        for (std::size_t i = 0; i < again.size(); ++i)
            if (again.point(i).values != plan.manifest.point(i).values) std::abort();
    } catch (const UserError&) {
    }
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{"axes: {",
                                                      "mxu.rows: [4, 8]",
                                                      "{linear: [1, 9, 3]}",
                                                      "{linear: [1 GHz, 2 GHz]}",
                                                      "{log2: [1, 64]}",
                                                      "{zip: {mxu.rows: [1, 2], mxu.cols: [3, 4]}}",
                                                      "memory.preset: [hbm2, hbm3]",
                                                      "tpu_v4:mxu.cols",
                                                      "derive: {area: mxu.rows * mxu.cols}",
                                                      "{value: mxu.rows, unit: KiB}",
                                                      "where: mxu.rows <= 4 * workload.batch",
                                                      "where: {tpu_v4: mxu.rows > 2}",
                                                      "sample: {method: random, count: 9, seed: 3}",
                                                      "sample: {method: latin_hypercube, count: 7}",
                                                      "objectives: [time_ns, {max: mxu.rows}]",
                                                      "limits: {time: 5 s, memory: 1 GiB}",
                                                      "set: {workload.dtype: int8}",
                                                      " ? 1 : 0",
                                                      " / (mxu.rows - 4)",
                                                      "min(",
                                                      "^^^^",
                                                      "16 MiB",
                                                      "1e999",
                                                      "9223372036854775807",
                                                      "((((((((((((",
                                                      "\"",
                                                      ",",
                                                      "13"};
    return pieces;
}

}  // namespace systole::fuzz
