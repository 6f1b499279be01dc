// SPDX-License-Identifier: Apache-2.0
// Operators of the vector unit with a file of their own: their shapes, and what is said about wrong ones.
#include "graphs.h"

using namespace systole;
using namespace systole::test;
using Catch::Contains;

namespace {

Graph layer_on(const std::string& shape, const std::string& layer, const std::string& dtype = "bf16") {
    return graph_of(trace_of(shape, "  - {name: out, " + layer + "}\n", dtype));
}

std::string told(const std::string& shape, const std::string& layer, const std::string& dtype = "bf16") {
    return mistakes_of(trace_of(shape, "  - {name: out, " + layer + "}\n", dtype));
}

}  // namespace

TEST_CASE("a rotary embedding stores a table of its positions and its row", "[workload]") {
    const Graph heads_inside = layer_on("[2, 9, 3, 8]", "op: rotary, axis: 1, weight_dtype: fp32");
    const auto inside = std::get<Rotary>(layer(heads_inside, "out").op);
    CHECK(std::vector{inside.outer, inside.seq, inside.heads, inside.dim} ==
          std::vector<std::int64_t>{2, 9, 3, 8});
    CHECK(tensor(heads_inside, "out").shape == Shape{2, 9, 3, 8});
    CHECK(tensor(heads_inside, "out.weights").shape == Shape{9, 8});
    CHECK(tensor(heads_inside, "out.weights").dtype == DType::Fp32);
    // without an axis, the last dimension but one: heads lie outside
    const auto outside = std::get<Rotary>(layer(layer_on("[2, 3, 9, 8]", "op: rotary"), "out").op);
    CHECK(std::vector{outside.outer, outside.seq, outside.heads, outside.dim} ==
          std::vector<std::int64_t>{6, 9, 1, 8});

    CHECK(told("[4, 7]", "op: rotary") ==
          "t:4:5: error: rotary 'out': turns pairs of elements, but a row has 7");
    CHECK(told("[8]", "op: rotary") ==
          "t:4:5: error: rotary 'out': reads at least 2 dimensions, [.., seq, dim], but 'x' is [8]");
    CHECK(told("[2, 4, 8]", "op: rotary, axis: 2") ==
          "t:4:35: error: rotary 'out': 'axis' must be 0 … 1, the dimension of positions in 'x' [2, 4, 8], "
          "not 2");
}

TEST_CASE("the greatest elements of a row are values, or int32 indices", "[workload]") {
    const Graph values = layer_on("[2, 3, 100]", "op: top_k, k: 5");
    CHECK(tensor(values, "out").shape == Shape{2, 3, 5});
    CHECK(tensor(values, "out").dtype == DType::Bf16);
    const auto op = std::get<TopK>(layer(values, "out").op);
    CHECK(op.rows == 6);
    CHECK(op.cols == 100);
    const Graph indices = layer_on("[2, 3, 100]", "op: top_k, k: 5, result: indices");
    CHECK(tensor(indices, "out").shape == Shape{2, 3, 5});
    CHECK(tensor(indices, "out").dtype == DType::Int32);
    CHECK(told("[2, 4]", "op: top_k, k: 5") ==
          "t:4:5: error: top_k 'out': a row of 4 has no 5 greatest elements");
    CHECK(told("[2, 4]", "op: top_k, k: 2, result: indices, out_dtype: int8") ==
          "t:4:62: error: top_k 'out': indices are int32; there is no choice");
}

TEST_CASE("recurrent cells read gates beside a state", "[workload]") {
    const std::string head =
        "trace: t\ninputs: {g: {shape: [5, GG], dtype: bf16}, s: {shape: [5, 8], dtype: bf16}}\n";
    const auto cell = [&](const std::string& gates, const std::string& keys) {
        std::string text = head + "layers: [{name: out, " + keys + "}]\noutputs: [out]\n";
        return text.replace(text.find("GG"), 2, gates);
    };
    const Graph lstm = graph_of(cell("32", "op: lstm_cell, in: [g, s]"));
    CHECK(tensor(lstm, "out").shape == Shape{5, 16});  // h and c
    CHECK(std::get<LstmCell>(layer(lstm, "out").op).batch == 5);
    CHECK(std::get<LstmCell>(layer(lstm, "out").op).hidden == 8);
    const Graph gru = graph_of(cell("24", "op: gru_cell, in: [g, g, s]"));
    CHECK(tensor(gru, "out").shape == Shape{5, 8});
    CHECK(
        mistakes_of(cell("24", "op: lstm_cell, in: [g, s]")) ==
        "t:3:10: error: lstm_cell 'out': beside the state 's' bf16 [5, 8] it reads bf16 [5, 32], but 'g' is "
        "bf16 [5, 24]");
    CHECK(mistakes_of(cell("24", "op: gru_cell, in: [g, s]")) ==
          "t:3:40: error: gru_cell 'out': reads 3 tensors, not 2");
}

TEST_CASE("a resize multiplies height and width, or names them", "[workload]") {
    const std::string map = "[2, 7, 5, 8]";
    CHECK(tensor(layer_on(map, "op: resize, kind: nearest, scale: 2"), "out").shape == Shape{2, 14, 10, 8});
    CHECK(tensor(layer_on(map, "op: resize, kind: bilinear, scale: [1, 3]"), "out").shape ==
          Shape{2, 7, 15, 8});
    CHECK(tensor(layer_on(map, "op: resize, kind: bilinear, size: [3, 20]"), "out").shape ==
          Shape{2, 3, 20, 8});
    CHECK(tensor(layer_on(map, "op: resize, kind: bilinear, size: 9"), "out").shape == Shape{2, 9, 9, 8});
    CHECK(told(map, "op: resize, kind: nearest") ==
          "t:4:5: error: resize 'out': 'scale' or 'size' is missing: expected n or [h, w]");
    CHECK(told(map, "op: resize, kind: nearest, scale: 2, size: 4") ==
          "t:4:51: error: resize 'out': 'scale' and 'size' say the same; give one of the two");
    CHECK(told("[7, 5]", "op: resize, kind: nearest, scale: 2") ==
          "t:4:5: error: resize 'out': reads a feature map [n, h, w, c], but 'x' is [7, 5]");
    CHECK(told(map, "op: resize, kind: nearest, scale: 500000000") ==
          "t:4:51: error: resize 'out': [2, 7, 5, 8] times [500000000, 500000000] has more than 2147483647 "
          "rows "
          "or columns");
    CHECK_THAT(told(map, "op: resize, kind: cubic, scale: 2"), Contains("must be one of: nearest, bilinear"));
}
