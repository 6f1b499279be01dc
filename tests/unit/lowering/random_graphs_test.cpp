// SPDX-License-Identifier: Apache-2.0
// Random chains of layers on random machines: whatever the mapper decides, every product is computed once, in
// bounds, in order, and nothing stands still.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "models/devices/systolic/lowering/placement.h"
#include "sim/workload/fused_graph.h"
#include "sim/workload/sliced_graph.h"
#include "tests/support/seeds.h"
#include "tests/unit/lowering/fixtures.h"
#include "tests/unit/lowering/random_layers.h"
#include "tests/unit/lowering/replay.h"

namespace systole::systolic {
namespace {

using test::Dice;
using test::Map;
using test::random_machine;

/// A feature map through two to four layers of any kind.
Graph random_graph(Dice& dice) {
    test::GraphOf g;
    std::int64_t batch = dice.pick(1, 3), h = dice.pick(3, 9), w = dice.pick(3, 9), c = dice.pick(1, 9);
    TensorId at = g.input({batch, h, w, c}, dice.coin() ? DType::Int8 : DType::Bf16);
    for (std::int64_t layers = dice.pick(2, 4); layers > 0; --layers) {
        switch (dice.pick(0, 4)) {
            case 0: {
                const std::int64_t n = dice.pick(1, 13);
                at = g.matmul(at, batch * h * w, n, c, dice.coin());
                c = n;
                break;
            }
            case 1: {
                const Elementwise add{Elementwise::Kind::Add, batch * h * w * c, Function::Relu};
                at = g.vector({at, at}, add, {batch, h, w, c});
                break;
            }
            case 2: {
                at = g.vector({at}, Transpose{{batch, h, w, c}, {0, 2, 1, 3}}, {batch, w, h, c});
                std::swap(h, w);
                break;
            }
            default: {
                Conv2d op;
                op.batch = batch;
                op.in_h = h;
                op.in_w = w;
                op.in_c = c;
                op.groups = c % 2 == 0 && dice.coin() ? 2 : 1;
                op.out_c = op.groups * dice.pick(1, 7);
                op.kernel_h = std::min(h, 2 * dice.pick(0, 1) + 1);
                op.kernel_w = std::min(w, 2 * dice.pick(0, 1) + 1);
                op.pad = op.kernel_h == 3 && op.kernel_w == 3 ? dice.pick(0, 1) : 0;
                op.stride = dice.pick(1, 2);
                op.bias = dice.coin();
                at = g.conv(at, op);
                h = op.out_h();
                w = op.out_w();
                c = op.out_c;
            }
        }
    }
    return g.finish(at);
}

/// A feature map through two to four matrix products, each of which elementwise work may join: with a tensor
/// from outside, with the map before it, or with the result of another product.
Graph random_joined_graph(Dice& dice) {
    test::GraphOf g;
    const std::int64_t batch = dice.pick(1, 3), h = dice.pick(2, 7), w = dice.pick(2, 7);
    std::int64_t c = dice.pick(1, 9);
    const DType dtype = dice.coin() ? DType::Int8 : DType::Bf16;
    TensorId at = g.input({batch, h, w, c}, dtype);
    const auto product = [&](TensorId in, std::int64_t out) {
        Conv2d op{batch, h, w, c, out};
        op.groups = c % 2 == 0 && out % 2 == 0 && dice.coin() ? 2 : 1;
        op.kernel_h = op.kernel_w = dice.coin() ? 3 : 1;
        op.pad = op.kernel_h / 2;
        op.bias = dice.coin();
        return g.conv(in, op);
    };
    for (std::int64_t layers = dice.pick(2, 4); layers > 0; --layers) {
        const TensorId before = at;
        const std::int64_t out = dice.coin() ? c : dice.pick(1, 9);
        const Shape shape{batch, h, w, out};
        TensorId other = out == c ? before : g.input(shape, dtype);
        if (dice.pick(0, 2) == 0) other = product(before, out);
        at = product(before, out);
        const Elementwise work{Elementwise::Kind::Add, batch * h * w * out,
                               dice.coin() ? Function::Relu : Function::None};
        if (dice.pick(0, 3) > 0)
            at = g.vector(dice.coin() ? std::vector{at, other} : std::vector{other, at}, work, shape);
        c = out;
    }
    Graph graph = g.finish(at);
    return fuse(graph, possible_fusions(graph));
}

/// Two or three cores, and activations that stay in their scratchpads where that can be.
SystolicSpec random_chip(Dice& dice) {
    SystolicSpec spec = random_machine(dice);
    spec.cores = static_cast<int>(dice.pick(2, 3));
    spec.mxu.count = std::min(spec.mxu.count, 3);
    if (spec.placement.activations == Space::Scratchpad) spec.placement.choose = true;
    spec.placement.activations = Space::Dram;
    return spec;
}

/// For each layer one, on a machine whose arrays take each.
LayerDataflows random_dataflows(const Graph& graph, Dice& dice) {
    LayerDataflows dataflows;
    for (const Layer& layer : graph.layers)
        dataflows.emplace(whole_name(layer), static_cast<Dataflow>(dice.pick(0, 2)));
    return dataflows;
}

void keep_promises_mixed(Graph random(Dice&), SystolicSpec machine(Dice&), std::uint64_t seeds) {
    int mixed = 0;
    for (std::uint64_t seed = 5001; seed < 5001 + systole::test::enough(seeds); ++seed) {
        INFO("seed " << seed);
        Dice dice(seed);
        SystolicSpec spec = machine(dice);
        spec.mxu.choose_dataflow = true;
        spec.mxu.weight_source = Space::Scratchpad;
        const Graph graph = random(dice);
        const LayerDataflows dataflows = random_dataflows(graph, dice);
        const Protocol protocol = dice.coin() ? Protocol::of_run() : Protocol::of_op();
        const Lowered lowered = lower(graph, spec, protocol, {.dataflows = &dataflows, .cores = spec.cores});
        mixed += lowered.program.mixes_dataflows() ? 1 : 0;
        for (std::size_t i = 0; i < graph.layers.size(); ++i)
            if (uses_arrays(graph.layers[i].op))
                REQUIRE(lowered.program.layers[i].dataflow.value_or(lowered.program.dataflow) ==
                        dataflows.at(whole_name(graph.layers[i])));
        test::Replay replay(graph, spec, lowered);
        REQUIRE(replay.run() == std::vector<std::string>{});
        REQUIRE(replay.completes_with_shallow_queues());
    }
    CHECK(mixed > static_cast<int>(systole::test::enough(seeds / 3)));
}

/// So many of them, each on a machine of its own.
void keep_promises(Graph random(Dice&), SystolicSpec machine(Dice&) = random_machine,
                   std::uint64_t seeds = 450) {
    for (std::uint64_t seed = 1; seed <= systole::test::enough(seeds); ++seed) {
        INFO("seed " << seed);
        Dice dice(seed);
        SystolicSpec spec = machine(dice);
        // Narrow columns of outputs wait for others: at the width of a packet, and of one that maps here
        // reach.
        if (seed % 2 == 0) spec.host.kind = HostLinkSpec::Kind::Pcie;
        if (seed % 4 == 0) spec.host.pcie.max_payload = Bytes(8);
        const Graph graph = random(dice);
        const Protocol protocol = dice.coin() ? Protocol::of_run() : Protocol::of_op();
        const Lowered lowered = lower(graph, spec, protocol, {.cores = spec.cores});
        test::Replay replay(graph, spec, lowered);
        REQUIRE(replay.run() == std::vector<std::string>{});
        REQUIRE(replay.completes_with_shallow_queues());
    }
}

TEST_CASE("Random layers on random machines keep every promise") {
    keep_promises(random_graph);
}

/// A feature map through layers of the vector unit and the DMA, now and then through an array.
Graph random_vector_graph(Dice& dice) {
    test::GraphOf g;
    Map map{0, dice.pick(1, 2), dice.pick(1, 6), dice.pick(1, 6), dice.pick(1, 9)};
    map.at = g.input(map.shape(), dice.coin() ? DType::Int8 : DType::Bf16);
    for (std::int64_t layers = dice.pick(2, 5); layers > 0; --layers) {
        if (dice.pick(0, 3) > 0) {
            map = random_vector_layer(g, map, dice);
            continue;
        }
        const std::int64_t n = dice.pick(1, 9);
        map.at = g.matmul(map.at, map.batch * map.h * map.w, n, map.c);
        map.c = n;
    }
    return g.finish(map.at);
}

TEST_CASE("Random matrix products that elementwise work joins keep every promise") {
    keep_promises(random_joined_graph);
}

TEST_CASE("Random layers of the vector unit keep every promise") {
    keep_promises(random_vector_graph);
}

/// With some of its layers run part by part of the batch.
Graph sliced_somewhere(const Graph& whole, Dice& dice) {
    std::vector<SlicedRun> runs;
    for (std::size_t i = 0; i < whole.layers.size();) {
        const std::optional<std::int64_t> batch = batch_of(whole, whole.layers[i]);
        SlicedRun run{i, 1, batch.value_or(1)};
        while (batch && i + run.layers < whole.layers.size() &&
               batch_of(whole, whole.layers[i + run.layers]) == batch && dice.pick(0, 3) > 0)
            ++run.layers;
        i += run.layers;
        if (batch && dice.pick(0, 3) > 0) runs.push_back(run);
    }
    return slice_batch(whole, runs);
}

Graph random_sliced_graph(Dice& dice) {
    return sliced_somewhere(dice.coin() ? random_joined_graph(dice) : random_vector_graph(dice), dice);
}

TEST_CASE("Random layers that run part by part of the batch keep every promise") {
    keep_promises(random_sliced_graph);
}

TEST_CASE("Random layers with dataflows of their own keep every promise") {
    keep_promises_mixed(random_graph, random_machine, 450);
    keep_promises_mixed(random_joined_graph, random_machine, 300);
    keep_promises_mixed(random_sliced_graph, random_machine, 300);
    keep_promises_mixed(random_graph, random_chip, 200);
}

TEST_CASE("All parts of a tensor lie in the same memory, where there is room for some only") {
    int resident = 0;
    for (std::uint64_t seed = 1; seed <= systole::test::enough(400); ++seed) {
        INFO("seed " << seed);
        Dice dice(seed);
        SystolicSpec spec = test::small_machine(2);
        spec.placement.choose = true;
        spec.placement.activation_bytes = Bytes(64 * dice.pick(1, 20));
        const Graph graph = random_sliced_graph(dice);
        const std::vector<Placement> placements =
            place_tensors(graph, DataflowSpecs(graph, spec), {}, nullptr, 1);
        std::map<std::string, Space> spaces;
        for (TensorId id = 0; id < placements.size(); ++id) {
            const Tensor& tensor = graph.tensors[id];
            if (!tensor.slice || tensor.view_of) continue;
            const Space space = placements[id].space;
            CHECK(spaces.emplace(whole_name(tensor), space).first->second == space);
            resident += space == Space::Scratchpad ? 1 : 0;
        }
    }
    CHECK(resident > static_cast<int>(systole::test::enough(100)));
}

TEST_CASE("Parts of a layer have to move what the layer has to, where all activations live in DRAM") {
    const auto by_layer = [](const Graph& graph) {
        std::map<std::string, std::int64_t> bytes;
        const Lowered lowered = lower(graph, test::small_machine(2), Protocol::of_op());
        for (std::size_t i = 0; i < graph.layers.size(); ++i)
            bytes[whole_name(graph.layers[i])] += lowered.program.layers[i].compulsory_dram;
        return bytes;
    };
    for (std::uint64_t seed = 1; seed <= systole::test::enough(200); ++seed) {
        INFO("seed " << seed);
        Dice dice(seed);
        const Graph whole = random_joined_graph(dice);
        CHECK(by_layer(sliced_somewhere(whole, dice)) == by_layer(whole));
    }
}

TEST_CASE("Random layers on random chips of several cores keep every promise") {
    keep_promises(random_graph, random_chip, 300);
    keep_promises(random_joined_graph, random_chip, 300);
    keep_promises(random_vector_graph, random_chip, 300);
    keep_promises(random_sliced_graph, random_chip, 300);
}

TEST_CASE("The same graph gives the same program") {
    Dice dice(77);
    const SystolicSpec spec = random_machine(dice);
    const Graph graph = random_graph(dice);
    const Program a = lower(graph, spec, Protocol::of_run()).program;
    const Program b = lower(graph, spec, Protocol::of_run()).program;
    CHECK(to_text(a) == to_text(b));
}

}  // namespace
}  // namespace systole::systolic
