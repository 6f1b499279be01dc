// SPDX-License-Identifier: Apache-2.0
// The simulator of systolic devices: bytes choose a machine, of all that its keys take, a network and a way
// of measuring. Every invariant of a run holds, or it is refused.
#include <array>
#include <string>
#include <string_view>

#include "models/devices/systolic/systolic_device.h"
#include "sim/workload/trace.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/random_run.h"
#include "tests/support/random_gpu.h"
#include "tests/support/random_machine.h"

namespace systole::fuzz {
namespace {

constexpr const char* kGrid = "mxu.engine";

/// Arrays that are simulated PE by PE are small ones: theirs is a cycle of all PEs at a time.
bool is_small(const Settings& settings, const std::vector<config::Entry>& entries) {
    constexpr double kMostPes = 1024;
    const auto number = [&](std::string_view path) {
        for (const auto& [name, value] : settings)
            if (name == path) return std::stod(value);
        for (const config::Entry& entry : entries)
            if (entry.path == path) return std::stod(entry.value);
        return 1.0;
    };
    return number("mxu.rows") * number("mxu.cols") * number("mxu.count") * number("core.count") <= kMostPes;
}

std::unique_ptr<Device> systolic_device(config::Config& config) {
    return systolic::make_systolic_device(config, "random");
}

const std::vector<Variable>& presets() {
    static const std::vector<Variable> all = [] {
        std::vector<Variable> made;
        for (const char* const name : {"teaching_4x4", "tpu_v1", "tpu_v4", "tpu_v4_chip", "tpu_v5e", "tpu_v7",
                                       "trainium1", "inferentia1", "groq_tsp", "scalesim", "onnxim_tpuv4"})
            made.push_back(variable(std::string("device: Mine\nextends: ") + name + "\n", systolic_device));
        return made;
    }();
    return all;
}

std::unique_ptr<Device> varied(const Variable& machine, test::ChosenBytes& chosen) {
    Settings settings = test::RandomGpu(chosen).settings(machine.entries);
    if (!is_small(settings, machine.entries))
        std::erase_if(settings, [](const auto& setting) { return setting.first == kGrid; });
    // Each trial is a run, and 0 stands for some of them.
    for (auto& [path, value] : settings)
        if (path == "placement.trials") value = "1";
    return make(machine.document, settings, systolic_device);
}

/// A preset in which some keys are others, or a small machine all of whose keys are drawn.
std::unique_ptr<Device> random_device(test::ChosenBytes& chosen) {
    test::Dice dice(chosen);
    const std::size_t which = dice() % (presets().size() + 2);
    if (which >= presets().size()) {
        const std::string document = test::RandomMachine(chosen).device();
        return varied(variable(document, systolic_device), chosen);
    }
    return varied(presets()[which], chosen);
}

}  // namespace

void read_input(const std::string& input) {
    test::ChosenBytes chosen{input};
    try {
        const auto device = random_device(chosen);
        const Graph graph = build_trace(config::parse_yaml(random_network(chosen), "network.yaml"), {});
        Protocol protocol = test::RandomGpu(chosen).protocol();
        protocol.repeat = protocol.weight_copies = 1;
        run_everything(*device, graph, protocol);
    } catch (const UserError&) {
    }
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> none;
    return none;
}

}  // namespace systole::fuzz
