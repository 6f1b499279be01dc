// SPDX-License-Identifier: Apache-2.0
// Random machines under random workloads. Every run already checks its own invariants and aborts on a
// violation; what is compared here are runs with each other.
#include <catch2/catch.hpp>

#include "models/devices/systolic/systolic_device.h"
#include "sim/account/writers.h"
#include "sim/config/config.h"
#include "sim/workload/trace.h"
#include "tests/support/random_machine.h"

namespace systole {
namespace {

std::unique_ptr<Device> make(const std::string& text,
                             const std::vector<std::pair<std::string, std::string>>& settings) {
    const auto presets = [](const std::string& name, const SourceMark&) {
        return config::load_yaml("configs/memory/" + name + ".yaml");
    };
    config::Config config = config::Config::from_document(config::parse_yaml(text, "random.yaml"), presets);
    for (const auto& [path, value] : settings) config.set(path, value);
    config.root().text("kind", "device kind");
    auto device = systolic::make_systolic_device(config, "random");
    config.finish();
    return device;
}

Protocol random_protocol(std::mt19937_64& random) {
    Protocol protocol;
    if (random() % 2) protocol.inputs_at = Protocol::Where::Dram;
    if (random() % 2) protocol.outputs_to = Protocol::Where::Dram;
    protocol.launch = static_cast<Protocol::Launch>(random() % 3);
    protocol.refresh_phase = Ticks(static_cast<std::int64_t>(random() % 3'000'000));
    return protocol;
}

double fraction(const DeviceResult& result, SlotClass slot_class) {
    return result.total.fraction(slot_class);
}

}  // namespace

TEST_CASE("random machines keep every invariant under random workloads", "[machines]") {
    int ran = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        test::RandomMachine random(seed);
        const std::string device_text = random.device(), trace_text = random.trace();
        INFO("seed " << seed << "\n" << device_text << trace_text);
        const Graph graph = build_trace(config::parse_yaml(trace_text, "random_trace.yaml"), {});
        std::mt19937_64 dice(seed);
        Protocol protocol = random_protocol(dice);
        const auto device = make(device_text, {});
        RunOutcome first;
        try {
            first = device->run(graph, {protocol, false});
        } catch (const UserError& refused) {
            // Resident activations may not fit, or cannot start in DRAM, and columns of sparse weights may be
            // cut inside bytes: refusing that is right; anything else not.
            const std::string why = refused.what();
            INFO(why);
            REQUIRE((device_text.find("activations: scratchpad") != std::string::npos ||
                     why.find("patterns and groups fill whole bytes") != std::string::npos));
            continue;
        }
        ++ran;
        CHECK(first.result.total.macs == total_macs(graph));
        CHECK(first.result.total.utilization() <= 1.0);
        CHECK(first.result.total.cycles >= first.result.total.roofline.floor());

        // The same again: the same bytes.
        CHECK(to_json({device->run(graph, {protocol, true}).result}) == to_json({first.result}));

        // The program, written out and read back, is the same program.
        const auto from_text =
            device->run_program(device->lower(graph, {protocol, false}), "lowered", {protocol, false});
        CHECK(from_text.result.total.cycles == first.result.total.cycles);
        CHECK(from_text.result.total.slots == first.result.total.slots);

        // The PE grid: the same cycles and accounts, and every drained sum is right (checked inside).
        if (first.result.total.macs.value() < 300'000) {
            const auto grid = make(device_text, {{"mxu.engine", "grid"}})->run(graph, {protocol, false});
            CHECK(grid.result.total.cycles == first.result.total.cycles);
            CHECK(grid.result.total.slots == first.result.total.slots);
        }
        // A memory without latency leaves no memory class.
        const auto ideal = make(device_text, {{"memory.kind", "ideal"}})->run(graph, {protocol, false});
        CHECK(fraction(ideal.result, SlotClass::Memory) == 0.0);
    }
    CHECK(ran >= 150);
}

}  // namespace systole
