// SPDX-License-Identifier: Apache-2.0
// Small models, in the text form that libonnx parses, against layers, shapes and multiply-accumulates by
// hand.
#include <catch2/catch.hpp>
#include <limits>

#include "tests/unit/onnx/models.h"

using namespace systole;
using namespace systole::test;

namespace {

struct Case {
    std::string graph, layers;
    Shape out;
    std::int64_t macs = 0;
};

}  // namespace

TEST_CASE("operators become the layers that they are") {
    const Case each = GENERATE(values<Case>({
        {"(float[2,3] x) => (float[2,3] y) { y = Relu(x) }", "activation", {2, 3}},
        {"(float[2,3] x, float[2,3] z) => (float[2,3] y) { y = Div(x, z) }", "div", {2, 3}},
        {"(float[2,3] x) => (float[2,3] y) { s = Sigmoid(x) y = Mul(x, s) }", "activation", {2, 3}},
        {"(float[2,3] x) => (float[2,3] y) { a = Abs(x) y = Softmax<axis = 0>(a) }",
         "activation transpose softmax transpose",
         {2, 3}},
        {"(float[2,3] x) => (float[2,3] y) { y = LogSoftmax(x) }", "softmax activation", {2, 3}},
        {"(float[2,3,4] x, float[2,4,5] z) => (float[2,3,5] y) { y = MatMul(x, z) }",
         "matmul",
         {2, 3, 5},
         120},
        {"(float[4,3] x, float[4,5] z) => (float[3,5] y) { y = Gemm<transA = 1>(x, z) }",
         "transpose matmul",
         {3, 5},
         60},
        {"(float[2,3,4] x, float[2,5,4] z) => (float[2,3,5] y) { y = Einsum<equation = \"bik,bjk->bij\">(x, "
         "z) }",
         "matmul",
         {2, 3, 5},
         120},
        {"(float[3,4] x) => (float[4,3] y) { y = Einsum<equation = \"ij->ji\">(x) }", "transpose", {4, 3}},
        {"(float[3,4] x) => (float[3] y) { y = Einsum<equation = \"ij->i\">(x) }", "reduce", {3}},
        {"(float[2,3] x) => (float[2,1] y) { y = ReduceMax<axes = [1]>(x) }", "reduce", {2, 1}},
        {"(float[2,3] x) => (float[2] y) { y = ReduceL2<axes = [1], keepdims = 0>(x) }",
         "mul reduce activation",
         {2}},
        {"(float[1,3,8,8] x) => (float[1,3,4,4] y) { y = MaxPool<kernel_shape = [2,2], strides = [2,2]>(x) }",
         "pool",
         {1, 4, 4, 3}},
        {"(float[1,3,7,7] x) => (float[1,3,4,4] y) { y = AveragePool<kernel_shape = [2,2], strides = [2,2], "
         "ceil_mode = 1>(x) }",
         "pool",
         {1, 4, 4, 3}},
        {"(float[1,3,8,8] x) => (float[1,3,1,1] y) { y = GlobalAveragePool(x) }", "pool", {1, 1, 1, 3}},
        {"(float[1,8,2,2] x) => (float[1,2,4,4] y) { y = DepthToSpace<blocksize = 2>(x) }",
         "transpose",
         {1, 2, 4, 4}},
        {"(float[2,3] x, float[2,3] z) => (bool[2,3] y) { y = Less(x, z) }", "compare", {2, 3}},
        {"(float[2,3] x) => (int64[2,1] y) { y = ArgMax<axis = 1>(x) }", "top_k", {2, 1}},
        {"(float[2,6] x) => (float[2,2] y) { a, b, c = Split<axis = 1>(x) d = Add(a, b) y = Mul(d, c) }",
         "slice slice slice add mul",
         {2, 2}},
        {"(float[2,3,4] x) => (float[4,3] y) { a = Transpose<perm = [2,1,0]>(x) b = ReduceSum(a) y = Mul(x, "
         "b) }",
         "reduce mul",
         {2, 3, 4}},
        {"(float[1,4,6] x) => (float[1,4,6] y) { y = Softsign(x) }", "activation add div", {1, 4, 6}},
        {"(float[2,3] x) => (float[4,3] y) { y = Concat<axis = 0>(x, x) }", "concat", {4, 3}},
        {"(float[1,4,8] x) => (float[1,4,8] y) { y = com.microsoft.Gelu(x) }", "activation", {1, 4, 8}},
    }));
    INFO(each.graph);
    const Imported imported = import(model_of(each.graph));
    INFO(imported.trace << notes(imported));
    const Graph graph = graph_of(imported.trace);
    CHECK(layers_of(graph) == each.layers);
    CHECK(elements(out_shape(graph)) == elements(each.out));
    CHECK(total_macs(graph).value() == each.macs);
    CHECK_THAT(notes(imported), Catch::Contains("; 0 listed"));
}

TEST_CASE("convolutions have the padding, strides and groups that they say") {
    struct Conv {
        std::string attributes;
        Shape in, weights, out;
        std::int64_t macs;
    };
    const Conv each = GENERATE(values<Conv>({
        {"", {1, 3, 8, 8}, {4, 3, 3, 3}, {1, 4, 6, 6}, 36 * 4 * 27},
        {"<auto_pad = \"SAME_UPPER\", strides = [2,2]>",
         {1, 3, 8, 8},
         {4, 3, 3, 3},
         {1, 4, 4, 4},
         16 * 4 * 27},
        {"<auto_pad = \"SAME_LOWER\">", {1, 3, 8, 8}, {4, 3, 2, 2}, {1, 4, 8, 8}, 64 * 4 * 12},
        {"<pads = [0,1,2,3], strides = [2,1], dilations = [1,2]>",
         {2, 4, 7, 9},
         {6, 2, 3, 2},
         {2, 6, 4, 11},
         0},
        {"<group = 4>", {1, 4, 6, 6}, {4, 1, 3, 3}, {1, 4, 4, 4}, 16 * 4 * 9},
        {"<pads = [2,2]>", {1, 3, 16}, {5, 3, 5}, {1, 5, 16}, 16 * 5 * 15},
        {"<pads = [1,1,1,1,1,1]>", {1, 2, 4, 5, 6}, {3, 2, 3, 3, 3}, {1, 3, 4, 5, 6}, 120 * 3 * 54},
    }));
    std::string in;
    for (const std::int64_t extent : each.in) in += (in.empty() ? "" : ",") + std::to_string(extent);
    const bool grouped = each.in[1] != each.weights[1];
    std::string told = each.attributes;
    if (grouped && told.find("group") == std::string::npos) told.insert(told.size() - 1, ", group = 2");
    auto model = model_of("(float[" + in + "] x) => (float y) { y = Conv" + told + "(x, w, b) }");
    store(model, "w", each.weights);
    store(model, "b", {each.weights[0]});
    const Imported imported = import(model);
    INFO(imported.trace << notes(imported));
    const Graph graph = graph_of(imported.trace);
    REQUIRE(graph.layers.size() == 1);
    const auto& conv = std::get<Conv2d>(graph.layers[0].op);
    CHECK(conv.bias);
    CHECK(elements(out_shape(graph)) == elements(each.out));
    CHECK(conv.out_c == each.out[1]);
    CHECK(conv.out_w() == each.out.back());
    if (each.macs > 0) CHECK(total_macs(graph).value() == each.macs);
}

TEST_CASE("what cannot be mapped is listed, cut off, and counted") {
    auto model = model_of(
        "(float[1,6] x) => (float[1,6] y) { a = Relu(x) b = com.example.Magic(a) c = NonZero(a) d = Neg(b) e "
        "= Cumulate(a) "
        "f = CumSum(d, k) y = Add(f, x) }");
    store_numbers(model, "k", {0});
    const Imported imported = import(model);
    const std::string told = notes(imported);
    CHECK_THAT(
        told, Catch::Contains(
                  "m.onnx: note: the node that makes 'b' (com.example.Magic): a trace has no such operator"));
    CHECK_THAT(told,
               Catch::Contains(
                   "the node that makes 'd' (Neg): it reads 'b', whose shape is not known: the node that "
                   "makes 'b' is not in the trace"));
    CHECK_THAT(told, Catch::Contains("1 of 7 nodes became 1 layer;"));
    CHECK_THAT(told, Catch::Contains("6 listed"));
    const Graph graph = graph_of(imported.trace);
    CHECK(layers_of(graph) == "activation");  // f has no shape, for d has none
}

TEST_CASE("nodes that reach no output are counted, but not those that became part of a layer") {
    const auto told = [](const std::string& graph) { return notes(import(model_of(graph))); };
    CHECK_THAT(told("(float[2,3] x) => (float[2,3] y) { y = Relu(x) a = Exp(x) b = Neg(a) }"),
               Catch::Contains("1 of 3 nodes became 1 layer; 0 are views or constants; 0 listed; 2 reach no "
                               "output and are not in the trace\n"));
    CHECK_THAT(told("(float[2,3] x) => (float[2,3] y) { a = Exp(x) s = Sigmoid(x) y = Mul(x, s) }"),
               Catch::Contains("2 of 3 nodes became 1 layer; 0 are views or constants; 0 listed; 1 reaches "
                               "no output and is not in the trace\n"));
    CHECK_THAT(told("(float[2,3] x) => (float[2,3] y) { s = Sigmoid(x) y = Mul(x, s) }"),
               Catch::Contains("2 of 2 nodes became 1 layer; 0 are views or constants; 0 listed\n"));
}

TEST_CASE("what is cut off feeds its readers from outside, if its shape is known") {
    auto model = model_of("(float[2,6] x) => (float[2,6] y) { a = Relu(x) f = CumSum(a, k) y = Add(f, x) }");
    store_numbers(model, "k", {0});
    const Graph graph = graph_of(import(model).trace);
    CHECK(layers_of(graph) == "activation add");
    CHECK(graph.inputs.size() == 2);
    CHECK(graph.outputs.size() == 2);
}

TEST_CASE("shapes that the model computes are folded") {
    auto model = model_of(
        "(float[2,3,4] x) => (float[6,4] y) { s = Shape(x) a = Gather<axis = 0>(s, zero) b = Gather<axis = "
        "0>(s, one) "
        "m = Mul(a, b) n = Concat<axis = 0>(m, minus) y = Reshape(x, n) z = Relu(y) }");
    store_numbers(model, "zero", {0});
    store_numbers(model, "one", {1});
    store_numbers(model, "minus", {-1});
    model.mutable_graph()->mutable_output(0)->set_name("z");
    const Graph graph = graph_of(import(model).trace);
    CHECK(layers_of(graph) == "activation");
    CHECK(elements(out_shape(graph)) == 24);
}

TEST_CASE("a known branch is taken, an unknown one asked for") {
    const std::string graph =
        "(float[2,3] x, bool c) => (float[2,3] y) { y = If (c) <then_branch = t () => (float[2,3] a) { a = "
        "Relu(x) }, "
        "else_branch = e () => (float[2,3] b) { d = Exp(x) b = Neg(d) }> }";
    CHECK_THAT(refusal(model_of(graph)),
               Catch::Contains("then: 1 node (1 Relu); else: 2 nodes (1 Exp, 1 Neg); choose "
                               "with --branch 'y=then' or '=else'"));
    CHECK(layers_of(graph_of(import(model_of(graph), {{}, {{"y", "then"}}}).trace)) == "activation");
    CHECK(layers_of(graph_of(import(model_of(graph), {{}, {{"y", "else"}}}).trace)) ==
          "activation activation");
}

TEST_CASE("a loop whose turns are known is written out") {
    auto model = model_of(
        "(float[2,3] x) => (float[2,3] y) { y, s = Loop (n, go, x) <body = b (int64 i, bool c, float[2,3] v) "
        "=> (bool k, "
        "float[2,3] w, float[2,3] u) { k = Identity(c) w = Exp(v) u = Neg(w) }> }");
    store_numbers(model, "n", {3});
    auto* go = model.mutable_graph()->add_initializer();
    go->set_name("go"), go->set_data_type(onnx::TensorProto::BOOL), go->add_int32_data(1);
    CHECK(layers_of(graph_of(import(model).trace)) == "activation activation activation");  // nobody reads u
}

TEST_CASE("models that cannot be are refused with the node's name") {
    CHECK_THAT(
        refusal(model_of("(float[2] x) => (float[2] y) { y = Add(x, z) z = Relu(y) }")),
        Catch::Contains("m.onnx: error: the node that makes 'y' (Add) waits for what it makes itself"));
    CHECK_THAT(refusal(model_of("(float[2] x) => (float[2] y) { y = Relu(x) y = Exp(x) }")),
               Catch::Contains("'y' is made twice, by the node that makes 'y'"));
    CHECK_THAT(refusal(model_of("(float[N] x) => (float[N] y) { y = Relu(x) }")),
               Catch::Contains(
                   "dimensions without an extent: N (of 'x'); give each one with --dim, as in --dim 'N=1'"));
    auto model = model_of("(float[2] x) => (float[2] y) { y = Add(x, w) }");
    store(model, "w", {-2});
    CHECK_THAT(refusal(model), Catch::Contains("tensor 'w' has a dimension of -2"));
    model.mutable_graph()->mutable_initializer(0)->set_dims(0, std::int64_t{1} << 60);
    CHECK_THAT(refusal(model), Catch::Contains("more than 2^56 elements"));
    auto dims = model_of("(float[2,3] x) => (float[2,3] y) { y = Relu(x) }");
    dims.mutable_graph()
        ->mutable_input(0)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(1)
        ->set_dim_value(-1);
    CHECK_THAT(refusal(dims), Catch::Contains("x.1 (of 'x', -1 in the file)"));
    CHECK(refusal(dims, {{{"x.1", 3}}, {}}).empty());
    auto name = model_of("(float[2] x) => (float[2] y) { y = Relu(x) }");
    name.mutable_graph()->mutable_node(0)->set_name("\xff\xfe");
    CHECK_THAT(refusal(name), Catch::Contains("the name of a node is not UTF-8: '\\xff\\xfe'"));
    CHECK_THAT(
        refusal(model_of("(float[2] x) => (float[2] y) { y = Unknown(x) }")),
        Catch::Contains(
            "nothing of it could be mapped: no layer is left; the node that makes 'y' (Unknown): a trace has "
            "no such operator"));
}

TEST_CASE("graphs within graphs, functions that call themselves and many turns end in words") {
    auto model = model_of("(float[2] x) => (float[2] y) { y = com.microsoft.Self(x) }");
    onnx::FunctionProto& self = *model.add_functions();
    self.set_name("Self"), self.set_domain("com.microsoft");
    self.add_input("x"), self.add_output("y");
    onnx::NodeProto call = model.graph().node(0);
    *self.add_node() = call;
    CHECK_THAT(refusal(model), Catch::Contains("nothing of it could be mapped"));
    // Twice itself: 2^32 calls but for the bound on nodes.
    call.set_output(0, "z");
    *self.add_node() = call;
    CHECK_THAT(refusal(model), Catch::Contains("m.onnx: error: "));
}

TEST_CASE("zeros wait for a convolution, and are joined to what others read") {
    auto model = model_of(
        "(float[1,3,6,6] x) => (float[1,4,6,6] y, float[1,3,8,8] p) { p = Pad(x, widths) y = Conv(p, w) z = "
        "Relu(p) }");
    store_numbers(model, "widths", {0, 0, 1, 1, 0, 0, 1, 1});
    store(model, "w", {4, 3, 3, 3});
    const Graph graph = graph_of(import(model).trace);
    CHECK(std::get<Conv2d>(graph.layers.at(0).op).pad == 1);
    CHECK(elements(graph.tensors[graph.outputs.at(1)].shape) == 3 * 8 * 8);
    auto rows = model_of("(float[2,3] x) => (float[3,6] y) { y = Pad<mode = \"edge\">(x, widths) }");
    store_numbers(rows, "widths", {0, 1, 1, 2});
    const Graph joined = graph_of(import(rows).trace);
    CHECK(elements(out_shape(joined)) == 3 * 6);
    CHECK_THAT(layers_of(joined), Catch::Contains("concat"));
}

TEST_CASE("steps and sizes at the ends of 64 bits are no more than the axis has") {
    auto model = model_of("(float[7,4] x) => (float[7,4] y) { a = Slice(x, s, e, axes, t) y = Relu(a) }");
    store_numbers(model, "s", {std::numeric_limits<std::int64_t>::min()});
    store_numbers(model, "e", {std::numeric_limits<std::int64_t>::max()});
    store_numbers(model, "axes", {0});
    store_numbers(model, "t", {std::numeric_limits<std::int64_t>::max()});
    CHECK(elements(out_shape(graph_of(import(model).trace))) == 4);
}
