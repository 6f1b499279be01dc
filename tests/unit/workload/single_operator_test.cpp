// SPDX-License-Identifier: Apache-2.0
#include "graphs.h"

using namespace systole;
using namespace systole::test;

namespace {

using Columns = std::map<std::string, std::string>;

std::string mistakes_in(const std::string& op, const Columns& columns) {
    try {
        single_operator(op, columns, {"rows.csv", 3, 1});
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a single matmul has stored weights", "[workload]") {
    const Graph graph =
        single_operator("matmul", {{"m", "3"}, {"n", "5"}, {"k", "7"}, {"dtype", "int8"}}, {});
    CHECK(total_macs(graph) == Macs(105));
    CHECK(tensor(graph, "a").shape == Shape{3, 7});
    CHECK(tensor(graph, "matmul.weights").shape == Shape{7, 5});
    CHECK(tensor(graph, "matmul").shape == Shape{3, 5});
    CHECK(graph.outputs.size() == 1);
}

TEST_CASE("a batch of matmuls multiplies two activations", "[workload]") {
    const Graph graph = single_operator("matmul", {{"m", "3"}, {"n", "5"}, {"k", "7"}, {"batch", "2"}}, {});
    CHECK(tensor(graph, "b").shape == Shape{2, 7, 5});
    CHECK(tensor(graph, "b").dtype == DType::Bf16);
    CHECK(tensor(graph, "matmul").shape == Shape{2, 3, 5});
    CHECK_FALSE(graph.layers.at(0).weights);
    CHECK(total_macs(graph) == Macs(210));
}

TEST_CASE("a single product has a bias and a function behind it where its columns say so", "[workload]") {
    const Columns plain = {{"m", "3"}, {"n", "5"}, {"k", "7"}};
    Columns both = plain, neither = plain;
    both.insert({{"bias", "true"}, {"activation", "gelu"}});
    neither.insert({{"bias", "false"}, {"activation", "none"}});
    const Graph graph = single_operator("matmul", both, {});
    CHECK(tensor(graph, "matmul.bias").shape == Shape{5});
    CHECK(tensor(graph, "matmul.bias").dtype == DType::Fp32);
    CHECK(std::get<MatMul>(graph.layers.at(0).op).post == Function::Gelu);
    CHECK(graph.layers.size() == 1);
    for (const Columns& columns : {plain, neither}) {
        const Graph bare = single_operator("matmul", columns, {});
        CHECK_FALSE(bare.layers.at(0).bias);
        CHECK(std::get<MatMul>(bare.layers.at(0).op).post == Function::None);
    }
}

TEST_CASE("a single convolution has a bias and a function, a single sum a function", "[workload]") {
    Columns conv = {{"h", "4"}, {"w", "4"}, {"c", "2"}, {"k", "6"}, {"r", "2"}, {"s", "2"}};
    conv.insert({{"bias", "true"}, {"activation", "relu"}});
    const Graph images = single_operator("conv2d", conv, {});
    CHECK(tensor(images, "conv2d.bias").shape == Shape{6});
    CHECK(std::get<Conv2d>(images.layers.at(0).op).post == Function::Relu);
    const Graph larger = single_operator("conv_transpose", conv, {});
    CHECK(tensor(larger, "conv_transpose.bias").shape == Shape{6});
    CHECK(std::get<ConvTranspose>(larger.layers.at(0).op).post == Function::Relu);
    conv.insert({{"d", "4"}, {"t", "2"}});
    const Graph volumes = single_operator("conv3d", conv, {});
    CHECK(tensor(volumes, "conv3d.bias").shape == Shape{6});
    CHECK(std::get<Conv2d>(volumes.layers.at(0).op).post == Function::Relu);
    const Graph sum =
        single_operator("elementwise", {{"kind", "add"}, {"elements", "9"}, {"activation", "tanh"}}, {});
    CHECK(std::get<Elementwise>(sum.layers.at(0).op).post == Function::Tanh);
}

TEST_CASE("a mistake in a column is told where the column is, others where the operator is", "[workload]") {
    const std::map<std::string, SourceMark> places = {
        {"op", {"rows.csv", 3, 1}}, {"m", {"rows.csv", 3, 8}}, {"bias", {"rows.csv", 4, 2}}};
    const auto told = [&](const std::string& op, const Columns& columns) -> std::string {
        try {
            single_operator(op, columns, {"rows.csv", 3, 5}, places);
        } catch (const UserError& error) {
            return error.what();
        }
        return "";
    };
    CHECK_THAT(told("matmul", {{"m", "0"}, {"n", "5"}, {"k", "7"}}),
               Catch::StartsWith("rows.csv:3:8: error: ") && Catch::Contains("'m'"));
    CHECK_THAT(told("matmul", {{"m", "3"}, {"n", "5"}, {"k", "7"}, {"bias", "1"}}),
               Catch::StartsWith("rows.csv:4:2: error: ") && Catch::Contains("'bias'"));
    CHECK_THAT(told("matmul", {{"m", "3"}, {"n", "5"}}), Catch::StartsWith("rows.csv:3:5: error: "));
    CHECK_THAT(told("matmull", {{"m", "3"}}), Catch::StartsWith("rows.csv:3:1: error: "));
}

TEST_CASE("a bias or a function that a single operator cannot have is refused", "[workload]") {
    const Columns product = {{"m", "3"}, {"n", "5"}, {"k", "7"}};
    const auto with = [&](const std::string& key, const std::string& text) {
        Columns columns = product;
        columns[key] = text;
        return columns;
    };
    CHECK_THAT(mistakes_in("matmul", with("bias", "yes")), Catch::Contains("'bias' must be true or false"));
    CHECK_THAT(mistakes_in("matmul", with("activation", "gleu")), Catch::Contains("did you mean 'gelu'?"));
    for (const std::string key : {"bias", "activation"}) {
        Columns batched = with("batch", "2");
        batched[key] = key == "bias" ? "true" : "relu";
        CHECK_THAT(mistakes_in("matmul", batched), Catch::Contains("'" + key + "' goes with stored weights"));
        batched[key] = key == "bias" ? "false" : "none";
        CHECK(mistakes_in("matmul", batched).empty());
    }
    CHECK_THAT(mistakes_in("softmax", {{"rows", "2"}, {"cols", "3"}, {"bias", "true"}}),
               Catch::Contains("unknown key 'bias'"));
}

TEST_CASE("a single operator's operands may differ in dtype", "[workload]") {
    const Graph graph = single_operator(
        "matmul",
        {{"m", "3"}, {"n", "5"}, {"k", "7"}, {"dtype_a", "fp16"}, {"dtype_b", "int4"}, {"dtype_out", "fp32"}},
        {});
    CHECK(tensor(graph, "a").dtype == DType::Fp16);
    CHECK(tensor(graph, "matmul.weights").dtype == DType::Int4);
    CHECK(tensor(graph, "matmul").dtype == DType::Fp32);
}

TEST_CASE("a single convolution reads the columns of the format", "[workload]") {
    const Graph graph = single_operator("conv2d",
                                        {{"n", "2"},
                                         {"h", "9"},
                                         {"w", "8"},
                                         {"c", "4"},
                                         {"k", "6"},
                                         {"r", "3"},
                                         {"s", "1"},
                                         {"stride", "2"},
                                         {"pad", "1"},
                                         {"dilation", "2"},
                                         {"groups", "2"},
                                         {"batch", ""}},
                                        {});
    CHECK(tensor(graph, "conv2d").shape == Shape{2, 4, 5, 6});  // (9+2-5)/2+1, (8+2-1)/2+1
    CHECK(tensor(graph, "conv2d.weights").shape == Shape{6, 3, 1, 2});
}

TEST_CASE("a convolution may count the window that reaches beyond its input", "[workload]") {
    const auto conv = [](const std::string& h, const std::string& stride, const std::string& pad,
                         const std::string& round_up) {
        return tensor(single_operator("conv2d",
                                      {{"n", "1"},
                                       {"h", h},
                                       {"w", "5"},
                                       {"c", "2"},
                                       {"k", "3"},
                                       {"r", "3"},
                                       {"s", "5"},
                                       {"stride", stride},
                                       {"pad", pad},
                                       {"round_up", round_up}},
                                      {}),
                      "conv2d")
            .shape[1];
    };
    CHECK(conv("8", "2", "0", "false") == 3);  // rows 0-2, 2-4, 4-6
    CHECK(conv("8", "2", "0", "true") == 4);   // and 6-8, of which 8 is padding
    CHECK(conv("9", "2", "0", "true") == 4);   // it fits
    CHECK(conv("3", "4", "0", "true") == 1);
    CHECK(conv("4", "4", "1", "true") == 2);  // -1-1, 3-5
}

TEST_CASE("vector operators stand alone too", "[workload]") {
    const auto [op, columns, output] = GENERATE(table<std::string, Columns, Shape>({
        {"softmax", {{"rows", "4"}, {"cols", "9"}}, {4, 9}},
        {"norm", {{"kind", "rms"}, {"rows", "4"}, {"cols", "9"}}, {4, 9}},
        {"pool",
         {{"kind", "max"}, {"n", "1"}, {"h", "7"}, {"w", "6"}, {"c", "3"}, {"r", "2"}, {"s", "2"}},
         {1, 3, 3, 3}},
        {"elementwise", {{"kind", "mul"}, {"elements", "100"}}, {100}},
        {"activation", {{"function", "gelu"}, {"elements", "100"}}, {100}},
        {"reduce", {{"kind", "mean"}, {"rows", "4"}, {"cols", "9"}}, {4, 1}},
        {"transpose", {{"rows", "4"}, {"cols", "9"}}, {9, 4}},
        {"resize",
         {{"kind", "nearest"}, {"h", "7"}, {"w", "6"}, {"c", "3"}, {"out_h", "14"}, {"out_w", "9"}},
         {1, 14, 9, 3}},
        {"rotary", {{"batch", "2"}, {"seq", "9"}, {"heads", "3"}, {"dim", "8"}}, {2, 9, 3, 8}},
        {"top_k", {{"rows", "4"}, {"cols", "9"}, {"k", "2"}}, {4, 2}},
        {"lstm_cell", {{"batch", "4"}, {"hidden", "9"}}, {4, 18}},
        {"gru_cell", {{"batch", "4"}, {"hidden", "9"}}, {4, 9}},
        {"embedding", {{"vocabulary", "50"}, {"width", "8"}, {"lookups", "12"}, {"bag", "4"}}, {3, 8}},
        {"gather", {{"rows", "50"}, {"width", "8"}, {"lookups", "12"}, {"spread", "random"}}, {12, 8}},
        {"slice", {{"rows", "4"}, {"cols", "9"}, {"begin", "2"}, {"size", "3"}}, {4, 3}},
        {"embedding", {{"vocabulary", "50"}, {"width", "8"}, {"lookups", "3"}}, {3, 8}},
    }));
    const Graph graph = single_operator(op, columns, {});
    CHECK(op_name(graph.layers.at(0).op) == op);
    CHECK(graph.tensors[graph.outputs.at(0)].shape == output);
    CHECK(total_macs(graph) == Macs(0));
}

TEST_CASE("attention is asked for by its lengths", "[workload]") {
    const Graph graph = single_operator("attention",
                                        {{"batch", "2"},
                                         {"q_len", "3"},
                                         {"kv_len", "7"},
                                         {"heads", "4"},
                                         {"kv_heads", "2"},
                                         {"head_dim", "8"},
                                         {"causal", "true"}},
                                        {});
    CHECK(tensor(graph, "b").shape == Shape{2, 7, 16});
    CHECK(tensor(graph, "b").role == TensorRole::Input);
    CHECK(total_macs(graph) == Macs(2 * 2 * 4 * (5 + 6 + 7) * 8));
    const Graph cache = single_operator(
        "attention",
        {{"q_len", "1"}, {"kv_len", "7"}, {"head_dim", "8"}, {"cache", "true"}, {"fused", "false"}}, {});
    CHECK(tensor(cache, "c").shape == Shape{1, 1, 7, 8});
    CHECK(tensor(cache, "c").role == TensorRole::KvCache);
    CHECK(cache.layers.size() == 3);
    CHECK(mistakes_in("attention",
                      {{"q_len", "1"}, {"kv_len", "1"}, {"heads", "2000000"}, {"head_dim", "2000"}})
              .substr(0, 90) ==
          "rows.csv:3:1: error: attention: 2000000 heads of 2000 elements are a row of more than 2147");
}

TEST_CASE("a slice of columns stays inside its row", "[workload]") {
    CHECK(mistakes_in("slice", {{"rows", "4"}, {"cols", "9"}, {"begin", "7"}, {"size", "3"}}) ==
          "rows.csv:3:1: error: slice: 3 from 7 on reach beyond the 9 columns");
}

TEST_CASE("gates of a cell stay within a dimension", "[workload]") {
    CHECK(mistakes_in("gru_cell", {{"hidden", "600000000"}}) ==
          "rows.csv:3:1: error: gru_cell: 'hidden' must be at most 536870911, not 600000000: gates are rows "
          "of four");
}

TEST_CASE("wrong columns of a single operator are told with the row", "[workload]") {
    CHECK(
        mistakes_in("matmull", {}) ==
        "rows.csv:3:1: error: unknown operator 'matmull' (did you mean 'matmul'?); expected one of: matmul, "
        "conv2d, conv3d, conv_transpose, pool, elementwise, softmax, norm, activation, reduce, transpose, "
        "embedding, "
        "gather, "
        "slice, resize, "
        "rotary, top_k, lstm_cell, gru_cell, attention, collective, quantize, dequantize");
    CHECK(mistakes_in("matmul", {{"m", "0"}, {"n", "5"}, {"k", "7"}}) ==
          "rows.csv:3:1: error: matmul: 'm' must be 1 … 2,147,483,647, not 0");
    CHECK(mistakes_in("matmul", {{"m", "4"}, {"n", "5"}}) ==
          "rows.csv:3:1: error: matmul: 'k' is missing: expected an integer");
    CHECK_THAT(mistakes_in("matmul", {{"m", "4"}, {"n", "5"}, {"k", "7"}, {"batc", "2"}}),
               Catch::StartsWith("rows.csv:3:1: error: matmul: unknown key 'batc' (did you mean 'batch'?)"));
    CHECK(mistakes_in("matmul", {{"m", "2147483647"}, {"n", "2147483647"}, {"k", "3"}}) ==
          "rows.csv:3:1: error: matmul 'matmul': has more than 2^63 multiply-accumulates");
    CHECK(mistakes_in("conv2d",
                      {{"n", "1"}, {"h", "4"}, {"w", "4"}, {"c", "3"}, {"k", "4"}, {"r", "5"}, {"s", "5"}}) ==
          "rows.csv:3:1: error: conv2d 'conv2d': the kernel [5, 5] is larger than the padded input [4, 4]");
}
