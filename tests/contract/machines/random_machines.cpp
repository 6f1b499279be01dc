// SPDX-License-Identifier: Apache-2.0
// Random machines under random workloads. Every run already checks its own invariants and aborts on a
// violation; what is compared here are runs with each other.
#include <catch2/catch.hpp>
#include <limits>

#include "models/devices/systolic/dataflow_choice.h"
#include "models/devices/systolic/lowering/dataflow_specs.h"
#include "models/devices/systolic/systolic_device.h"
#include "sim/account/writers.h"
#include "sim/workload/trace.h"
#include "tests/support/device_text.h"
#include "tests/support/random_machine.h"

namespace systole {
namespace {

using test::config_of;
using test::Settings;

std::unique_ptr<Device> make(const std::string& text, const Settings& settings) {
    config::Config config = config_of(text, settings);
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
            first = device->run(graph, {protocol});
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
        CHECK(to_json({device->run(graph, {protocol, WantTimeline::Yes}).result}) == to_json({first.result}));

        // The program, written out and read back, is the same program.
        WorkDone work_done;
        RunOptions watched{protocol};
        watched.work_done = &work_done;
        const auto from_text = device->run_program(device->lower(graph, {protocol}), "lowered", watched);
        CHECK(work_done.runs() == 1);
        CHECK(work_done.share() == 1);
        CHECK(from_text.result.total.cycles == first.result.total.cycles);
        CHECK(from_text.result.total.slots == first.result.total.slots);

        // The PE grid: the same cycles and accounts, and every drained sum is right (checked inside).
        if (first.result.total.macs.value() < 300'000) {
            const auto grid = make(device_text, {{"mxu.engine", "grid"}})->run(graph, {protocol});
            CHECK(grid.result.total.cycles == first.result.total.cycles);
            CHECK(grid.result.total.slots == first.result.total.slots);
        }
        // A memory without latency leaves no memory class.
        const auto ideal = make(device_text, {{"memory.kind", "ideal"}})->run(graph, {protocol});
        CHECK(fraction(ideal.result, SlotClass::Memory) == 0.0);
    }
    CHECK(ran >= 150);
}

TEST_CASE("what is chosen is faster than the fastest dataflow, or it, and no run is shorter than its bound",
          "[machines]") {
    int ran = 0, mixed = 0;
    for (std::uint64_t seed = 1001; seed <= 1100; ++seed) {
        test::RandomMachine random(seed);
        const std::string device_text = random.device(), trace_text = random.trace();
        INFO("seed " << seed << "\n" << device_text << trace_text);
        const Graph graph = build_trace(config::parse_yaml(trace_text, "random_trace.yaml"), {});
        const std::pair<std::string, std::string> from_pad{"mxu.weight_source", "scratchpad"};
        const RunOptions options{Protocol::of_run()};
        try {
            std::int64_t least = std::numeric_limits<std::int64_t>::max();
            for (const std::string dataflow : {"ws", "os", "is"}) {
                const std::string only = "mxu.dataflow";
                const DeviceResult result =
                    make(device_text, {from_pad, {only, dataflow}})->run(graph, options).result;
                const auto spec = test::spec_of(device_text, {from_pad, {only, dataflow}});
                CHECK(static_cast<double>(result.total.cycles.value()) >=
                      systolic::least_array_cycles(graph, spec.mxu));
                least = std::min(least, result.total.cycles.value());
            }
            const auto choosing = make(device_text, {from_pad, {"mxu.dataflow", "auto"}});
            const DeviceResult chosen = choosing->run(graph, options).result;
            REQUIRE(chosen.choices.size() == 1);
            const bool one = chosen.choices[0].value != "mixed";
            CHECK((one ? chosen.total.cycles.value() == least : chosen.total.cycles.value() < least));
            const auto program = choosing->lower(graph, options);
            if (one) CHECK(program.find("array dataflow=" + chosen.choices[0].value) != std::string::npos);
            CHECK(choosing->run_program(program, "lowered", options).result.total.cycles ==
                  chosen.total.cycles);
            ++ran, mixed += one ? 0 : 1;
        } catch (const UserError&) {
            // As above: not every network can run in each dataflow.
        }
    }
    CHECK(ran >= 60);
    CHECK(mixed > 0);
}

TEST_CASE("layers with random dataflows of their own keep every invariant", "[machines]") {
    int ran = 0, switched = 0;
    for (std::uint64_t seed = 2001; seed <= 2150; ++seed) {
        test::RandomMachine random(seed);
        const std::string device_text = random.device(), trace_text = random.trace();
        std::mt19937_64 dice(seed);
        const Graph graph = build_trace(config::parse_yaml(trace_text, "random_trace.yaml"), {});
        std::string mapping = "mapping: by hand\nlayers:\n";
        for (const Layer& layer : graph.layers)
            if (systolic::uses_arrays(layer.op))
                mapping +=
                    "  " + layer.name + ": {dataflow: " + std::vector{"ws", "os", "is"}[dice() % 3] + "}\n";
        if (mapping.ends_with("layers:\n")) continue;
        INFO("seed " << seed << "\n" << device_text << trace_text << mapping);
        Settings settings{{"mxu.weight_source", "scratchpad"},
                          {"mxu.dataflow", "auto"},
                          {"mxu.dataflow_switch", std::to_string(dice() % 50)},
                          {"core.count", seed % 4 == 0 ? "2" : "1"}};
        if (device_text.find("activations: scratchpad") != std::string::npos) settings.pop_back();
        const RunOptions options{random_protocol(dice), WantTimeline::No, false,
                                 config::parse_yaml(mapping, "m.yaml")};
        const auto device = make(device_text, settings);
        RunOutcome first;
        try {
            first = device->run(graph, options);
        } catch (const UserError& refused) {
            INFO(refused.what());
            REQUIRE((device_text.find("activations: scratchpad") != std::string::npos ||
                     trace_text.find("sparsity") != std::string::npos));
            continue;
        }
        ++ran;
        for (const Stat& stat : first.result.stats)
            switched += stat.name == "dataflow_switches" && stat.value > 0;
        CHECK(first.result.total.macs == total_macs(graph));
        CHECK(first.result.total.cycles >= first.result.total.roofline.floor());
        CHECK(to_json({device->run(graph, options).result}) == to_json({first.result}));
        RunOptions again = options;
        again.mapping = config::parse_yaml(first.mapping, "written.yaml");
        CHECK(device->run(graph, again).result.total.cycles == first.result.total.cycles);

        const auto from_text =
            device->run_program(device->lower(graph, options), "lowered", {options.protocol});
        CHECK(from_text.result.total.cycles == first.result.total.cycles);
        CHECK(from_text.result.total.slots == first.result.total.slots);

        if (first.result.total.macs.value() > 300'000) continue;
        settings.push_back({"mxu.engine", "grid"});
        const auto grid = make(device_text, settings)->run(graph, options);
        CHECK(grid.result.total.cycles == first.result.total.cycles);
        CHECK(grid.result.total.slots == first.result.total.slots);
    }
    CHECK(ran >= 80);
    CHECK(switched >= 40);
}

TEST_CASE("random chips of two or three cores keep every invariant", "[machines]") {
    int ran = 0;
    for (std::uint64_t seed = 1; seed <= 120; ++seed) {
        test::RandomMachine random(seed);
        const std::string device_text = random.device(), trace_text = random.trace();
        if (device_text.find("activations: scratchpad") != std::string::npos) continue;  // takes one core
        INFO("seed " << seed << "\n" << device_text << trace_text);
        const std::pair<std::string, std::string> cores{"core.count", std::to_string(2 + seed % 2)};
        const Graph graph = build_trace(config::parse_yaml(trace_text, "random_trace.yaml"), {});
        std::mt19937_64 dice(seed);
        const Protocol protocol = random_protocol(dice);
        // By the mapping all cores are at work, however small the layers are.
        const RunOptions options{protocol, WantTimeline::No, false,
                                 config::parse_yaml("mapping: by hand\nlayers: {}\n", "mapping.yaml")};
        const auto device = make(device_text, {cores});
        RunOutcome first;
        try {
            first = device->run(graph, options);
        } catch (const UserError& refused) {
            INFO(refused.what());
            REQUIRE(std::string(refused.what()).find("patterns and groups fill whole bytes") !=
                    std::string::npos);
            continue;
        }
        ++ran;
        CHECK(first.result.total.macs == total_macs(graph));
        CHECK(first.result.total.cycles >= first.result.total.roofline.floor());
        CHECK(to_json({device->run(graph, options).result}) == to_json({first.result}));

        const auto from_text = device->run_program(device->lower(graph, options), "lowered", {protocol});
        CHECK(from_text.result.total.cycles == first.result.total.cycles);
        CHECK(from_text.result.total.slots == first.result.total.slots);

        if (first.result.total.macs.value() < 300'000) {
            const auto grid = make(device_text, {cores, {"mxu.engine", "grid"}})->run(graph, options);
            CHECK(grid.result.total.cycles == first.result.total.cycles);
            CHECK(grid.result.total.slots == first.result.total.slots);
        }
        const auto ideal = make(device_text, {cores, {"memory.kind", "ideal"}})->run(graph, options);
        CHECK(fraction(ideal.result, SlotClass::Memory) == 0.0);

        // However it is dealt, as much has to pass the memory's bus once, and as much is computed.
        const std::pair<std::string, std::string> in_dram{"placement.activations", "dram"};
        const auto alone = make(device_text, {in_dram})->run(graph, {protocol});
        const auto dealt = make(device_text, {cores, in_dram})->run(graph, options);
        CHECK(dealt.result.total.compulsory_dram == alone.result.total.compulsory_dram);
        CHECK(dealt.result.total.macs == alone.result.total.macs);
        CHECK(dealt.result.total.lane_cycles == alone.result.total.lane_cycles);
        CHECK(dealt.result.total.dram_written >= alone.result.total.dram_written);
    }
    CHECK(ran >= 60);
}

}  // namespace systole
