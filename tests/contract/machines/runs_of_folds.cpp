// SPDX-License-Identifier: Apache-2.0
// A run of folds is one command for many: written either way, the same program takes the same cycles, for the
// same reasons, and moves the same bytes. Only how many commands were issued may differ.
#include <catch2/catch.hpp>

#include <random>

#include "models/devices/systolic/lowering/lower.h"
#include "models/devices/systolic/machine/results.h"
#include "sim/kernel/kernel.h"
#include "sim/workload/trace.h"
#include "tests/support/device_text.h"
#include "tests/support/random_machine.h"

namespace systole::systolic {
namespace {

using test::spec_of;

DeviceResult run(const Program& program, const SystolicSpec& spec) {
    const FreshKernel kernel;
    const Protocol protocol = Protocol::of_op();
    Machine machine("random", spec, program, {protocol});
    machine.run();
    REQUIRE(!machine.value_fault);
    return result_of(machine, spec, protocol);
}

std::int64_t longest_run(const Program& program) {
    std::int64_t longest = 0;
    for (const MatrixPass& pass : program.passes) longest = std::max<std::int64_t>(longest, pass.folds);
    return longest;
}

void check_same(const ResultRow& a, const ResultRow& b) {
    INFO("layer '" << a.name << "'");
    CHECK(a.begin == b.begin);
    CHECK(a.end == b.end);
    CHECK(a.cycles == b.cycles);
    CHECK(a.slots == b.slots);
    CHECK(a.bound_by == b.bound_by);
    REQUIRE(a.movements.size() == b.movements.size());
    for (std::size_t i = 0; i < a.movements.size(); ++i) {
        CHECK(a.movements[i].from == b.movements[i].from);
        CHECK(a.movements[i].to == b.movements[i].to);
        CHECK(a.movements[i].operand == b.movements[i].operand);
        CHECK(a.movements[i].bytes == b.movements[i].bytes);
    }
}

void check_same(const DeviceResult& a, const DeviceResult& b) {
    check_same(a.total, b.total);
    REQUIRE(a.layers.size() == b.layers.size());
    for (std::size_t i = 0; i < a.layers.size(); ++i) check_same(a.layers[i], b.layers[i]);
    REQUIRE(a.critical_path.size() == b.critical_path.size());
    for (std::size_t i = 0; i < a.critical_path.size(); ++i) {
        CHECK(a.critical_path[i].owner == b.critical_path[i].owner);
        CHECK(a.critical_path[i].time == b.critical_path[i].time);
    }
    REQUIRE(a.stats.size() == b.stats.size());
    for (std::size_t i = 0; i < a.stats.size(); ++i) {
        INFO(a.stats[i].path << " " << a.stats[i].name);
        REQUIRE(a.stats[i].path == b.stats[i].path);
        REQUIRE(a.stats[i].name == b.stats[i].name);
        CHECK((a.stats[i].value == b.stats[i].value || a.stats[i].name == "issued"));
    }
}

/// A graph lowered for a machine, or why it cannot be.
struct Outcome {
    std::optional<Program> program;
    std::string refused;
};

Outcome lowered(const Graph& graph, const SystolicSpec& spec, bool runs) {
    try {
        return {lower(graph, spec, Protocol::of_op(), {.runs_of_folds = runs}).program, ""};
    } catch (const UserError& error) {
        return {std::nullopt, error.what()};
    }
}

}  // namespace

TEST_CASE("runs of folds change neither cycles nor classes nor bytes", "[machines]") {
    int ran = 0;
    std::int64_t longest = 0;
    for (std::uint64_t seed = 1; seed <= 250; ++seed) {
        test::RandomMachine random(seed);
        const std::string device = random.device(), trace = random.trace();
        // A run takes one place in the queue and is issued once, so both must cost nothing. Every third
        // queue is bounded: no runs then.
        const bool bounded = seed % 3 == 0;
        const test::Settings settings{
            {"mxu.dataflow", seed % 2 ? "ws" : "is"},
            {"mxu.weight_fifo_tiles", "0"},
            {"mxu.weight_source", "scratchpad"},
            {"sequencer.issue_cycles", "0"},
            {"sequencer.queue_depth", std::to_string(bounded ? 1 + seed % 16 : kUnboundedQueue)}};
        INFO("seed " << seed << "\n" << device << trace);
        const SystolicSpec spec = spec_of(device, settings);
        const Graph graph = build_trace(config::parse_yaml(trace, "random_trace.yaml"), {});
        const Outcome runs = lowered(graph, spec, true), singly = lowered(graph, spec, false);
        REQUIRE(runs.refused == singly.refused);
        if (!runs.program) continue;  // activations that do not fit on chip
        REQUIRE(longest_run(*singly.program) <= 1);
        if (bounded) REQUIRE(longest_run(*runs.program) <= 1);
        longest = std::max(longest, longest_run(*runs.program));
        ran += longest_run(*runs.program) > 1;
        const DeviceResult ahead = run(*runs.program, spec);
        check_same(ahead, run(*singly.program, spec));
        if (ahead.total.macs.value() > 300'000) continue;
        SystolicSpec witnessed = spec;  // the PE grid starts folds one by one
        witnessed.mxu.engine = EngineKind::Grid;
        check_same(ahead, run(*runs.program, witnessed));
    }
    CHECK(ran >= 60);
    CHECK(longest >= 8);
}

}  // namespace systole::systolic
