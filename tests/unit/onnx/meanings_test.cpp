// SPDX-License-Identifier: Apache-2.0
// What operators mean where their inputs are unusual: shapes and layers by hand.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "tests/unit/onnx/models.h"

using namespace systole;
using namespace systole::test;

namespace {

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

}  // namespace

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

TEST_CASE("a shape that the file records otherwise is told") {
    const auto model = model_of("(float[2,3] x) => (float[2,4] y) { y = Relu(x) }");
    CHECK_THAT(notes(import(model)),
               Catch::Contains("what it makes, 'y', is [2, 3], and the file records [2, 4]"));
}
