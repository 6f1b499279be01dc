// SPDX-License-Identifier: Apache-2.0
// Elementwise layers that join the matrix product before them.
#include "sim/workload/fused_graph.h"

#include "graphs.h"
#include "sim/workload/shorter_graph.h"

using namespace systole;
using namespace systole::test;

namespace {

using Names = std::vector<std::string>;

/// "producer <- elementwise" of all that is possible in a trace over an input [4, 8].
Names fusions_in(const std::string& layers) {
    const Graph graph = graph_of(trace_of("[4, 8]", layers));
    Names names;
    for (const Fusion& fusion : possible_fusions(graph))
        names.push_back(graph.layers[fusion.producer].name + " <- " + graph.layers[fusion.elementwise].name);
    return names;
}

const std::string kProducts =
    "  - {name: a, op: matmul, in: x, n: 8}\n"
    "  - {name: b, op: matmul, in: x, n: 8}\n";

/// Of a trace whose input is called x, as in graphs.h.
std::string block(const std::string& layers) {
    return "  - name: block\n    repeat: 4\n    layers:\n" + layers +
           "  - {name: out, op: matmul, in: block, n: 2}\n";
}

}  // namespace

TEST_CASE("an elementwise layer joins the later of two products", "[workload]") {
    CHECK(fusions_in(kProducts + "  - {name: out, op: elementwise, kind: add, in: [a, b]}\n") ==
          Names{"b <- out"});
    CHECK(fusions_in(kProducts + "  - {name: out, op: elementwise, kind: mul, in: [b, a]}\n") ==
          Names{"b <- out"});
    CHECK(fusions_in("  - {name: a, op: matmul, in: x, n: 8}\n"
                     "  - {name: out, op: elementwise, kind: sub, in: [x, a]}\n") == Names{"a <- out"});
}

TEST_CASE("nothing joins a product that somebody else reads", "[workload]") {
    CHECK(fusions_in("  - {name: a, op: matmul, in: x, n: 8}\n"
                     "  - {name: sum, op: elementwise, kind: add, in: [a, x]}\n"
                     "  - {name: out, op: elementwise, kind: add, in: [sum, a]}\n")
              .empty());
    CHECK(fusions_in("  - {name: a, op: matmul, in: x, n: 8}\n"
                     "  - {name: out, op: elementwise, kind: add, in: [a, a]}\n")
              .empty());
    // A view of it is somebody else.
    CHECK(fusions_in("  - {name: a, op: matmul, in: x, n: 8}\n"
                     "  - {name: folded, op: reshape, shape: [8, 4]}\n"
                     "  - {name: unfolded, op: reshape, shape: [4, 8]}\n"
                     "  - {name: sum, op: elementwise, kind: add, in: [a, unfolded]}\n"
                     "  - {name: out, op: matmul, n: 2}\n")
              .empty());
    CHECK(possible_fusions(graph_of("trace: t\n"
                                    "inputs: {x: {shape: [4, 8], dtype: int8}}\n"
                                    "layers:\n"
                                    "  - {name: a, op: matmul, in: x, n: 8}\n"
                                    "  - {name: out, op: elementwise, kind: add, in: [a, x]}\n"
                                    "outputs: [a, out]\n"))
              .empty());
}

TEST_CASE("nothing joins before its other operand is there, or where shapes or formats differ",
          "[workload]") {
    // The norm is behind the product, which the sum could else join.
    CHECK(fusions_in("  - {name: a, op: matmul, in: x, n: 8}\n"
                     "  - {name: n, op: norm, kind: rms, in: x}\n"
                     "  - {name: out, op: elementwise, kind: add, in: [a, n]}\n")
              .empty());
    CHECK(fusions_in("  - {name: a, op: matmul, in: x, n: 8}\n"
                     "  - {name: out, op: elementwise, kind: add, in: a, stored: [8]}\n")
              .empty());
    CHECK(fusions_in("  - {name: a, op: matmul, in: x, n: 8}\n"
                     "  - {name: out, op: elementwise, kind: add, in: [a, x], out_dtype: fp32}\n")
              .empty());
    CHECK(fusions_in("  - {name: n, op: norm, kind: rms, in: x}\n"
                     "  - {name: out, op: elementwise, kind: add, in: [n, x]}\n")
              .empty());
}

TEST_CASE("a product is joined once, and what comes behind reads the sum", "[workload]") {
    const Graph graph =
        graph_of(trace_of("[4, 8]",
                          "  - {name: a, op: matmul, in: x, n: 8, activation: relu}\n"
                          "  - {name: sum, op: elementwise, kind: add, in: [x, a], activation: silu}\n"
                          "  - {name: twice, op: elementwise, kind: mul, in: [sum, x]}\n"
                          "  - {name: out, op: matmul, n: 2}\n"));
    const auto fusions = possible_fusions(graph);
    REQUIRE(fusions == std::vector<Fusion>{{0, 1}});
    const Graph fused = fuse(graph, fusions);
    REQUIRE(fused.layers.size() == 3);
    CHECK(fused.tensors.size() == graph.tensors.size() - 1);
    const Layer& a = fused.layers[0];
    CHECK(a.name == "a");
    CHECK(op_name(a) == "matmul + add");
    REQUIRE(a.joined);
    CHECK(a.joined->name == "sum");
    CHECK(a.joined->post == Function::Silu);
    CHECK(std::get<MatMul>(a.op).post == Function::Relu);
    CHECK(a.inputs == std::vector<TensorId>{fused.inputs[0], fused.inputs[0]});
    CHECK(fused.tensors[a.output].name == "sum");
    CHECK(fused.tensors[*a.weights].name == "a.weights");
    CHECK(fused.layers[1].inputs[0] == a.output);
    CHECK(fused.tensors[fused.layers[2].output].name == "out");
    CHECK(fused.outputs == std::vector<TensorId>{fused.layers[2].output});
    CHECK(total_macs(fused) == total_macs(graph));
}

TEST_CASE("turns of a block are fused alike, and stay turns", "[workload]") {
    const Graph graph = graph_of(
        trace_of("[4, 8]", block("      - {name: a, op: matmul, in: block_in, n: 8}\n"
                                 "      - {name: b, op: matmul, n: 8}\n"
                                 "      - {name: sum, op: elementwise, kind: add, in: [b, block_in]}\n")));
    const Graph fused = fuse(graph, possible_fusions(graph));
    REQUIRE(fused.blocks.size() == 1);
    CHECK(fused.blocks[0].layers == 2);
    CHECK(fused.blocks[0].tensors == graph.blocks[0].tensors - 1);
    CHECK(fused.layers.size() == 4 * 2 + 1);
    CHECK(fused.tensors[fused.blocks[0].first_tensor].name == "block.0.a.weights");
    CHECK(turns_alike(fused, fused.blocks[0]));
    CHECK(shorten(fused, {3}).graph.layers.size() == 3 * 2 + 1);
}

TEST_CASE("what only some turns of a block could do none does", "[workload]") {
    // The first turn's sum reads the input, which is there; the others' read the norm of the turn before.
    const Names fusions =
        fusions_in(block("      - {name: a, op: matmul, in: x, n: 8}\n"
                         "      - {name: sum, op: elementwise, kind: add, in: [a, block_in]}\n"
                         "      - {name: n, op: norm, kind: rms, in: sum}\n"));
    CHECK(fusions == Names{"block.0.a <- block.0.sum", "block.1.a <- block.1.sum", "block.2.a <- block.2.sum",
                           "block.3.a <- block.3.sum"});
    // The outside reads the last turn's product.
    Graph graph = graph_of(
        trace_of("[4, 8]", block("      - {name: a, op: matmul, in: block_in, n: 8}\n"
                                 "      - {name: sum, op: elementwise, kind: add, in: [a, block_in]}\n")));
    CHECK(possible_fusions(graph).size() == 4);
    graph.outputs.push_back(layer(graph, "block.3.a").output);
    CHECK(possible_fusions(graph).empty());
    // A product before the block is read in its first turn only.
    CHECK(fusions_in("  - {name: before, op: matmul, in: x, n: 8}\n" +
                     block("      - {name: sum, op: elementwise, kind: add, in: [block_in, x]}\n"))
              .empty());
}

TEST_CASE("the slope of a function joins no product", "[workload]") {
    Graph graph =
        graph_of(trace_of("[4, 8]", kProducts + "  - {name: out, op: elementwise, kind: mul, in: [a, b]}\n"));
    CHECK(possible_fusions(graph).size() == 1);
    std::get<Elementwise>(graph.layers.back().op).slope = Function::Gelu;
    CHECK(possible_fusions(graph).empty());
}
