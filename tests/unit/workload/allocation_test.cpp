// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/allocation.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "graphs.h"

using namespace systole;
using namespace systole::test;
using Catch::Contains;

namespace {

constexpr Bytes kPlenty(std::int64_t{1} << 40);

AllocationRules rules_of(Space activations, std::int64_t alignment, std::int64_t tile) {
    return {activations, kPlenty, kPlenty, Bytes(alignment), Bytes(alignment), tile, tile};
}

std::size_t id_of(const Graph& graph, const std::string& name) {
    return static_cast<std::size_t>(&tensor(graph, name) - graph.tensors.data());
}

/// Whether the bytes of tensor `id` must be intact while layer `at` runs: by looking at every layer.
bool alive(const Graph& graph, TensorId id, std::size_t at) {
    const auto root = [&](TensorId any) { return graph.tensors[any].view_of.value_or(any); };
    if (graph.tensors[id].role == TensorRole::Weights) return true;
    bool written = graph.tensors[id].role == TensorRole::Input;
    for (std::size_t i = 0; i <= at; ++i) written = written || graph.layers[i].output == id;
    bool wanted = graph.layers[at].output == id;
    for (std::size_t i = at; i < graph.layers.size(); ++i)
        for (const TensorId input : graph.layers[i].inputs) wanted = wanted || root(input) == id;
    for (const TensorId output : graph.outputs) wanted = wanted || root(output) == id;
    return written && wanted;
}

bool overlap(const Placement& a, const Placement& b) {
    return a.space == b.space && a.address < b.address + b.bytes.value() &&
           b.address < a.address + a.bytes.value();
}

/// A random net of matmuls, additions and reshapes on [rows, width]; every layer's result is an output or
/// read.
Graph random_graph(std::mt19937_64& random) {
    const auto below = [&](std::size_t n) { return random() % n; };
    const std::string dtype = below(2) ? "int8" : "bf16";
    std::string layers;
    std::vector<std::string> names = {"x"};
    const std::size_t count = 2 + below(20);
    for (std::size_t i = 0; i < count; ++i) {
        const std::string& one = names[below(names.size())];
        const std::string& other = names[below(names.size())];
        // Shapes come back to [5, 24], so that any two results can be added.
        if (below(3) == 0) {
            layers += fmt::format("  - {{name: l{}w, op: matmul, in: {}, n: {}}}\n", i, one, 1 + below(99));
            layers += fmt::format("  - {{name: l{}, op: matmul, n: 24}}\n", i);
        } else if (below(2) == 0) {
            layers += fmt::format("  - {{name: l{}v, op: reshape, in: {}, shape: [2, 5, 12]}}\n", i, one);
            layers += fmt::format("  - {{name: l{}, op: reshape, shape: [5, 24]}}\n", i);
        } else {
            layers +=
                fmt::format("  - {{name: l{}, op: elementwise, kind: add, in: [{}, {}]}}\n", i, one, other);
        }
        names.push_back(fmt::format("l{}", i));
    }
    // Everything is read once more at the end, in random order, down to one tensor.
    std::shuffle(names.begin(), names.end(), random);
    std::string sum = names.back();
    for (std::size_t i = 0; i + 1 < names.size(); ++i) {
        const std::string next = i + 2 == names.size() ? "out" : fmt::format("s{}", i);
        layers +=
            fmt::format("  - {{name: {}, op: elementwise, kind: add, in: [{}, {}]}}\n", next, sum, names[i]);
        sum = next;
    }
    return graph_of(trace_of("[5, 24]", layers, dtype));
}

}  // namespace

TEST_CASE("no two tensors that live at the same time share a byte", "[workload]") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        std::mt19937_64 random(seed);
        const Graph graph = random_graph(random);
        const Space space = seed % 2 ? Space::Dram : Space::Scratchpad;
        const std::int64_t alignment = std::int64_t{1} << (seed % 9);
        AllocationRules rules = rules_of(space, alignment, 1 + seed % 16);
        if (seed % 4 == 1) {
            rules.resident_where_it_pays = true;
            rules.scratchpad_capacity = Bytes(64 << seed % 7);
        }
        const std::vector<Placement> placed = allocate(graph, rules);
        INFO("seed " << seed);
        REQUIRE(placed.size() == graph.tensors.size());
        for (TensorId a = 0; a < placed.size(); ++a) {
            if (graph.tensors[a].view_of) {
                REQUIRE(placed[a].address == placed[*graph.tensors[a].view_of].address);
                continue;
            }
            REQUIRE(placed[a].address % alignment == 0);
            REQUIRE(placed[a].bytes >= stored_bytes(graph.tensors[a]));
            for (TensorId b = 0; b < a; ++b) {
                if (graph.tensors[b].view_of || !overlap(placed[a], placed[b])) continue;
                for (std::size_t layer = 0; layer < graph.layers.size(); ++layer) {
                    INFO(graph.tensors[a].name << " and " << graph.tensors[b].name << " in layer " << layer);
                    REQUIRE_FALSE((alive(graph, a, layer) && alive(graph, b, layer)));
                }
            }
        }
    }
}

TEST_CASE("what pays lives in the scratchpad, the rest in DRAM behind the weights", "[workload]") {
    const Graph graph = graph_of(trace_of("[4, 16]",
                                          "  - {name: a, op: matmul, n: 16}\n  - {name: b, op: softmax}\n"
                                          "  - {name: out, op: elementwise, kind: add, in: [a, b]}\n"));
    AllocationRules rules = rules_of(Space::Dram, 1, 16);
    rules.resident_where_it_pays = true;
    rules.scratchpad_capacity = Bytes(64 + 63);
    // a: written, read twice in three layers; x and b: twice in two; out is written and leaves at the end.
    const auto placed = allocate(graph, rules);
    CHECK(placed[id_of(graph, "a")].space == Space::Dram);
    CHECK(placed[id_of(graph, "a")].address == 16 * 16);
    CHECK(placed[id_of(graph, "x")].space == Space::Scratchpad);
    CHECK(placed[id_of(graph, "b")].space == Space::Scratchpad);
    CHECK(placed[id_of(graph, "b")].address == 0);
    CHECK(placed[id_of(graph, "out")].space == Space::Dram);

    rules.never_resident.assign(graph.tensors.size(), true);
    for (const Placement& placement : allocate(graph, rules)) CHECK(placement.space == Space::Dram);
}

TEST_CASE("an output that has to be in DRAM in the end stays on the chip for its readers only",
          "[workload]") {
    const auto placed = [](const std::string& outputs, bool in_dram, const std::string& more = "") {
        const Graph graph = graph_of(
            "trace: made\ninputs:\n  x: {shape: [4, 16], dtype: int8}\nlayers:\n"
            "  - {name: a, op: matmul, n: 16}\n  - {name: b, op: softmax}\n" +
            more + "outputs: " + outputs + "\n");
        AllocationRules rules = rules_of(Space::Dram, 1, 16);
        rules.resident_where_it_pays = true;
        rules.scratchpad_capacity = Bytes(1'000);
        rules.outputs_in_dram = in_dram;
        const auto all = allocate(graph, rules);
        return std::pair(all[id_of(graph, "a")].space, all[id_of(graph, "b")].space);
    };
    CHECK(placed("[b]", false) == std::pair(Space::Scratchpad, Space::Scratchpad));
    CHECK(placed("[b]", true) == std::pair(Space::Scratchpad, Space::Dram));
    CHECK(placed("[a, b]", true) == std::pair(Space::Scratchpad, Space::Dram));
    // Two views of one tensor are one write.
    CHECK(placed("[b, c]", true, "  - {name: c, op: reshape, shape: [16, 4]}\n") ==
          std::pair(Space::Scratchpad, Space::Dram));
}

TEST_CASE("a place is used again after its last reader", "[workload]") {
    const Graph graph = graph_of(trace_of("[4, 16]",
                                          "  - {name: a, op: softmax}\n  - {name: b, op: softmax}\n"
                                          "  - {name: out, op: softmax}\n"));
    const auto placed = allocate(graph, rules_of(Space::Scratchpad, 1, 1));
    CHECK(placed[id_of(graph, "x")].address == 0);
    CHECK(placed[id_of(graph, "a")].address == 64);
    CHECK(placed[id_of(graph, "b")].address == 0);
    CHECK(placed[id_of(graph, "out")].address == 64);
}

TEST_CASE("stored matrices are cut into padded tiles, group by group; the rest is row-major", "[workload]") {
    const Graph graph =
        graph_of(trace_of("[1, 6, 6, 6]",
                          "  - {name: c, op: conv2d, filters: 10, kernel: 3, groups: 2, bias: true}\n"
                          "  - {name: out, op: matmul, n: 9}\n"));
    AllocationRules rules = rules_of(Space::Scratchpad, 1, 8);
    rules.tile_cols = 4;
    const auto placed = allocate(graph, rules);
    // k = 3 * 3 * 3 = 27 -> 4 tiles of 8 rows, n = 5 -> 2 tiles of 4 columns, 2 groups, 32 bytes a tile
    CHECK(placed[id_of(graph, "c.weights")].bytes == Bytes(2 * 4 * 2 * 32));
    CHECK(placed[id_of(graph, "c.weights")].layout == Layout::Tiled);
    CHECK(placed[id_of(graph, "c.weights")].space == Space::Dram);
    CHECK(placed[id_of(graph, "c.bias")].layout == Layout::RowMajor);
    CHECK(placed[id_of(graph, "c.bias")].bytes == Bytes(40));
    // k = 4 * 4 * 10 = 160 -> 20 tiles, n = 9 -> 3 tiles
    CHECK(placed[id_of(graph, "out.weights")].bytes == Bytes(20 * 3 * 32));
    CHECK(placed[id_of(graph, "c")].layout == Layout::RowMajor);
    CHECK(placed[id_of(graph, "c")].space == Space::Scratchpad);
}

TEST_CASE("stored matrices lie column by column where that is asked for", "[workload]") {
    AllocationRules rules = rules_of(Space::Dram, 16, 4);
    rules.weights = Layout::ColumnMajor;
    const Graph graph = single_operator(
        "matmul", {{"m", "3"}, {"n", "5"}, {"k", "7"}, {"dtype_a", "int8"}, {"dtype_b", "int4"}}, {});
    const Placement weights = allocate(graph, rules)[id_of(graph, "matmul.weights")];
    CHECK(weights.layout == Layout::ColumnMajor);
    CHECK(weights.bytes == Bytes(5 * 4));  // seven nibbles take four bytes
}

TEST_CASE("of several layers with the same weights the first one lays them out", "[workload]") {
    Graph graph = graph_of(trace_of("[6, 10]",
                                    "  - {name: first, op: matmul, n: 7}\n"
                                    "  - {name: out, op: matmul, n: 10}\n"));
    // The way back through `first` has its weights, [10, 7], the other way round.
    Layer& back = graph.layers[1];
    std::get<MatMul>(back.op).transposed_b = true;
    back.weights = graph.layers[0].weights;
    AllocationRules rules = rules_of(Space::Dram, 1, 8);
    rules.tile_cols = 4;
    rules.layer_weights = {Layout::Tiled, Layout::ColumnMajor};
    const Placement tiled = allocate(graph, rules)[*back.weights];
    CHECK(tiled.layout == Layout::Tiled);
    CHECK(tiled.bytes == Bytes(2 * 2 * 32));  // 10 rows in tiles of 8, 7 columns in tiles of 4
    CHECK_FALSE(tiled.turned);
    rules.layer_weights = {Layout::ColumnMajor, Layout::Tiled};
    const Placement columns = allocate(graph, rules)[*back.weights];
    CHECK(columns.layout == Layout::ColumnMajor);
    CHECK(columns.bytes == Bytes(7 * 10));
    // What the first layer has as [n, k] is the same matrix, of which the tensor is the other way round.
    std::get<MatMul>(graph.layers[0].op).transposed_b = true;
    std::get<MatMul>(back.op).transposed_b = false;
    const Placement turned = allocate(graph, rules)[*back.weights];
    CHECK(turned.turned);
    CHECK(turned.bytes == columns.bytes);
}

TEST_CASE("a table that is looked up first stays row by row for a product behind it", "[workload]") {
    Graph graph = graph_of(
        "trace: t\ninputs: {x: {shape: [4], dtype: int32}}\nlayers:\n"
        "  - {name: e, op: embedding, vocabulary: 9, width: 5, dtype: int8}\n"
        "  - {name: out, op: matmul, n: 9}\noutputs: [out]\n");
    std::get<MatMul>(graph.layers[1].op).transposed_b = true;
    graph.layers[1].weights = graph.layers[0].weights;
    const Placement table = allocate(graph, rules_of(Space::Dram, 1, 4))[*graph.layers[0].weights];
    CHECK(table.layout == Layout::RowMajor);
    CHECK(table.bytes == Bytes(45));
}

TEST_CASE("phases of a transposed convolution are laid out once, however many layers have them",
          "[workload]") {
    Graph graph =
        graph_of(trace_of("[1, 4, 4, 3]",
                          "  - {name: a, op: conv_transpose, in: x, filters: 3, kernel: 2, stride: 2}\n"
                          "  - {name: b, op: conv_transpose, in: x, filters: 3, kernel: 2, stride: 2}\n"
                          "  - {name: out, op: elementwise, kind: add, in: [a, b]}\n"));
    graph.layers[1].weights = graph.layers[0].weights;
    const Placement weights = allocate(graph, rules_of(Space::Dram, 1, 4))[*graph.layers[0].weights];
    CHECK(weights.parts == std::vector<std::int64_t>{0, 16, 32, 48});  // each 3 x 3 in one tile of 4 x 4
    CHECK(weights.bytes == Bytes(64));
}

TEST_CASE("activations in DRAM follow the weights", "[workload]") {
    const Graph graph = graph_of(trace_of("[4, 16]", "  - {name: out, op: matmul, n: 16}\n"));
    const auto placed = allocate(graph, rules_of(Space::Dram, 100, 16));
    CHECK(placed[id_of(graph, "out.weights")].address == 0);
    CHECK(placed[id_of(graph, "x")].address == 300);
    CHECK(placed[id_of(graph, "out")].address == 400);
}

TEST_CASE("a space that is too small is told with a breakdown", "[workload]") {
    const Graph graph = graph_of(trace_of("[4, 16]", "  - {name: out, op: matmul, n: 16}\n"));
    AllocationRules rules = rules_of(Space::Dram, 1, 16);
    rules.dram_capacity = Bytes(383);
    CHECK_THROWS_WITH(
        allocate(graph, rules),
        Contains("the network needs 384 B of memory: 256 B weights, 128 B activations; the DRAM has "
                 "383 B"));
    rules.dram_capacity = Bytes(384);
    CHECK_NOTHROW(allocate(graph, rules));

    rules.activations = Space::Scratchpad;
    rules.dram_capacity = Bytes(255);
    rules.scratchpad_capacity = Bytes(127);
    CHECK_THROWS_WITH(allocate(graph, rules),
                      Contains("the network needs 256 B of memory: 256 B weights; the DRAM has 255 B") &&
                          Contains("'t' does not fit into the scratchpad: activations 128 B (at their peak), "
                                   "capacity 127 B; the weights, 256 B, lie in DRAM"));
}

// 16 queries on a cache of 64 rows of 16 int8 elements for keys and as many for values; nothing else stays.
TEST_CASE("a KV cache has its own share of the breakdown", "[workload]") {
    const Graph graph = single_operator(
        "attention",
        {{"q_len", "16"}, {"kv_len", "64"}, {"head_dim", "16"}, {"cache", "true"}, {"dtype", "int8"}},
        {"rows.csv", 3, 1});
    AllocationRules rules = rules_of(Space::Dram, 1, 16);
    rules.dram_capacity = Bytes(2048);
    rules.memory = "tpu's HBM2";
    CHECK_THROWS_WITH(
        allocate(graph, rules),
        Contains("rows.csv: error: the network needs 2.560 kB of memory: 0 B weights, 2.048 kB KV "
                 "cache, 512 B activations; tpu's HBM2 has 2.048 kB"));
    rules.dram_capacity = Bytes(2560);
    CHECK_NOTHROW(allocate(graph, rules));
}

// A weight of 64 B with 3 x 4 B of state each of its 32 bf16 elements, and a gradient of 64 B.
TEST_CASE("an optimizer's state has its own share of the breakdown, and stays", "[workload]") {
    Graph graph;
    graph.name = "step";
    graph.tensors = {{"g", {32}, DType::Bf16, TensorRole::Input},
                     {"w", {32}, DType::Bf16, TensorRole::Weights},
                     {"s", {3, 32}, DType::Fp32, TensorRole::OptimizerState}};
    graph.inputs = {0};
    graph.layers.emplace_back();
    graph.layers[0].name = "update";
    graph.layers[0].op = Optimizer{Optimizer::Kind::Adam, 32};
    graph.layers[0].inputs = {0};
    graph.layers[0].weights = 1;
    graph.layers[0].output = 2;
    AllocationRules rules = rules_of(Space::Scratchpad, 1, 16);
    rules.scratchpad_capacity = Bytes(64);
    rules.dram_capacity = Bytes(447);
    CHECK_THROWS_WITH(
        allocate(graph, rules),
        Contains("needs 448 B of memory: 64 B weights, 384 B optimizer state; the DRAM has 447 B"));
    rules.dram_capacity = Bytes(448);
    const auto placements = allocate(graph, rules);
    CHECK(placements[2].space == Space::Dram);
    CHECK(placements[2].address == 64);
}

TEST_CASE("tiles that pad beyond 2^63 bytes are a mistake", "[workload]") {
    const Graph graph = graph_of(trace_of("[1, 2147483647]", "  - {name: out, op: matmul, n: 1}\n"));
    AllocationRules wide = rules_of(Space::Dram, 1, 1);
    wide.tile_cols = std::int64_t{1} << 33;
    CHECK_THROWS_WITH(allocate(graph, wide), Contains("more than 2^63 bytes"));
    CHECK_NOTHROW(allocate(graph_of(trace_of("[1, 4]", "  - {name: out, op: softmax}\n")),
                           rules_of(Space::Dram, 1, 1 << 30)));
}
