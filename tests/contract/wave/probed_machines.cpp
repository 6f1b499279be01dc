// SPDX-License-Identifier: Apache-2.0
// Random machines under random workloads, looked at and not: the run is the same, to the last counter, and
// the waveform is well formed.
#include <catch2/catch.hpp>
#include <random>

#include "models/devices/systolic/lowering/lower.h"
#include "models/devices/systolic/machine/results.h"
#include "models/devices/systolic/wave/wave_probe.h"
#include "sim/account/writers.h"
#include "sim/kernel/kernel.h"
#include "sim/workload/trace.h"
#include "tests/contract/wave/seen.h"
#include "tests/support/device_text.h"
#include "tests/support/random_machine.h"

namespace systole::systolic {
namespace {

SystolicSpec read(const std::string& text, EngineKind engine) {
    SystolicSpec spec = test::spec_of(text);
    spec.mxu.engine = engine;
    return spec;
}

/// For each layer one.
LayerDataflows random_dataflows(const Graph& graph, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    LayerDataflows dataflows;
    for (const Layer& layer : graph.layers)
        dataflows.emplace(whole_name(layer), static_cast<Dataflow>(random() % 3));
    return dataflows;
}

struct Answer {
    std::string json;
    Cycles cycles;
};

Answer run(Machine& machine, const SystolicSpec& spec, const Protocol& protocol) {
    machine.run();
    CHECK_FALSE(machine.value_fault);
    const DeviceResult result = result_of(machine, spec, protocol);
    return {to_json({result}), result.total.cycles};
}

/// Clocks of a DRAM have edges of their own; at every other time core signals change only at core edges.
void check_times(const test::Seen& seen, const ClockDomain& clock) {
    CHECK(seen.monotonic);
    for (const std::string& path : seen.paths()) {
        if (path.find(".dram.") != std::string::npos || path.ends_with(".clock")) continue;
        INFO(path);
        const auto& changes = seen.changes(path);
        REQUIRE(std::all_of(changes.begin(), changes.end(),
                            [&](const auto& change) { return clock.align(change.first) == change.first; }));
    }
}

/// The data bus carries what the memory counted.
void check_bus(const test::Seen& seen, const Dram& dram) {
    std::int64_t busy = 0;
    for (int bus_number = 0; dram.channels() > 0 && bus_number < dram.spec().data_buses(); ++bus_number) {
        const int buses = dram.spec().pseudo_channels;
        const std::string channel = "m.dram.channel_" + std::to_string(bus_number / buses);
        const std::string inside = buses == 1 ? "" : ".pseudo_channel_" + std::to_string(bus_number % buses);
        const auto& bus = seen.changes(channel + inside + ".data_bus");
        for (auto at = bus.begin(); at != bus.end(); ++at) {
            const auto next = std::next(at);
            const Ticks until = next == bus.end() ? seen.ended : next->first;
            const ClockDomain& clock = dram.clock();
            if (at->second != 0) busy += (clock.at_or_after(until) - clock.at_or_after(at->first)).value();
        }
    }
    const DramSpec& spec = dram.spec();
    const std::int64_t bytes = (dram.bytes_read() + dram.bytes_written()).value();
    // Bursts are whole, and partly used ones at the ends of transactions count too.
    CHECK(busy * spec.burst_bytes.value() >= bytes * spec.timing.at("BL"));
}

}  // namespace

TEST_CASE("a run that is looked at is the same run", "[wave]") {
    int compared = 0, mixed = 0;
    for (std::uint64_t seed = 1; seed <= 120; ++seed) {
        test::RandomMachine random(seed);
        const std::string device = random.device(), trace = random.trace();
        INFO("seed " << seed << "\n" << device << trace);
        const Graph graph = build_trace(config::parse_yaml(trace, "random_trace.yaml"), {});
        const bool small = total_macs(graph).value() < 50'000;
        SystolicSpec spec = read(device, small ? EngineKind::Grid : EngineKind::Tile);
        const LayerDataflows dataflows = seed > 60 ? random_dataflows(graph, seed) : LayerDataflows();
        if (seed > 60) spec.mxu.choose_dataflow = true, spec.mxu.weight_source = Space::Scratchpad;
        Protocol protocol = seed % 2 == 0 ? Protocol::of_run() : Protocol::of_op();
        Program program;
        try {
            const LayerDataflows* const own = dataflows.empty() ? nullptr : &dataflows;
            program = lower(graph, spec, protocol, {.dataflows = own}).program;
        } catch (const UserError&) {
            continue;  // what it cannot map is another test's matter
        }
        const RunOptions options{protocol};
        Answer alone;
        {
            const FreshKernel kernel;
            Machine machine("m", spec, program, options);
            alone = run(machine, spec, protocol);
        }
        const std::int64_t cycles = alone.cycles.value();
        const Cycles first(seed % 3 == 0 ? cycles / 3 : 0);
        const Cycles end = std::min(alone.cycles, first + Cycles(small || seed % 4 == 0 ? 500 : cycles));
        const FreshKernel kernel;
        Machine machine("m", spec, program, options);
        test::Seen seen;
        const std::vector<std::string> units{"m.*.queue", "m.sequencer.*", "m.clock", "m.vector.*",
                                             "m.mxu?.*s", "m.dram.*",      "m.load.*"};
        const bool dram = machine.memory.dram().channels() > 0;
        WaveRecorder recorder(
            SignalFilter(small ? std::vector<std::string>{}
                               : std::vector<std::string>(units.begin(), units.end() - (dram ? 0 : 2))),
            {machine.clock, first, end}, seen);
        WaveProbe probe(machine, spec, recorder);
        probe.record(recorder);
        CHECK(run(machine, spec, protocol).json == alone.json);
        check_times(seen, machine.clock);
        if (dram && first == Cycles(0) && end == alone.cycles) check_bus(seen, machine.memory.dram());
        ++compared, mixed += program.mixes_dataflows() ? 1 : 0;
    }
    CHECK(compared >= 110);
    CHECK(mixed >= 8);
}

}  // namespace systole::systolic
