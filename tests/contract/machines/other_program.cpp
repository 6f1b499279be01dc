// SPDX-License-Identifier: Apache-2.0
// A machine that goes on with another program, fewer or more steps of the one that it runs, held to one that
// had it from the start.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <deque>
#include <random>

#include "models/devices/systolic/lowering/lower.h"
#include "models/devices/systolic/machine/machine.h"
#include "models/devices/systolic/machine/results.h"
#include "models/devices/systolic/program/program_reader.h"
#include "models/devices/systolic/program/repeated_steps.h"
#include "models/devices/systolic/program/shorter_program.h"
#include "sim/base/error.h"
#include "sim/kernel/kernel.h"
#include "sim/workload/shorter_graph.h"
#include "sim/workload/trace.h"
#include "tests/support/device_text.h"
#include "tests/support/machines.h"
#include "tests/support/random_machine.h"
#include "tests/support/seeds.h"

namespace systole::systolic {
namespace {

constexpr std::size_t kLeastSteps = 8;

/// A long product, with a short one before and behind it.
Graph long_product(std::mt19937_64& random) {
    const auto pick = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    const std::string text = fmt::format(
        "trace: long\ninputs:\n  x: {{shape: [{}, {}], dtype: int8}}\nlayers:\n"
        "  - {{name: first, op: matmul, n: {}}}\n  - {{name: out, op: matmul, n: {}}}\noutputs: [out]\n",
        pick(200, 2000), pick(8, 96), pick(8, 300), pick(8, 40));
    return build_trace(config::parse_yaml(text, "long.yaml"), {});
}

/// So many steps of each block, the first `marked` of them marked.
struct Steps {
    std::vector<std::size_t> turns, marks;
};

class Runs {
public:
    Runs(const Program& program, const SystolicSpec& spec, const Protocol& protocol)
        : program_(program),
          spec_(spec),
          options_{protocol},
          blocks_(find_repeated_steps(program, kLeastSteps)) {}

    const std::vector<RepeatedSteps>& blocks() const { return blocks_; }
    Program with(const std::vector<std::size_t>& turns) const { return shorten(program_, blocks_, turns); }
    /// Layers after the first `marked` steps of the first block.
    std::vector<std::size_t> marks(std::size_t marked) const {
        const Parts parts = parts_of(program_, blocks_);
        std::vector<std::size_t> marks;
        for (std::size_t step = 1; step <= marked; ++step) marks.push_back(parts.first_of_block[0] + step);
        return marks;
    }
    MarkedRun run(const Program& program, const std::vector<std::size_t>& marks) const {
        const FreshKernel kernel;
        Machine machine("random", spec_, program, options_);
        machine.mark_after(marks);
        machine.run();
        return marked_run(machine, spec_, options_.protocol, marks);
    }

    /// Begins with `steps` of the first block, and at marks that `random` says goes on with others: as many
    /// as it ends with.
    MarkedRun wander(Steps& steps, std::mt19937_64& random, int& changes) const {
        std::deque<Program> programs{with(steps.turns)};
        const FreshKernel kernel;
        Machine machine("random", spec_, programs.back(), options_);
        machine.mark_after(steps.marks, [&](const std::vector<Mark>& met, std::size_t issued) {
            std::optional<Machine::Other> other;
            const RepeatedSteps& block = blocks_[0];
            const std::size_t begun =
                (issued - std::min(block.first, issued) + block.commands - 1) / block.commands;
            const std::size_t least = std::max(met.size(), begun) + kLastTurns;
            if (random() % 2 == 0 || least > steps.turns[0] || least > block.steps) return other;
            steps.turns[0] = least + random() % std::min<std::size_t>(block.steps - least + 1, 12);
            const std::size_t most = steps.turns[0] - kLastTurns;
            steps.marks = marks(met.size() + random() % (most - met.size() + 1));
            ++changes;
            programs.push_back(with(steps.turns));
            return other = {&programs.back(), steps.marks};
        });
        machine.run();
        return marked_run(machine, spec_, options_.protocol, steps.marks);
    }

private:
    const Program& program_;
    const SystolicSpec& spec_;
    const RunOptions options_;
    const std::vector<RepeatedSteps> blocks_;
};

void check_equal(const MarkedRun& one, const MarkedRun& two) {
    const DeviceResult &went_on = one.checked.result, &outright = two.checked.result;
    REQUIRE(went_on.layers.size() == outright.layers.size());
    for (std::size_t i = 0; i < outright.layers.size(); ++i) {
        const ResultRow &row = went_on.layers[i], &other = outright.layers[i];
        INFO("part " << i << ", " << other.name);
        REQUIRE(row.end == other.end);
        CHECK(row.slots == other.slots);
        CHECK(row.matrix_macs == other.matrix_macs);
        CHECK(row.dram_read == other.dram_read);
        CHECK(row.dram_written == other.dram_written);
        CHECK(row.bound_by == other.bound_by);
    }
    REQUIRE(went_on.stats.size() == outright.stats.size());
    for (std::size_t i = 0; i < outright.stats.size(); ++i) {
        INFO(outright.stats[i].path << " " << outright.stats[i].name);
        CHECK(went_on.stats[i].value == outright.stats[i].value);
    }
    REQUIRE(one.marks.size() == two.marks.size());
    for (std::size_t i = 0; i < two.marks.size(); ++i) {
        INFO("mark " << i);
        CHECK(one.marks[i].time == two.marks[i].time);
        CHECK(one.marks[i].layers == two.marks[i].layers);
        CHECK(one.marks[i].counts == two.marks[i].counts);
    }
}

}  // namespace

TEST_CASE("a machine that goes on with other steps does all that one does which had them from the start",
          "[machines]") {
    int changes = 0;
    for (std::uint64_t seed = 1; seed <= test::enough(150); ++seed) {
        test::RandomMachine machine(seed);
        std::mt19937_64 random(seed);
        const std::string text = machine.device();
        INFO("seed " << seed << "\n" << text);
        std::optional<SystolicSpec> spec;
        std::optional<Program> program;
        const Protocol protocol;
        try {
            // Cores whose parts of a step lie behind each other issue different parts of the program at once.
            spec = test::spec_of(text, {{"core.count", seed % 3 == 0 ? "2" : "1"}});
            if (spec->mxu.engine == EngineKind::Grid) continue;
            program = lower(long_product(random), *spec, protocol).program;
        } catch (const UserError&) {
            continue;  // no int8, or too small
        }
        const Runs runs(*program, *spec, protocol);
        if (runs.blocks().empty()) continue;
        Steps steps;
        for (const RepeatedSteps& block : runs.blocks()) steps.turns.push_back(block.steps);
        steps.turns[0] = 3 + random() % (runs.blocks()[0].steps - 2);
        steps.marks = runs.marks(steps.turns[0] - kLastTurns);
        const MarkedRun went_on = runs.wander(steps, random, changes);
        check_equal(went_on, runs.run(runs.with(steps.turns), steps.marks));
    }
    CHECK(changes > 30);
}

TEST_CASE("layers that end at one time are marked no more than the program that goes on wants",
          "[machines]") {
    const SystolicSpec spec = test::small_machine(4, 4);
    std::string text = "systole-program 2\ntrace \"t\" compulsory_dram=0\narray dataflow=ws\n";
    for (const char* layer : {"a", "b", "c"})
        text +=
            fmt::format("layer \"{}\" op=concat macs=0 compulsory_dram=0 dtype=int8 mapping=\"\"\n", layer);
    text +=
        "load layer=0 from=dram:4096 to=scratchpad:0 rows=1 row_bytes=16 operand=activations\n"
        "host_in layer=1 from=host:0 to=dram:8192 rows=1 row_bytes=16 operand=activations\n"
        "load layer=2 from=dram:8192 to=scratchpad:64 rows=1 row_bytes=16 operand=activations "
        "after=host_in:1\n";
    const Program program = parse_program(text, "p.txt", spec);
    RunRecord record(program, unit_numbers(1, spec.mxu.count), false);
    int told = 0;
    record.watch_layers({1, 2, 3}, [&told](Ticks) { ++told; });
    const auto complete = [&record, &program](std::size_t number) {
        const auto done = record.log().add(Ticks(1000), CausalLog::kNone, SlotClass::Memory,
                                           static_cast<std::uint32_t>(number));
        record.complete(program.commands[number], done);
    };
    complete(1);
    CHECK(told == 0);  // the first layer has not ended
    complete(0);
    CHECK(told == 2);
    CHECK(record.go_on_with(program, 2, {1, 3}) == 1);  // the second was told, and is not wanted
    complete(2);
    CHECK(told == 3);
    CHECK(record.finished());
}

}  // namespace systole::systolic
