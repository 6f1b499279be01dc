// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: their shapes, and what is said about wrong ones.
#include "graphs.h"

using namespace systole;
using namespace systole::test;

namespace {

Graph graph_with(const std::string& inputs, const std::string& layer) {
    return graph_of("trace: t\ninputs: {" + inputs + "}\nlayers: [{name: out, " + layer +
                    "}]\noutputs: [out]\n");
}

std::string told(const std::string& inputs, const std::string& layer) {
    try {
        graph_with(inputs, layer);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a concatenation adds up one axis, the last without another word", "[workload]") {
    const std::string maps = "a: {shape: [2, 8, 8, 3], dtype: int8}, b: {shape: [2, 8, 8, 5], dtype: int8}";
    const Graph channels = graph_with(maps, "op: concat, in: [a, b, a]");
    CHECK(tensor(channels, "out").shape == Shape{2, 8, 8, 11});
    const auto op = std::get<Concat>(layer(channels, "out").op);
    CHECK(op.outer == 128);
    CHECK(op.inner == 1);
    CHECK(op.sizes == std::vector<std::int64_t>{3, 5, 3});

    const std::string rows = "a: {shape: [2, 4, 6], dtype: bf16}, b: {shape: [2, 1, 6], dtype: bf16}";
    const Graph sequence = graph_with(rows, "op: concat, in: [a, b], axis: 1");
    CHECK(tensor(sequence, "out").shape == Shape{2, 5, 6});
    CHECK(tensor(sequence, "out").dtype == DType::Bf16);
    CHECK(std::get<Concat>(layer(sequence, "out").op).inner == 6);
}

TEST_CASE("a slice has a beginning and a size, or is one of equal parts", "[workload]") {
    const std::string x = "x: {shape: [2, 12, 6], dtype: int8}";
    CHECK(tensor(graph_with(x, "op: slice, begin: 2, size: 3"), "out").shape == Shape{2, 12, 3});
    CHECK(tensor(graph_with(x, "op: slice, axis: 1, begin: 5"), "out").shape == Shape{2, 7, 6});
    const Graph third = graph_with(x, "op: slice, axis: 1, parts: 3, part: 2");
    CHECK(tensor(third, "out").shape == Shape{2, 4, 6});
    const auto op = std::get<Slice>(layer(third, "out").op);
    CHECK(std::vector{op.outer, op.inner, op.in, op.begin, op.size} ==
          std::vector<std::int64_t>{2, 6, 12, 8, 4});
}

TEST_CASE("what cannot be joined or cut is told with shapes and places", "[workload]") {
    const std::string two = "a: {shape: [2, 4], dtype: int8}, b: {shape: [3, 4], dtype: int8}";
    CHECK(told(two, "op: concat, in: [a, b]") ==
          "t:3:10: error: concat 'out': needs tensors that differ in axis 1 only, but 'a' is int8 [2, 4] and "
          "'b' is int8 [3, 4]");
    CHECK(told(two, "op: concat, in: [a, b], axis: 2") ==
          "t:3:52: error: concat 'out': 'axis' must be 0 … 1, a dimension of 'a' [2, 4], not 2");
    CHECK(told("a: {shape: [2, 4], dtype: int8}", "op: concat, in: a") ==
          "t:3:38: error: concat 'out': reads 2 or more tensors, not 1");
    CHECK(
        told("a: {shape: [2, 3], dtype: int4}, b: {shape: [2, 3], dtype: int4}", "op: concat, in: [a, b]") ==
        "t:3:10: error: concat 'out': nothing can stand behind 'a' [2, 3]: its rows of int4 end inside a "
        "byte");
    CHECK(told("a: {shape: [2000000000, 2], dtype: int8}", "op: concat, in: [a, a], axis: 0") ==
          "t:3:10: error: concat 'out': axis 0 would have more than 2147483647 indices");
    const std::string x = "x: {shape: [2, 12], dtype: int8}";
    CHECK(
        told(x, "op: slice") ==
        "t:3:10: error: slice 'out': 'size' is missing: expected 'begin' and 'size', or 'parts' and 'part'");
    CHECK(told(x, "op: slice, begin: 8, size: 5") ==
          "t:3:49: error: slice 'out': 5 from 8 on reach beyond the axis of 12");
    CHECK(told(x, "op: slice, begin: 12") ==
          "t:3:40: error: slice 'out': 1 from 12 on reach beyond the axis of 12");
    CHECK(told(x, "op: slice, parts: 5, part: 0") ==
          "t:3:40: error: slice 'out': 5 parts do not divide the axis of 12");
    CHECK(told(x, "op: slice, parts: 3, part: 3") ==
          "t:3:49: error: slice 'out': 'part' must be 0 … 2, not 3");
    CHECK(told(x, "op: slice, parts: 3, part: 1, size: 4") ==
          "t:3:58: error: slice 'out': 'parts' and 'part' say it all; give them, or 'begin' and 'size'");
    CHECK(told("x: {shape: [2, 12], dtype: int4}", "op: slice, begin: 3, size: 5") ==
          "t:3:10: error: slice 'out': column 3 of 'x' begins inside a byte of int4");
    CHECK(told(x, "op: slice, size: 4, out_dtype: bf16").find("unknown key 'out_dtype'") !=
          std::string::npos);
}

TEST_CASE("a gather takes rows of a matrix by indices of any shape", "[workload]") {
    const std::string both = "m: {shape: [50, 8], dtype: bf16}, i: {shape: [2, 3], dtype: int32}";
    const Graph graph = graph_with(both, "op: gather, in: [m, i], spread: random");
    CHECK(tensor(graph, "out").shape == Shape{2, 3, 8});
    CHECK(tensor(graph, "out").dtype == DType::Bf16);
    const auto op = std::get<Gather>(layer(graph, "out").op);
    CHECK(op.rows == 50);
    CHECK(op.lookups == 6);
    CHECK(op.spread == Spread::Random);
    CHECK(told(both, "op: gather, in: [i, m]") ==
          "t:3:10: error: gather 'out': reads int32 indices, but 'm' is bf16");
    CHECK(told("m: {shape: [5, 50, 8], dtype: bf16}, i: {shape: [2], dtype: int32}",
               "op: gather, in: [m, i]") ==
          "t:3:10: error: gather 'out': reads rows of [rows, width], but 'm' is [5, 50, 8]");
}

TEST_CASE("bags of lookups become one row each", "[workload]") {
    const std::string indices = "i: {shape: [16, 12], dtype: int32}";
    const std::string table = "op: embedding, vocabulary: 100, width: 8, dtype: fp32";
    CHECK(tensor(graph_with(indices, table + ", bag: 12"), "out").shape == Shape{16, 1, 8});
    CHECK(tensor(graph_with(indices, table + ", bag: 4"), "out").shape == Shape{16, 3, 8});
    const auto op = std::get<Embedding>(layer(graph_with(indices, table + ", bag: 4"), "out").op);
    CHECK(op.lookups == 192);
    CHECK(op.bag == 4);
    CHECK(told(indices, table + ", bag: 5") ==
          "t:3:82: error: embedding 'out': bags of 5 do not divide the 12 indices of a row of 'i' [16, 12]");
}
