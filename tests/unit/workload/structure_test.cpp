// SPDX-License-Identifier: Apache-2.0
// Names, blocks, parameters and views.
#include "graphs.h"

using namespace systole;
using namespace systole::test;

namespace {

std::vector<std::string> layer_names(const Graph& graph) {
    std::vector<std::string> names;
    for (const Layer& each : graph.layers) names.push_back(each.name);
    return names;
}

std::vector<std::string> input_names(const Graph& graph, const std::string& name) {
    std::vector<std::string> names;
    for (const TensorId id : layer(graph, name).inputs) names.push_back(graph.tensors[id].name);
    return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a repeated block chains its turns through block_in", "[workload]") {
    const Graph graph =
        graph_of(trace_of("[4, 8]",
                          "  - {name: first, op: matmul, n: 8}\n"
                          "  - name: block\n"
                          "    repeat: 2\n"
                          "    layers:\n"
                          "      - {name: a, op: matmul, n: 8}\n"
                          "      - {name: b, op: elementwise, kind: add, in: [a, block_in]}\n"
                          "  - {name: out, op: elementwise, kind: add, in: [block, first]}\n"));
    CHECK(layer_names(graph) == Names{"first", "block.0.a", "block.0.b", "block.1.a", "block.1.b", "out"});
    CHECK(input_names(graph, "block.0.a") == Names{"first"});
    CHECK(input_names(graph, "block.0.b") == Names{"block.0.a", "first"});
    CHECK(input_names(graph, "block.1.b") == Names{"block.1.a", "block.0.b"});
    CHECK(input_names(graph, "out") == Names{"block.1.b", "first"});
}

TEST_CASE("blocks nest, and an inner name hides an outer one", "[workload]") {
    const Graph graph =
        graph_of(trace_of("[4, 8]",
                          "  - {name: a, op: matmul, n: 8}\n"
                          "  - name: outer\n"
                          "    repeat: 2\n"
                          "    layers:\n"
                          "      - name: inner\n"
                          "        repeat: 2\n"
                          "        layers:\n"
                          "          - {name: b, op: elementwise, kind: add, in: [block_in, a]}\n"
                          "      - {name: a, op: matmul, in: inner, n: 8}\n"
                          "  - {name: out, op: matmul, n: 2}\n"));
    CHECK(layer_names(graph) == Names{"a", "outer.0.inner.0.b", "outer.0.inner.1.b", "outer.0.a",
                                      "outer.1.inner.0.b", "outer.1.inner.1.b", "outer.1.a", "out"});
    CHECK(input_names(graph, "outer.0.inner.1.b") == Names{"outer.0.inner.0.b", "a"});
    CHECK(input_names(graph, "outer.1.inner.0.b") == Names{"outer.0.a", "a"});
    CHECK(input_names(graph, "outer.1.a") == Names{"outer.1.inner.1.b"});
}

TEST_CASE("an index counts turns in expressions", "[workload]") {
    const Graph graph = graph_of(trace_of("[4, 8]",
                                          "  - name: block\n"
                                          "    repeat: 3\n"
                                          "    index: i\n"
                                          "    layers: [{name: a, op: matmul, n: 8 * (i + 1)}]\n"
                                          "  - {name: out, op: matmul, n: 2}\n"));
    CHECK(tensor(graph, "block.0.a").shape == Shape{4, 8});
    CHECK(tensor(graph, "block.2.a").shape == Shape{4, 24});
}

TEST_CASE("parameters have defaults, may use each other, and are overridden", "[workload]") {
    const std::string text =
        "trace: t\nparams: {hidden: 8, ffn: 4 * hidden, type: int8}\n"
        "inputs: {x: {shape: [2, hidden], dtype: type}}\n"
        "layers: [{name: out, op: matmul, n: ffn}]\noutputs: [out]\n";
    CHECK(tensor(graph_of(text), "out").shape == Shape{2, 32});
    const Graph wide = graph_of(text, {{"hidden", "16", {}}, {"type", "bf16", {}}});
    CHECK(tensor(wide, "out").shape == Shape{2, 64});
    CHECK(tensor(wide, "out").dtype == DType::Bf16);
    CHECK(tensor(graph_of(text, {{"ffn", "hidden + 1", {}}}), "out").shape == Shape{2, 9});
    CHECK(wide.parameters == std::vector<TraceParameter>{{"hidden", 16}, {"ffn", 64}, {"type", "bf16"}});
}

TEST_CASE("a reshape is a view of the tensor that holds the bytes", "[workload]") {
    const Graph graph = graph_of(trace_of("[2, 12]",
                                          "  - {name: a, op: matmul, n: 12}\n"
                                          "  - {name: b, op: reshape, shape: [2, 3, 4]}\n"
                                          "  - {name: c, op: reshape, shape: [6, 4]}\n"
                                          "  - {name: out, op: matmul, n: 5}\n"));
    CHECK(layer_names(graph) == Names{"a", "out"});
    CHECK(input_names(graph, "out") == Names{"c"});
    for (const std::string view : {"b", "c"}) {
        REQUIRE(tensor(graph, view).view_of);
        CHECK(graph.tensors[*tensor(graph, view).view_of].name == "a");
    }
    CHECK_FALSE(tensor(graph, "a").view_of);
    CHECK(tensor(graph, "out").shape == Shape{6, 5});
}

TEST_CASE("layers know their place in the file", "[workload]") {
    const Graph graph = graph_of(trace_of("[2, 12]", "  - {name: out, op: softmax}\n"));
    CHECK(graph.layers.at(0).where.line == 4);
    CHECK(graph.layers.at(0).where.column == 5);
}
