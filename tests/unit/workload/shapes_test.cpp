// SPDX-License-Identifier: Apache-2.0
// Inferred shapes against values worked out by hand.
#include "graphs.h"

using namespace systole;
using namespace systole::test;

namespace {

Shape out_of(const std::string& shape, const std::string& layer, const std::string& dtype = "int8") {
    return tensor(graph_of(trace_of(shape, "  - {name: out, " + layer + "}\n", dtype)), "out").shape;
}

}  // namespace

TEST_CASE("a convolution's output follows from kernel, stride, padding and dilation", "[workload]") {
    CHECK(out_of("[1, 224, 224, 3]", "op: conv2d, filters: 64, kernel: 7, stride: 2, pad: 3") ==
          Shape{1, 112, 112, 64});
    CHECK(out_of("[2, 8, 8, 3]", "op: conv2d, filters: 5, kernel: 3") == Shape{2, 6, 6, 5});
    CHECK(out_of("[1, 8, 6, 3]", "op: conv2d, filters: 5, kernel: [1, 5]") == Shape{1, 8, 2, 5});
    CHECK(out_of("[1, 9, 9, 3]", "op: conv2d, filters: 5, kernel: 3, dilation: 2") == Shape{1, 5, 5, 5});
    CHECK(out_of("[1, 6, 6, 3]", "op: conv2d, filters: 5, kernel: 3, stride: 2") == Shape{1, 2, 2, 5});
    CHECK(out_of("[1, 3, 3, 3]", "op: conv2d, filters: 1, kernel: 3") == Shape{1, 1, 1, 1});
}

TEST_CASE("a convolution stores [k, r, s, c / groups] and an accumulator-wide bias", "[workload]") {
    const Graph graph = graph_of(trace_of(
        "[1, 8, 8, 4]", "  - {name: out, op: conv2d, filters: 6, kernel: [3, 1], groups: 2, bias: true}\n"));
    CHECK(tensor(graph, "out.weights").shape == Shape{6, 3, 1, 2});
    CHECK(tensor(graph, "out.weights").dtype == DType::Int8);
    CHECK(tensor(graph, "out.bias").shape == Shape{6});
    CHECK(tensor(graph, "out.bias").dtype == DType::Int32);
    // 6 x 8 outputs of 6 channels, each of 3 x 1 x 2 products
    CHECK(total_macs(graph) == Macs(6 * 8 * 6 * 6));
}

TEST_CASE("biases of floating-point layers are fp32", "[workload]") {
    const Graph graph =
        graph_of(trace_of("[4, 8]", "  - {name: out, op: matmul, n: 3, bias: true}\n", "bf16"));
    CHECK(tensor(graph, "out.bias").dtype == DType::Fp32);
    CHECK(tensor(graph, "out.weights").dtype == DType::Bf16);
}

TEST_CASE("a depthwise convolution has a group for each channel", "[workload]") {
    const Graph graph = graph_of(trace_of(
        "[1, 4, 4, 8]", "  - {name: out, op: conv2d, filters: 16, kernel: 3, pad: 1, depthwise: true}\n"));
    CHECK(tensor(graph, "out.weights").shape == Shape{16, 3, 3, 1});
    CHECK(std::get<Conv2d>(layer(graph, "out").op).depthwise());
    CHECK(total_macs(graph) == Macs(16 * 16 * 9));
}

TEST_CASE("pools round down, stride by their window, or take the whole map", "[workload]") {
    CHECK(out_of("[1, 112, 112, 64]", "op: pool, kind: max, window: 3, stride: 2, pad: 1") ==
          Shape{1, 56, 56, 64});
    CHECK(out_of("[1, 7, 7, 4]", "op: pool, kind: average, window: 2") == Shape{1, 3, 3, 4});
    CHECK(out_of("[1, 7, 6, 4]", "op: pool, kind: average, window: [3, 2], stride: 1") == Shape{1, 5, 5, 4});
    CHECK(out_of("[3, 7, 5, 4]", "op: pool, kind: average, global: true") == Shape{3, 1, 1, 4});
}

TEST_CASE("a matmul maps the last dimension, and flattens feature maps", "[workload]") {
    CHECK(out_of("[4, 8]", "op: matmul, n: 3") == Shape{4, 3});
    CHECK(out_of("[2, 5, 8]", "op: matmul, n: 3") == Shape{2, 5, 3});
    CHECK(out_of("[2, 7, 5, 4]", "op: matmul, n: 3") == Shape{2, 3});

    const Graph sequence = graph_of(trace_of("[2, 5, 8]", "  - {name: out, op: matmul, n: 3}\n"));
    const auto folded = std::get<MatMul>(layer(sequence, "out").op);
    CHECK(folded.m == 10);
    CHECK(folded.k == 8);
    CHECK(folded.shared_weights);
    const Graph map = graph_of(trace_of("[2, 7, 5, 4]", "  - {name: out, op: matmul, n: 3}\n"));
    CHECK(tensor(map, "out.weights").shape == Shape{140, 3});
}

TEST_CASE("a batched matmul multiplies two activations", "[workload]") {
    const std::string two =
        "trace: t\ninputs: {a: {shape: [2, 3, 4, 5], dtype: int8}, b: {shape: [2, 3, BB], dtype: int8}}\n"
        "layers: [{name: out, op: batched_matmul, in: [a, b]TT}]\noutputs: [out]\n";
    const auto with = [&](const std::string& b, const std::string& transposed) {
        std::string text = two;
        text.replace(text.find("BB"), 2, b);
        text.replace(text.find("TT"), 2, transposed);
        return graph_of(text);
    };
    for (const Graph& graph : {with("5, 7", ""), with("7, 5", ", transpose_b: true")}) {
        const Layer& only = graph.layers.at(0);
        const auto op = std::get<MatMul>(only.op);
        CHECK(std::vector{op.batch, op.m, op.n, op.k} == std::vector<std::int64_t>{6, 4, 7, 5});
        CHECK_FALSE(op.shared_weights);
        CHECK_FALSE(only.weights);
        CHECK(only.inputs.size() == 2);
        CHECK(tensor(graph, "out").shape == Shape{2, 3, 4, 7});
        CHECK(total_macs(graph) == Macs(6 * 4 * 7 * 5));
    }
}

TEST_CASE("transposes permute, embeddings add a dimension, norms and softmax keep the shape", "[workload]") {
    CHECK(out_of("[2, 3, 5, 7]", "op: transpose, permutation: [0, 2, 1, 3]") == Shape{2, 5, 3, 7});
    CHECK(out_of("[2, 3, 5]", "op: transpose, permutation: [2, 0, 1]") == Shape{5, 2, 3});
    CHECK(out_of("[2, 6]", "op: embedding, vocabulary: 100, width: 16, dtype: bf16", "int32") ==
          Shape{2, 6, 16});
    CHECK(out_of("[2, 6]", "op: softmax") == Shape{2, 6});
    CHECK(out_of("[2, 3, 6]", "op: norm, kind: rms") == Shape{2, 3, 6});
    CHECK(out_of("[2, 3, 6]", "op: activation, function: gelu") == Shape{2, 3, 6});
}

TEST_CASE("a layer norm stores scale and shift, an rms norm only the scale", "[workload]") {
    const Graph both = graph_of(trace_of("[4, 6]", "  - {name: out, op: norm, kind: layer}\n", "bf16"));
    CHECK(tensor(both, "out.weights").shape == Shape{6});
    CHECK(tensor(both, "out.bias").shape == Shape{6});
    const Graph scale = graph_of(trace_of("[4, 6]", "  - {name: out, op: norm, kind: rms}\n", "bf16"));
    CHECK_FALSE(scale.layers.at(0).bias);
    const auto norm = std::get<Norm>(scale.layers.at(0).op);
    CHECK(norm.rows == 4);
    CHECK(norm.cols == 6);
}

TEST_CASE("a layer's dtypes follow its input unless it says otherwise", "[workload]") {
    const Graph graph =
        graph_of(trace_of("[4, 8]",
                          "  - {name: a, op: matmul, n: 8, weight_dtype: int4, out_dtype: int32}\n"
                          "  - {name: out, op: activation, function: relu, out_dtype: int8}\n"));
    CHECK(tensor(graph, "a.weights").dtype == DType::Int4);
    CHECK(tensor(graph, "a").dtype == DType::Int32);
    CHECK(tensor(graph, "out").dtype == DType::Int8);
}
