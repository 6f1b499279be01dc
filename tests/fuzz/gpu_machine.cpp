// SPDX-License-Identifier: Apache-2.0
// The simulator of SIMT devices: bytes choose a GPU, of all that its keys take, a network and a way of
// measuring. Every invariant of a run holds, or it is refused.
#include "models/devices/simt/simt_device.h"
#include "sim/workload/trace.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/random_run.h"
#include "tests/support/random_gpu.h"

namespace systole::fuzz {
namespace {

std::unique_ptr<Device> simt_device(config::Config& config) {
    return simt::make_simt_device(config, "random");
}

const std::vector<Variable>& presets() {
    static const std::vector<Variable> all = [] {
        std::vector<Variable> made;
        for (const char* const name : {"a100", "h100", "h200", "b200", "l4", "l40s", "v100", "mi210",
                                       "mi300x", "apple_m1", "apple_m2_ultra"})
            made.push_back(variable(std::string("device: Mine\nextends: ") + name + "\n", simt_device));
        return made;
    }();
    return all;
}

}  // namespace

void read_input(const std::string& input) {
    test::ChosenBytes chosen{input};
    test::Dice dice(chosen);
    const Variable& preset = presets()[dice() % presets().size()];
    try {
        const auto device =
            make(preset.document, test::RandomGpu(chosen).settings(preset.entries), simt_device);
        const Graph graph = build_trace(config::parse_yaml(random_network(chosen), "network.yaml"), {});
        run_everything(*device, graph, test::RandomGpu(chosen).protocol());
    } catch (const UserError&) {
    }
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> none;
    return none;
}

}  // namespace systole::fuzz
