// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/random_run.h"

#include <stdexcept>

#include "sim/account/writers.h"
#include "sim/device/cost_config.h"
#include "tests/fuzz/network_runs.h"
#include "tests/fuzz/small_work.h"
#include "tests/support/random_gpu.h"
#include "tests/support/random_machine.h"
#include "tests/support/random_transformer.h"
#include "tests/support/shipped_preset.h"

namespace systole::fuzz {
namespace {

/// Of a small network on few PEs: what is longer takes its time, and that is no fault.
constexpr std::size_t kLongestProgram = 2'000'000;
/// Elements of all tensors: a few machines fetch each by itself, which takes 2 us, and fifty with sanitizers.
constexpr double kMostElements = 250'000;

config::Config read(const std::string& document) {
    return config::Config::from_document(config::parse_yaml(document, "random.yaml"), test::shipped_preset);
}

std::unique_ptr<Device> finish(config::Config& config, MakeDevice make_device) {
    config.root().text("kind", "device kind");
    config.root().text("fidelity", "how far published facts carry", "detailed");
    read_cost(config.root());
    std::unique_ptr<Device> device = make_device(config);
    config.finish();
    return device;
}

}  // namespace

std::unique_ptr<Device> make(const std::string& document, const Settings& settings, MakeDevice make_device) {
    config::Config config = read(document);
    for (const auto& [path, value] : settings) config.set(path, value);
    return finish(config, make_device);
}

Variable variable(const std::string& document, MakeDevice make_device) {
    config::Config config = read(document);
    finish(config, make_device);
    return {document, config.effective()};
}

std::string random_network(test::ChosenBytes& chosen) {
    test::Dice dice(chosen);
    switch (dice() % 4) {
        case 0:
            return test::random_transformer(dice);
        case 1:
            return test::RandomGpu(chosen).network();
        default:
            return test::RandomMachine(chosen).trace();
    }
}

void run_everything(const Device& device, const Graph& graph, const Protocol& protocol) {
    if (elements_of(graph) > kMostElements) return;
    const std::string program = device.lower(graph, {protocol});
    if (program.size() > kLongestProgram) return;
    const RunOutcome whole = device.run(graph, {protocol, WantTimeline::Yes, true});
    expect_sound(whole.result, graph);
    const RunOutcome again = device.run(graph, {protocol});
    expect_sound(again.result, graph);
    if (!protocol.reuses() && to_json({again.result}) != to_json({whole.result}))
        throw std::logic_error("a run differs from the same with a timeline");
    if (program.find("systole-program") == std::string::npos) return;  // of a kind that runs none
    Protocol once = protocol;
    once.reuse = Protocol::Reuse::Off;
    const DeviceResult lowered = device.run_program(program, "lowered", {once}).result;
    if (!protocol.reuses() && lowered.total.cycles != again.result.total.cycles)
        throw std::logic_error("a program takes another time than what it was lowered from");
}

}  // namespace systole::fuzz
