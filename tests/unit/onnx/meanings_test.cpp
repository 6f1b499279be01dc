// SPDX-License-Identifier: Apache-2.0
// What operators mean where their inputs are unusual: shapes and layers by hand.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "tests/unit/onnx/models.h"

using namespace systole;
using namespace systole::test;

namespace {

Shape without_ones(Shape shape) {
    std::erase(shape, 1);
    return shape;
}

/// A function of the nodes that a graph has.
void add_function(onnx::ModelProto& model, const std::string& name, const std::string& graph, int opset) {
    const onnx::ModelProto body = model_of(graph);
    onnx::FunctionProto& function = *model.add_functions();
    function.set_name(name), function.set_domain("com.example");
    for (const auto& input : body.graph().input()) function.add_input(input.name());
    for (const auto& output : body.graph().output()) function.add_output(output.name());
    *function.mutable_node() = body.graph().node();
    function.add_opset_import()->set_version(opset);
}

std::size_t count_of(const std::string& text, const std::string& word) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++count;
    return count;
}

}  // namespace

TEST_CASE("a number that is stored narrow is a wide one, but for products that scale their weights") {
    auto model = model_of(
        "(int64[1,7] i, float[1,7,16] x) => (float[1,7,32] y) { t = DequantizeLinear(q, s) e = Gather(t, i) "
        "p = "
        "DequantizeLinear(r, s) a = Add(e, p) b = Add(a, x) w = DequantizeLinear(v, s) u = Transpose<perm = "
        "[1,0]>(w) y = MatMul(b, u) }");
    store(model, "q", {100, 16}, onnx::TensorProto::INT8);
    store(model, "r", {1, 7, 16}, onnx::TensorProto::INT8);
    store(model, "v", {32, 16}, onnx::TensorProto::INT8);
    store(model, "s", {});
    const Imported imported = import(model);
    INFO(imported.trace << notes(imported));
    CHECK(layers_of(graph_of(imported.trace)) == "embedding add add matmul");
    CHECK(count_of(imported.trace, "int8") == 1);  // the weights of the product
}

TEST_CASE("a product of a stored and a made tensor that meet one by one reads both as wide as they are") {
    auto model =
        model_of("(float[2,5,6] x) => (float[2,4,6] y) { a = DequantizeLinear(q, s) y = MatMul(a, x) }");
    store(model, "q", {2, 4, 5}, onnx::TensorProto::INT8);
    store(model, "s", {});
    const Imported imported = import(model);
    INFO(imported.trace << notes(imported));
    CHECK(layers_of(graph_of(imported.trace)) == "matmul");
    CHECK(count_of(imported.trace, "int8") == 0);
}

TEST_CASE("dimensions that an equation leaves out stay in front, in their order") {
    auto model = model_of(
        "(float[2,3,4,5] x) => (float[2,3,4,6] y) { a = Einsum<equation = \"...ij,jk\">(x, w) y = Relu(a) }");
    store(model, "w", {5, 6});
    const Imported imported = import(model);
    INFO(imported.trace << notes(imported));
    CHECK(layers_of(graph_of(imported.trace)) == "matmul");  // nothing is transposed
    CHECK_THAT(notes(imported), !Catch::Contains("the file records"));
}

TEST_CASE("windows are rounded up once, whatever is padded") {
    struct Pooled {
        std::string graph;
        std::vector<std::int64_t> pads;
        Shape out;
    };
    const Pooled each = GENERATE(values<Pooled>({
        {"(float[1,3,4,4] x) => (float[1,3,1,1] y) { y = MaxPool<kernel_shape = [5,5], strides = [2,2], "
         "ceil_mode = 1>(x) }",
         {},
         {3}},
        {"(float[1,3,8,8] x) => (float[1,3,4,4] y) { p = Pad(x, widths) y = AveragePool<kernel_shape = "
         "[3,3], "
         "strides = [3,3], ceil_mode = 1>(p) }",
         {0, 0, 1, 1, 0, 0, 1, 1},
         {4, 4, 3}},
    }));
    auto model = model_of(each.graph);
    if (!each.pads.empty()) store_numbers(model, "widths", each.pads);
    const Imported imported = import(model);
    INFO(imported.trace << notes(imported));
    CHECK(without_ones(out_shape(graph_of(imported.trace))) == each.out);
}

TEST_CASE("zeros of one Pad behind another wait together") {
    auto model = model_of(
        "(float[1,3,8,8] x) => (float[1,4,10,10] y) { a = Pad(x, widths) b = Pad(a, widths) y = Conv(b, w) "
        "}");
    store_numbers(model, "widths", {0, 0, 1, 1, 0, 0, 1, 1});
    store(model, "w", {4, 3, 3, 3});
    const Graph graph = graph_of(import(model).trace);
    CHECK(layers_of(graph) == "conv2d");
    CHECK(std::get<Conv2d>(graph.layers.at(0).op).pad == 2);
}

TEST_CASE("padding that cannot be ends in words, and soon") {
    const std::int64_t pad = GENERATE(std::int64_t{2'147'483'647}, std::numeric_limits<std::int64_t>::min());
    auto model = model_of(
        "(float[1,4,1,8] x) => (float[1,4,1,8] y) { a = Pad<mode = \"edge\">(x, widths) y = Relu(a) }");
    store_numbers(model, "widths", {0, 0, pad, 0, 0, 0, 0, 0});
    CHECK_THAT(refusal(model),
               Catch::Contains("more than 64 times as much") || Catch::Contains("its widths are too large"));
}

TEST_CASE("a resize keeps the ratio of its axes where it says so") {
    struct Resized {
        std::string policy;
        Shape out;
    };
    const Resized each = GENERATE(
        values<Resized>({{"not_larger", {4, 8, 3}}, {"not_smaller", {8, 16, 3}}, {"stretch", {8, 8, 3}}}));
    auto model = model_of(
        "(float[1,3,8,16] x) => (float y) { a = Resize<mode = \"nearest\", axes = [2,3], "
        "keep_aspect_ratio_policy = \"" +
            each.policy + "\">(x, n, n, z) y = Relu(a) }",
        17);
    store_numbers(model, "z", {8, 8});
    for (int i : {1, 2}) model.mutable_graph()->mutable_node(0)->set_input(i, "");
    const Imported imported = import(model);
    INFO(imported.trace << notes(imported));
    Shape out = without_ones(out_shape(graph_of(imported.trace))), expected = each.out;
    std::ranges::sort(out);  // the layer decides how its input is held
    std::ranges::sort(expected);
    CHECK(out == expected);
}

TEST_CASE("a convolution whose kernel_shape is not that of its weights is refused") {
    const auto told = [](const std::string& kernel) {
        auto model =
            model_of("(float[1,3,8,8] x) => (float y) { y = Conv <kernel_shape = " + kernel + "> (x, w) }");
        store(model, "w", {4, 3, 3, 3});
        return import(model);
    };
    CHECK(layers_of(graph_of(told("[3, 3]").trace)) == "conv2d");
    CHECK_THROWS_WITH(told("[5, 5]"),
                      Catch::Contains("its kernel_shape [5, 5] is not that of its weights, [4, 3, 3, 3]"));
}

TEST_CASE("a bias that the network makes is added by a layer of its own") {
    auto model =
        model_of("(float[1,3,8,8] x, float[4] b) => (float[1,4,6,6] y) { c = Relu(b) y = Conv(x, w, c) }");
    store(model, "w", {4, 3, 3, 3});
    const Graph graph = graph_of(import(model).trace);
    CHECK(layers_of(graph) == "activation conv2d add");
    CHECK_FALSE(std::get<Conv2d>(graph.layers.at(1).op).bias);
}

TEST_CASE("the bias of a product by weights of a few bits is its own, one number for each column") {
    const auto product = [](const std::vector<std::int64_t>& bias) {
        auto model = model_of(
            "(float[4,64] x) => (float[4,32] y) { y = com.microsoft.MatMulNBits<K = 64, N = 32, bits = 4, "
            "block_size = 32>(x, w, s, e, e, b) }");
        store(model, "w", {32, 2, 16}, onnx::TensorProto::UINT8);
        store(model, "s", {64});
        if (!bias.empty()) store(model, "b", bias);
        for (auto& input : *model.mutable_graph()->mutable_node(0)->mutable_input())
            if (input == "e" || (input == "b" && bias.empty())) input.clear();
        return model;
    };
    const bool has_bias = GENERATE(true, false);
    const Imported imported = import(product(has_bias ? Shape{32} : Shape{}));
    INFO(imported.trace << notes(imported));
    const Graph graph = graph_of(imported.trace);
    REQUIRE(layers_of(graph) == "matmul");
    CHECK(std::get<MatMul>(graph.layers[0].op).bias == has_bias);
    CHECK(total_macs(graph).value() == 4 * 64 * 32);
    CHECK_THAT(refusal(product({31})), Catch::Contains("its bias [31] is not one number for each column"));
}

TEST_CASE("an input is one tensor, whatever functions and loops call it") {
    auto model = model_of(
        "(float[1,4,9] x) => (float[1,4,9] y) { a = com.example.F(x) b = com.example.F(x) y = Add(a, b) }");
    add_function(model, "F", "(float x) => (float y) { y = Relu(x) }", 13);
    CHECK(graph_of(import(model).trace).inputs.size() == 1);
    auto loop = model_of(
        "(float[2,3] x) => (float[2,3] y) { a = Loop (n, go, x) <body = b (int64 i, bool c, float[2,3] v) => "
        "(bool k, float[2,3] w) { k = Identity(c) w = Exp(v) }> y = Add(a, x) }");
    store_numbers(loop, "n", {3});
    auto* go = loop.mutable_graph()->add_initializer();
    go->set_name("go"), go->set_data_type(onnx::TensorProto::BOOL), go->add_int32_data(1);
    CHECK(graph_of(import(loop).trace).inputs.size() == 1);
}

TEST_CASE("operators of a function are of the versions that it says, and what it reads is read") {
    auto model = model_of("(float[5,2,8] x) => (float[5,2,8] y) { y = com.example.F(x) }");
    add_function(model, "F", "(float x) => (float y) { y = Softmax(x) }", 11);
    // Of axis 1 and all behind it: rows of 16.
    const Imported imported = import(model);
    INFO(imported.trace);
    CHECK_THAT(imported.trace, Catch::Contains("[5, 16]"));
    auto top = model_of(
        "(float[4,9] x) => (float[4,2] y) { v, i = com.example.T(x) f = Cast<to = 1>(i) y = Relu(f) }");
    add_function(top, "T",
                 "(float x) => (float v, int64 i) { k = Constant<value_ints = [2]>() v, i = TopK(x, k) }",
                 13);
    const Imported both = import(top);
    INFO(both.trace << notes(both));
    CHECK_THAT(layers_of(graph_of(both.trace)), Catch::Contains("top_k"));
}

TEST_CASE("turns of loops without nodes are counted, too") {
    auto model = model_of(
        "(float[2,3] x) => (float[2,3] y) { y = Relu(x) q = Loop (n, go, n) <body = b (int64 i, bool c, "
        "int64[1] v) "
        "=> (bool c, int64[1] w) { w = Loop (n, go, v) <body = d (int64 j, bool e, int64[1] u) => (bool e, "
        "int64[1] u) {}> }> }");
    store_numbers(model, "n", {10'000});
    auto* go = model.mutable_graph()->add_initializer();
    go->set_name("go"), go->set_data_type(onnx::TensorProto::BOOL), go->add_int32_data(1);
    CHECK_THAT(refusal(model), Catch::Contains("more than 200000 nodes, every turn of a loop counted"));
}

TEST_CASE("attention has the widths, masks and biases that it says") {
    auto model = model_of(
        "(float[2,5,16] x, int32[2,5] m, float[1,2,5,5] s) => (float[2,5,32] y) { y = com.microsoft.Attention"
        "<num_heads = 2, qkv_hidden_sizes = [8,8,32]>(x, w, b, m, n, s) }");
    store(model, "w", {16, 48});
    store(model, "b", {48});
    model.mutable_graph()->mutable_node(0)->set_input(4, "");
    const Imported imported = import(model);
    INFO(imported.trace << notes(imported));
    const Graph graph = graph_of(imported.trace);
    CHECK(elements(out_shape(graph)) == 2 * 5 * 32);
    CHECK(graph.inputs.size() == 3);
    CHECK(total_macs(graph).value() == 10 * 16 * 48 + 2 * 2 * 25 * 4 + 2 * 2 * 25 * 16);
}

TEST_CASE("what cannot be is listed, and the rest is mapped") {
    struct Listed {
        std::string graph, told;
        std::vector<std::pair<std::string, Shape>> stored;
    };
    const Listed each = GENERATE(values<Listed>({
        {"(float[4,32] x) => (float[4,32] y) { m = com.microsoft.MatMulNBits<K = 64, N = 32, bits = 4, "
         "block_size "
         "= 32>(a, w, s) y = Add(m, x) }",
         "0 listed",
         {{"a", {4, 64}}, {"w", {32, 2, 16}}, {"s", {64}}}},
        {"(float x, float z, float[2] q) => (float[2] y) { a = com.microsoft.SkipLayerNormalization(x, z, g) "
         "y = Relu(q) }",
         "its input is",
         {{"g", {1}}}},
        {"(float[5,2,8] x, float[1,2,3] h) => (float[5,2,8] y) { a, b = LSTM<hidden_size = 6>(x, w, r, e, e, "
         "h) y "
         "= Relu(x) c = Neg(b) }",
         "its first state is [1, 2, 3], not [1, 2, 6]",
         {{"w", {1, 24, 8}}, {"r", {1, 24, 6}}}},
        {"(float[5,2,8] x, float[5] h) => (float[5,2,8] y) { a, b = LSTM<hidden_size = 6, layout = 1>(x, w, "
         "r, e, "
         "e, h) y = Relu(x) c = Neg(b) }",
         "its first state is [5], not [5, 1, 6]",
         {{"w", {1, 24, 8}}, {"r", {1, 24, 6}}}},
        {"(float[3,4] x) => (float[1,12] y, float[3,4] z) { y = Flatten<axis = 0>(x) z = Relu(x) }",
         "output 'y' (a view of an input): not made by any layer",
         {}},
    }));
    auto model = model_of(each.graph);
    for (const auto& [name, shape] : each.stored) store(model, name, shape);
    for (auto& node : *model.mutable_graph()->mutable_node())
        for (auto& input : *node.mutable_input())
            if (input == "e") input.clear();
    const Imported imported = import(model);
    INFO(imported.trace);
    CHECK_THAT(notes(imported), Catch::Contains(each.told));
}

TEST_CASE("batch-first recurrent layers of one sequence are blocks") {
    const std::string op = GENERATE("LSTM", "GRU", "RNN");
    const std::int64_t gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
    auto model =
        model_of("(float[1,5,8] x) => (float[1,1,6] y) { a = Transpose<perm = [1,0,2]>(x) n, y = " + op +
                 "<hidden_size = 6>(a, w, r, b) }");
    store(model, "w", {1, 6 * gates, 8});
    store(model, "r", {1, 6 * gates, 6});
    store(model, "b", {1, 12 * gates});
    model.mutable_graph()->mutable_node(1)->set_output(0, "");
    const Imported imported = import(model);
    INFO(imported.trace << notes(imported));
    CHECK(total_macs(graph_of(imported.trace)).value() == 5 * 6 * gates * (8 + 6));
}

TEST_CASE("a shape that the file records otherwise is told") {
    const auto model = model_of("(float[2,3] x) => (float[2,4] y) { y = Relu(x) }");
    CHECK_THAT(notes(import(model)),
               Catch::Contains("what it makes, 'y', is [2, 3], and the file records [2, 4]"));
}
