// SPDX-License-Identifier: Apache-2.0
// A chip that goes on with another plan, held to one that had it from the start.
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "models/devices/simt/kernels/plan.h"
#include "models/devices/simt/machine/chip.h"
#include "models/devices/simt/machine/results.h"
#include "sim/kernel/kernel.h"
#include "sim/workload/shorter_graph.h"
#include "tests/unit/simt/gpu_config.h"
#include "tests/unit/workload/graphs.h"

namespace systole::test {
namespace {

using simt::Chip;
using simt::ChipPlan;

Graph blocks(int turns) {
    return graph_of(
        "trace: t\ninputs: {x: {shape: [64, 512], dtype: bf16}}\nlayers:\n"
        "  - name: block\n    repeat: " +
        std::to_string(turns) +
        "\n    layers:\n"
        "      - {name: up, op: matmul, n: 2048}\n"
        "      - {name: norm, op: norm, kind: rms}\n"
        "      - {name: down, op: matmul, n: 512}\n"
        "  - {name: out, op: matmul, n: 128}\noutputs: [out]\n");
}

/// So many turns of a network, at the addresses that they have in all of it.
ChipPlan plan_of(std::size_t turns, const Graph& whole, const simt::SimtSpec& spec,
                 const Protocol& protocol) {
    const simt::PlacedTensors placed = simt::place_tensors(whole, spec);
    const ShorterGraph shorter = shorten(whole, {turns});
    simt::PlacedTensors of_those{{}, placed.end};
    for (const TensorId tensor : shorter.whole) of_those.placements.push_back(placed.placements[tensor]);
    simt::KernelChooser chooser(spec);
    return simt::plan_at(of_those, shorter.graph, spec, protocol, chooser);
}

/// On a machine of its own; `other`: with which, and with whose marks, it goes on `when` so many are met.
MarkedRun run(const simt::SimtSpec& spec, const ChipPlan& plan, const std::vector<std::size_t>& marks,
              const ChipPlan* other = nullptr, std::size_t when = 0,
              const std::vector<std::size_t>& marks_of_other = {}) {
    RunOptions options;
    options.protocol.inputs_at = options.protocol.outputs_to = Protocol::Where::Host;
    const FreshKernel kernel;
    Chip chip("chip", spec, plan, options);
    std::vector<std::size_t> met = marks;
    chip.mark_after(marks, [&](const std::vector<Mark>& so_far) -> std::optional<Chip::Other> {
        if (other == nullptr || so_far.size() != when) return std::nullopt;
        met = marks_of_other;
        return Chip::Other{other, met};
    });
    chip.run();
    return marked_run(chip, spec, other != nullptr ? *other : plan, options.protocol, met);
}

void check_same(const MarkedRun& went_on, const MarkedRun& outright) {
    REQUIRE(went_on.checked.result.layers.size() == outright.checked.result.layers.size());
    for (std::size_t i = 0; i < outright.checked.result.layers.size(); ++i) {
        const ResultRow &one = went_on.checked.result.layers[i], &two = outright.checked.result.layers[i];
        CAPTURE(one.name);
        CHECK(one.name == two.name);
        CHECK(one.end == two.end);
        CHECK(one.slots == two.slots);
        CHECK(one.dram_read == two.dram_read);
        CHECK(one.dram_written == two.dram_written);
    }
    REQUIRE(went_on.marks.size() == outright.marks.size());
    for (std::size_t i = 0; i < went_on.marks.size(); ++i)
        CHECK(went_on.marks[i].time == outright.marks[i].time);
    const auto& stats = went_on.checked.result.stats;
    REQUIRE(stats.size() == outright.checked.result.stats.size());
    for (std::size_t i = 0; i < stats.size(); ++i) {
        CAPTURE(stats[i].path, stats[i].name);
        CHECK(stats[i].value == outright.checked.result.stats[i].value);
    }
}

}  // namespace

TEST_CASE("a chip that goes on with another plan does all that one does which had it from the start",
          "[other_plan]") {
    const simt::SimtSpec spec = shipped_gpu("l4");
    Protocol protocol;
    protocol.inputs_at = protocol.outputs_to = Protocol::Where::Host;
    const Graph whole = simt::fused_network(blocks(16), spec);
    const ChipPlan long_one = plan_of(9, whole, spec, protocol),
                   short_one = plan_of(5, whole, spec, protocol);
    const std::size_t turn = (long_one.layers.size() - short_one.layers.size()) / 4;
    const std::vector<std::size_t> three{turn, 2 * turn, 3 * turn};
    std::vector<std::size_t> more = three;
    for (std::size_t turns = 4; turns <= 6; ++turns) more.push_back(turns * turn);
    SECTION("a shorter one") {
        check_same(run(spec, long_one, more, &short_one, 3, three), run(spec, short_one, three));
    }
    SECTION("a longer one, with more marks") {
        check_same(run(spec, short_one, three, &long_one, 3, more), run(spec, long_one, more));
    }
}

}  // namespace systole::test
