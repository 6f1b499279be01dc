// SPDX-License-Identifier: Apache-2.0
// Networks without most turns of their repeated blocks.
#include "sim/workload/shorter_graph.h"

#include "graphs.h"

using namespace systole;
using namespace systole::test;

namespace {

using Names = std::vector<std::string>;

Names names_of(const Graph& graph, const std::vector<TensorId>& tensors) {
    Names names;
    for (const TensorId tensor : tensors) names.push_back(graph.tensors.at(tensor).name);
    return names;
}

/// Seven turns of a residual block, between two layers; every turn adds `last`.
std::string seven_turns(const std::string& last) {
    return trace_of("[4, 8]",
                    "  - {name: first, op: matmul, n: 8}\n"
                    "  - name: block\n"
                    "    repeat: 7\n"
                    "    layers:\n"
                    "      - {name: a, op: matmul, in: block_in, n: 8, bias: true}\n"
                    "      - {name: folded, op: reshape, shape: [8, 4]}\n"
                    "      - {name: b, op: reshape, shape: [4, 8]}\n"
                    "      - {name: sum, op: elementwise, kind: add, in: [b, " +
                        last +
                        "]}\n"
                        "  - {name: out, op: elementwise, kind: add, in: [block, first]}\n");
}

}  // namespace

TEST_CASE("a graph knows its repeated blocks", "[workload]") {
    const Graph graph = graph_of(seven_turns("block_in"));
    REQUIRE(graph.blocks.size() == 1);
    const RepeatedBlock& block = graph.blocks.front();
    CHECK(block.name == "block");
    CHECK(block.turns == 7);
    CHECK(block.first_layer == 1);
    CHECK(block.layers == 2);   // a and sum; reshapes are views
    CHECK(block.tensors == 6);  // weights, bias, a, folded, b, sum
    CHECK(graph.tensors[block.first_tensor].name == "block.0.a.weights");
    CHECK(turns_alike(graph, block));
}

TEST_CASE("a block inside another is part of its turns", "[workload]") {
    const Graph graph = graph_of(trace_of("[4, 8]",
                                          "  - name: outer\n"
                                          "    repeat: 3\n"
                                          "    layers:\n"
                                          "      - name: inner\n"
                                          "        repeat: 4\n"
                                          "        layers: [{name: a, op: matmul, n: 8}]\n"
                                          "  - {name: out, op: matmul, n: 2}\n"));
    REQUIRE(graph.blocks.size() == 1);
    CHECK(graph.blocks.front().name == "outer");
    CHECK(graph.blocks.front().layers == 4);
}

TEST_CASE("turns of different sizes are no repeated block, or not alike", "[workload]") {
    const Graph wider = graph_of(trace_of("[4, 8]",
                                          "  - name: block\n"
                                          "    repeat: 4\n"
                                          "    index: turn\n"
                                          "    layers: [{name: a, op: matmul, n: 8 + turn}]\n"
                                          "  - {name: out, op: matmul, n: 2}\n"));
    REQUIRE(wider.blocks.size() == 1);
    CHECK_FALSE(turns_alike(wider, wider.blocks.front()));
    const Graph longer = graph_of(trace_of("[4, 8]",
                                           "  - name: block\n"
                                           "    repeat: 4\n"
                                           "    index: turn\n"
                                           "    layers:\n"
                                           "      - name: inner\n"
                                           "        repeat: turn + 1\n"
                                           "        layers: [{name: a, op: matmul, n: 8}]\n"
                                           "  - {name: out, op: matmul, n: 2}\n"));
    CHECK(longer.blocks.empty());
}

TEST_CASE("turns may read what stands before the block, but nobody else may read the inner ones",
          "[workload]") {
    const Graph outer = graph_of(seven_turns("first"));
    CHECK(turns_alike(outer, outer.blocks.at(0)));
    Graph read = graph_of(seven_turns("block_in"));
    read.outputs.push_back(layer(read, "block.3.sum").output);
    CHECK_FALSE(turns_alike(read, read.blocks.at(0)));
    read = graph_of(seven_turns("block_in"));
    read.layers.back().inputs.front() = layer(read, "block.5.sum").output;
    CHECK_FALSE(turns_alike(read, read.blocks.at(0)));
    read = graph_of(seven_turns("block_in"));
    for (std::size_t turn = 2; turn < 7; ++turn)  // each reads the turn before the one before it
        read.layers[1 + 2 * turn + 1].inputs.back() = read.layers[1 + 2 * (turn - 2) + 1].output;
    CHECK_FALSE(turns_alike(read, read.blocks.at(0)));
}

TEST_CASE("a shorter graph keeps the first turns and the last two, chained as before", "[workload]") {
    const Graph graph = graph_of(seven_turns("first"));
    const ShorterGraph shorter = shorten(graph, {5});
    Names layers;
    for (const Layer& each : shorter.graph.layers)
        if (each.name.ends_with(".sum")) layers.push_back(each.name);
    CHECK(layers == Names{"block.0.sum", "block.1.sum", "block.2.sum", "block.5.sum", "block.6.sum"});
    CHECK(names_of(shorter.graph, layer(shorter.graph, "block.5.a").inputs) == Names{"block.2.sum"});
    CHECK(names_of(shorter.graph, layer(shorter.graph, "block.6.sum").inputs) == Names{"block.6.b", "first"});
    CHECK(names_of(shorter.graph, layer(shorter.graph, "out").inputs) == Names{"block.6.sum", "first"});
    CHECK(names_of(shorter.graph, shorter.graph.outputs) == Names{"out"});
    CHECK(shorter.graph.blocks.at(0).turns == 5);
    REQUIRE(shorter.whole.size() == shorter.graph.tensors.size());
    for (TensorId id = 0; id < shorter.whole.size(); ++id) {
        const Tensor &own = shorter.graph.tensors[id], &other = graph.tensors[shorter.whole[id]];
        CHECK(own.name == other.name);
        REQUIRE(own.view_of.has_value() == other.view_of.has_value());
        if (own.view_of)
            CHECK(shorter.graph.tensors[*own.view_of].name == graph.tensors[*other.view_of].name);
    }
    for (const Layer& each : shorter.graph.layers) {
        CHECK(shorter.graph.tensors[each.output].name == each.name);
        if (each.weights) CHECK(shorter.graph.tensors[*each.weights].name == each.name + ".weights");
    }
}

TEST_CASE("of two blocks either can lose turns, and the other keeps its own", "[workload]") {
    const Graph graph = graph_of(trace_of("[4, 8]",
                                          "  - name: one\n"
                                          "    repeat: 6\n"
                                          "    layers: [{name: a, op: matmul, n: 8}]\n"
                                          "  - name: two\n"
                                          "    repeat: 8\n"
                                          "    layers: [{name: a, op: matmul, n: 8}]\n"
                                          "  - {name: out, op: matmul, n: 2}\n"));
    const auto last_inputs = [](const Graph& g, const std::string& name) {
        return names_of(g, layer(g, name).inputs);
    };
    const Graph second = shorten(graph, {6, 5}).graph;
    CHECK(second.layers.size() == 12);
    CHECK(last_inputs(second, "two.0.a") == Names{"one.5.a"});
    CHECK(last_inputs(second, "two.6.a") == Names{"two.2.a"});
    const Graph both = shorten(graph, {3, 4}).graph;
    CHECK(both.layers.size() == 8);
    CHECK(last_inputs(both, "one.4.a") == Names{"one.0.a"});
    CHECK(last_inputs(both, "two.0.a") == Names{"one.5.a"});
    CHECK(both.blocks.at(1).first_layer == 3);
    CHECK(both.tensors[both.blocks.at(1).first_tensor].name == "two.0.a.weights");
    CHECK(shorten(graph, {6, 8}).graph.layers.size() == graph.layers.size());
}

TEST_CASE("turns whose weights somebody reads behind the block are not alike", "[workload]") {
    Graph graph = graph_of(seven_turns("block_in"));
    Layer back = layer(graph, "block.6.a");
    back.name = "back";
    back.inputs = graph.layers[0].inputs;
    graph.tensors.push_back(graph.tensors[back.output]);
    back.output = graph.tensors.size() - 1;
    graph.layers.push_back(back);
    CHECK(turns_alike(graph, graph.blocks[0]));  // those of the last turn
    graph.layers.back().weights = layer(graph, "block.3.a").weights;
    CHECK_FALSE(turns_alike(graph, graph.blocks[0]));
}
