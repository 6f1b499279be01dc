// SPDX-License-Identifier: Apache-2.0
// Tables of energies and of prices, as presets of a device's `energy` and `cost`.
#include "sim/account/cost.h"
#include "sim/config/yaml.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/network_runs.h"
#include "tests/fuzz/teaching_machine.h"

namespace systole::fuzz {
namespace {

constexpr const char* kNetwork = R"(trace: net
params: {dtype: int8}
inputs: {x: {shape: [9, 21], dtype: dtype}}
layers:
  - {name: wide, op: matmul, n: 33, activation: gelu}
  - {name: shares, op: softmax}
outputs: [shares]
)";

/// Shipped presets, and `input` by the name of "mine".
config::Config::Resolver with_own(const std::string& input) {
    return [&input](const std::string& name, const SourceMark& where) {
        return name == "mine" ? config::parse_yaml(input, "mine.yaml") : test::shipped_preset(name, where);
    };
}

void run_with_energies(const std::string& input) {
    static const Graph graph = network_of(kNetwork, "int8");
    const auto device = teaching_machine({{"energy.preset", "mine"},
                                          {"energy.idle", "1 W"},
                                          {"energy.wire_mm", "2"},
                                          {"energy.host_bit", "5 pJ"},
                                          {"memory.preset", "teaching"}},
                                         with_own(input));
    expect_sound(device->run(graph, {Protocol::of_run(), WantTimeline::Yes}).result, graph);
}

void price(const std::string& input) {
    config::Config config = config::Config::from_document(
        config::parse_yaml("device: x\ncost: {preset: mine}\n", "d.yaml"), with_own(input));
    CostSpec spec = read_cost(config.root());
    config.finish();
    name_origins(spec, config.effective());
    cost_of(spec, {Ticks(1'234'567), Femtojoules(8'900'000'000), {}, {}, 1});
    cost_of(spec, {Ticks::max(), Femtojoules::max(), {}, {}, 1'000'000});
}

}  // namespace

void read_input(const std::string& input) {
    for (const auto read : {run_with_energies, price}) {
        try {
            read(input);
        } catch (const UserError&) {
        }
    }
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{"energy: x\n",
                                                      "cost: x\n",
                                                      "extends: energy_7nm\n",
                                                      "extends: data_center\n",
                                                      "{value: ",
                                                      "assumed: \"x\", range: 1..2",
                                                      " pJ",
                                                      " fJ",
                                                      " mJ",
                                                      " mW",
                                                      " W",
                                                      " kW",
                                                      " USD/h",
                                                      " USD/kWh",
                                                      " USD",
                                                      " years",
                                                      "rent: ",
                                                      "purchase: ",
                                                      "1e30",
                                                      "0 W",
                                                      "int8: ",
                                                      "calibrated: x",
                                                      "\n  ",
                                                      "&a",
                                                      "\xff"};
    return pieces;
}

}  // namespace systole::fuzz
