// SPDX-License-Identifier: Apache-2.0
// Products whose first operand lies the other way round, with a transpose before them.
#include "sim/workload/transposed_operands.h"

#include "graphs.h"
#include "sim/workload/shorter_graph.h"

using namespace systole;
using namespace systole::test;

namespace {

using Names = std::vector<std::string>;

Names layers_of(const Graph& graph) {
    Names names;
    for (const Layer& layer : graph.layers) names.push_back(layer.name);
    return names;
}

/// Turns `name`, a product of activations [batch, m, k] by [batch, k, n] with m = k, over: the same shapes.
void turn(Graph& graph, const std::string& name) {
    for (Layer& layer : graph.layers)
        if (layer.name == name) std::get<MatMul>(layer.op).transposed_a = true;
}

void expect_whole(const Graph& graph) {
    for (const Layer& layer : graph.layers) {
        for (const TensorId input : layer.inputs) CHECK(input < graph.tensors.size());
        CHECK(graph.tensors.at(layer.output).name == layer.name);
        if (layer.weights) CHECK(graph.tensors.at(*layer.weights).name == layer.name + ".weights");
    }
}

}  // namespace

TEST_CASE("a network without such products stays as it is", "[workload]") {
    const Graph graph = graph_of(trace_of("[4, 8]", "  - {name: out, op: matmul, n: 3}\n"));
    const Graph same = transpose_operands(graph);
    CHECK(layers_of(same) == layers_of(graph));
    CHECK(same.tensors.size() == graph.tensors.size());
}

TEST_CASE("one transpose serves all products that take a tensor the same way round", "[workload]") {
    Graph graph = graph_of(trace_of("[2, 5, 5]",
                                    "  - {name: w, op: matmul, n: 5}\n"
                                    "  - {name: a, op: batched_matmul, in: [x, w]}\n"
                                    "  - {name: b, op: batched_matmul, in: [x, a]}\n"
                                    "  - {name: out, op: batched_matmul, in: [b, a]}\n"));
    for (const char* const name : {"a", "b", "out"}) turn(graph, name);
    const Graph plain = transpose_operands(graph);
    CHECK(layers_of(plain) == Names{"w", "a.transposed", "a", "b", "out.transposed", "out"});
    expect_whole(plain);
    const Layer& transpose = layer(plain, "a.transposed");
    CHECK(std::get<Transpose>(transpose.op) == Transpose{{2, 5, 5}, {0, 2, 1}});
    CHECK(plain.tensors[transpose.inputs.at(0)].name == "x");
    for (const char* const name : {"a", "b"}) {
        CHECK(plain.tensors[layer(plain, name).inputs.at(0)].name == "a.transposed");
        CHECK_FALSE(std::get<MatMul>(layer(plain, name).op).transposed_a);
    }
    CHECK(plain.tensors[layer(plain, "out").inputs.at(0)].name == "out.transposed");
    CHECK(plain.tensors[plain.outputs.at(0)].name == "out");
    CHECK(total_macs(plain) == total_macs(graph));
}

TEST_CASE("the shape of a transpose is that of its operand", "[workload]") {
    Graph graph = graph_of(
        trace_of("[3, 7, 4]", "  - {name: out, op: batched_matmul, in: [x, x], transpose_b: true}\n"));
    MatMul& op = std::get<MatMul>(graph.layers[0].op);  // x^T x of each item: 7 rows are K now
    op = MatMul{};
    op.batch = 3, op.m = op.n = 4, op.k = 7;
    op.shared_weights = false;
    op.transposed_a = true;
    graph.tensors[graph.layers[0].output].shape = {3, 4, 4};
    const Graph plain = transpose_operands(graph);
    CHECK(std::get<Transpose>(plain.layers[0].op) == Transpose{{3, 7, 4}, {0, 2, 1}});
    CHECK(plain.tensors[plain.layers[0].output].shape == Shape{3, 4, 7});
}

TEST_CASE("gradients of keys take scores with keys first", "[workload]") {
    Attention op;
    op.batch = 2, op.q_len = 5, op.kv_len = 6, op.heads = 6, op.kv_heads = 3, op.head_dim = 4;
    op.part = Attention::Part::Keys;
    Graph graph;
    graph.tensors = {{"scores", {2, 3, 5, 2, 6}, DType::Bf16, TensorRole::Input},
                     {"rows", {2, 5, 24}, DType::Bf16, TensorRole::Input},
                     {"keys", {2, 6, 12}}};
    graph.layers.push_back({"keys", op, {0, 1}, {}, {}, 2, {}});
    graph.inputs = {0, 1};
    graph.outputs = {2};
    const Graph plain = transpose_operands(graph);
    CHECK(std::get<Transpose>(plain.layers.at(0).op) == Transpose{{6, 10, 6}, {0, 2, 1}});
    CHECK(plain.tensors[plain.layers[0].output].shape == Shape{6, 6, 10});
    CHECK(std::get<Attention>(plain.layers.at(1).op).turned);
    CHECK(layers_of(transpose_operands(plain)) == layers_of(plain));  // once is enough
}

TEST_CASE("turns of a block have a transpose each and stay alike", "[workload]") {
    Graph graph = graph_of(trace_of("[1, 5, 5]",
                                    "  - {name: w, op: matmul, n: 5}\n"
                                    "  - name: block\n"
                                    "    repeat: 5\n"
                                    "    layers:\n"
                                    "      - {name: a, op: matmul, in: block_in, n: 5}\n"
                                    "      - {name: b, op: batched_matmul, in: [a, block_in]}\n"
                                    "  - {name: out, op: matmul, in: block, n: 2}\n"));
    REQUIRE(turns_alike(graph, graph.blocks.at(0)));
    const Graph before = graph;
    for (int i = 0; i < 5; ++i) turn(graph, "block." + std::to_string(i) + ".b");
    const Graph plain = transpose_operands(graph);
    expect_whole(plain);
    const RepeatedBlock& block = plain.blocks.at(0);
    CHECK(block.layers == 3);
    CHECK(block.tensors == before.blocks[0].tensors + 1);
    CHECK(plain.layers[block.first_layer + 1].name == "block.0.b.transposed");
    CHECK(turns_alike(plain, block));
    // Where one turn has none, turns differ in size.
    Graph uneven = before;
    turn(uneven, "block.3.b");
    CHECK(transpose_operands(uneven).blocks.empty());
}
