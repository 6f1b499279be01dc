// SPDX-License-Identifier: Apache-2.0
// Weights with scales and sparse weights: what they take, what traces say of them, what is wrong with that.
#include <limits>

#include "graphs.h"
#include "sim/workload/allocation.h"

using namespace systole;
using namespace systole::test;

namespace {

WeightFormat groups_of(std::int64_t group, DType scale = DType::Bf16) {
    return {Scales::Group, group, scale};
}

WeightFormat pattern(std::int64_t kept, std::int64_t of) {
    WeightFormat format;
    format.kept = kept, format.of = of;
    return format;
}

std::string told(const std::string& keys, const std::string& dtype = "bf16") {
    return mistakes_of(trace_of("[8, 24]", "  - {name: out, " + keys + "}\n", dtype));
}

}  // namespace

TEST_CASE("a weight takes its number, its place in a pattern and its share of a scale", "[workload]") {
    CHECK(bits_per_weight(DType::Int4, {}) == BitsPerWeight{4, 1});
    CHECK(bits_per_weight(DType::Int4, {Scales::Channel}) == BitsPerWeight{4, 1});
    CHECK(bits_per_weight(DType::Int4, groups_of(32)) == BitsPerWeight{9, 2});                 // 4 + 16 / 32
    CHECK(bits_per_weight(DType::Int8, groups_of(128, DType::Fp32)) == BitsPerWeight{33, 4});  // 8 + 32 / 128
    CHECK(bits_per_weight(DType::Bf16, pattern(2, 4)) == BitsPerWeight{9, 1});                 // (16 + 2) / 2
    CHECK(bits_per_weight(DType::Int8, pattern(2, 4)) == BitsPerWeight{5, 1});
    CHECK(bits_per_weight(DType::Int8, pattern(1, 3)) == BitsPerWeight{10, 3});  // two bits tell three places
    CHECK(bits_per_weight(DType::Bf16, pattern(4, 8)) == BitsPerWeight{19, 2});
    WeightFormat both = groups_of(32);
    both.kept = 2, both.of = 4;
    CHECK(bits_per_weight(DType::Int4, both) == BitsPerWeight{7, 2});  // (4 + 2) / 2 + 16 / 32
}

TEST_CASE("scales come with every tile that needs them", "[workload]") {
    CHECK(bits_per_weight(DType::Int4, groups_of(256), 128) == BitsPerWeight{33, 8});  // 4 + 16 / 128
    CHECK(bits_per_weight(DType::Int4, groups_of(32), 128) == BitsPerWeight{9, 2});
}

TEST_CASE("rows of packed weights end at whole bytes, and count beyond what bits can", "[workload]") {
    CHECK(row_bytes(BitsPerWeight{9, 2}, 2) == Bytes(2));
    CHECK(row_bytes(BitsPerWeight{9, 2}, 16) == Bytes(9));
    CHECK(row_bytes(BitsPerWeight{10, 3}, 1) == Bytes(1));
    CHECK(row_bytes(BitsPerWeight{33, 4}, std::int64_t{1} << 60) == Bytes((std::int64_t{1} << 60) / 32 * 33));
}

TEST_CASE("a trace says how weights are stored", "[workload]") {
    const Graph graph = graph_of(trace_of(
        "[8, 24]",
        "  - {name: a, op: matmul, n: 16, weight_dtype: int4, scales: group, group: 8, scale_dtype: fp16}\n"
        "  - {name: b, op: matmul, n: 6, weight_dtype: fp8, scales: channel}\n"
        "  - {name: c, op: matmul, n: 12, scales: tensor, weight_dtype: int8}\n"
        "  - {name: out, op: matmul, n: 4, sparsity: 1:4}\n",
        "bf16"));
    CHECK(tensor(graph, "a.weights").format == groups_of(8, DType::Fp16));
    CHECK(stored_bytes(tensor(graph, "a.weights")) == Bytes(24 * 16 / 2 + 3 * 16 * 2));
    CHECK_FALSE(layer(graph, "a").scales);
    CHECK(tensor(graph, "b.scales").shape == Shape{6});
    CHECK(tensor(graph, "b.scales").dtype == DType::Bf16);
    CHECK(stored_bytes(tensor(graph, "b.weights")) == Bytes(16 * 6));
    CHECK_FALSE(layer(graph, "c").scales);
    CHECK(stored_bytes(tensor(graph, "out.weights")) == Bytes(12 / 4 * 4 * (16 + 2) / 8));
    CHECK(macs(layer(graph, "out").op) == Macs(8 * 12 / 4 * 4));
}

TEST_CASE("only the weights that are kept are multiplied", "[workload]") {
    const Graph conv = graph_of(trace_of(
        "[2, 9, 9, 8]", "  - {name: out, op: conv2d, filters: 6, kernel: 3, pad: 1, sparsity: 2:4}\n"));
    CHECK(macs(layer(conv, "out").op) == Macs(2 * 9 * 9 * 6 * 9 * 8 / 2));
}

TEST_CASE("unfused, a layer makes the weights and the product reads them", "[workload]") {
    const Graph graph = graph_of(trace_of("[2, 8, 24]",
                                          "  - {name: out, op: matmul, n: 16, weight_dtype: int4, scales: "
                                          "group, group: 8, fused: false, bias: true}\n",
                                          "bf16"));
    REQUIRE(graph.layers.size() == 2);
    CHECK(graph.layers[0].name == "out.dequantize");
    CHECK(tensor(graph, "out.weights").dtype == DType::Int4);
    CHECK(tensor(graph, "out.weights").role == TensorRole::Weights);
    CHECK(tensor(graph, "out.dequantize.scales").shape == Shape{3, 16});
    CHECK(tensor(graph, "out.dequantize").dtype == DType::Bf16);
    CHECK(tensor(graph, "out.dequantize").shape == Shape{24, 16});
    CHECK(std::get<MatMul>(graph.layers[1].op).m == 16);
    CHECK(graph.layers[1].bias);
    CHECK(total_macs(graph) == Macs(16 * 24 * 16));
}

TEST_CASE("activations are quantized and dequantized by layers", "[workload]") {
    const Graph graph = graph_of(
        trace_of("[2, 8, 24]",
                 "  - {name: q, op: quantize, out_dtype: fp8}\n"
                 "  - {name: out, op: dequantize, out_dtype: bf16, scales: channel, scale_dtype: fp32}\n",
                 "bf16"));
    CHECK(tensor(graph, "q").dtype == DType::Fp8);
    CHECK_FALSE(layer(graph, "q").scales);
    CHECK(std::get<Scaling>(layer(graph, "q").op).rows == 16);
    CHECK(tensor(graph, "out.scales").shape == Shape{24});
    CHECK(tensor(graph, "out.scales").dtype == DType::Fp32);
    CHECK(total_macs(graph) == Macs(0));
}

TEST_CASE("formats that cannot be are refused at their place", "[workload]") {
    CHECK(told("op: matmul, n: 4, sparsity: 2:5") ==
          "t:4:5: error: matmul 'out': the sparsity 2:5 does not divide the 24 rows of its weights (K)");
    CHECK(told("op: matmul, n: 4, scales: group, group: 7") ==
          "t:4:5: error: matmul 'out': groups of 7 that share a scale do not divide the 24 rows of its "
          "weights (K)");
    for (const char* wrong : {"4:2", "2:2", "0:4", "2", "2:40", "a:b", "'2 :4'", "02:4"})
        CHECK_THAT(told(std::string("op: matmul, n: 4, sparsity: ") + wrong),
                   Catch::Contains("is not a pattern N:M") && Catch::StartsWith("t:4:45: error"));
    CHECK_THAT(told("op: matmul, n: 4, scales: group"), Catch::Contains("'group' is missing"));
    CHECK_THAT(told("op: matmul, n: 4, scales: channels, group: 2"),
               Catch::Contains("(did you mean 'channel'?)") && Catch::Contains("'group' goes with"));
    CHECK_THAT(told("op: matmul, n: 4, scales: tensor, group: 3"),
               Catch::Contains("'group' goes with 'scales: group' and 'scales: block'"));
    CHECK_THAT(told("op: matmul, n: 4, scales: tensor, scale_dtype: bf16"),
               Catch::Contains("no other scale is stored"));
    CHECK_THAT(told("op: matmul, n: 4, scales: channel, scale_dtype: int8"),
               Catch::Contains("scales are floating-point numbers, not int8"));
    CHECK_THAT(told("op: matmul, n: 4, scales: group, group: 8", "int8"),
               Catch::Contains("which must be a floating-point one; 'x' is int8"));
    CHECK_THAT(told("op: matmul, n: 4, fused: false"),
               Catch::Contains("'fused: false' is for weights with 'scales'"));
    CHECK_THAT(told("op: matmul, n: 4, fused: false, scales: tensor, sparsity: 2:4"),
               Catch::Contains("give no 'sparsity' with it"));
    CHECK_THAT(told("op: matmul, n: 4, fused: false, scales: group, group: 7"),
               Catch::Contains("cannot be: groups of 7 that share a scale do not divide"));
    CHECK_THAT(told("op: quantize"), Catch::Contains("'out_dtype' is missing"));
    CHECK_THAT(told("op: quantize, out_dtype: int8, scales: none"),
               Catch::Contains("nothing to do without scales"));
    CHECK_THAT(told("op: quantize, out_dtype: int4", "int8"),
               Catch::Contains("reads floating-point numbers"));
    CHECK_THAT(told("op: dequantize, out_dtype: int32", "int8"),
               Catch::Contains("makes floating-point numbers"));
    CHECK_THAT(told("op: dequantize, out_dtype: bf16, scales: group, group: 3", "int8"),
               Catch::Contains("groups of 3 that share a scale do not divide the 8 rows"));
    const auto conv = [](const std::string& keys) {
        return mistakes_of(
            trace_of("[1, 5, 5, 6]", "  - {name: out, op: conv2d, kernel: 3, " + keys + "}\n"));
    };
    CHECK_THAT(conv("filters: 4, sparsity: 2:4"), Catch::Contains("does not divide the 6 input channels"));
    CHECK_THAT(conv("filters: 4, groups: 2, sparsity: 1:2"),
               Catch::Contains("the 3 input channels of a group"));
    CHECK_THAT(conv("filters: 4, scales: group, group: 2"), Catch::Contains("give 'scales: channel'"));
    CHECK_THAT(conv("filters: 6, depthwise: true, scales: channel"),
               Catch::Contains("have neither scales nor sparsity"));
}

TEST_CASE("numbers in blocks have their scales beside them, weights and activations alike", "[workload]") {
    CHECK(bits_per_weight(DType::Fp4, {Scales::Block, 16, DType::Fp8}) == BitsPerWeight{9, 2});   // NVFP4
    CHECK(bits_per_weight(DType::Fp4, {Scales::Block, 32, DType::Fp8}) == BitsPerWeight{17, 4});  // MXFP4
    CHECK(bits_per_weight(DType::Fp8, {Scales::Block, 32, DType::Fp8}) == BitsPerWeight{33, 4});  // MXFP8
    const Graph graph =
        graph_of(trace_of("[8, 64]",
                          "  - {name: q, op: quantize, out_dtype: fp4, scales: block, group: 16}\n"
                          "  - {name: rows, op: reshape, shape: [2, 4, 64]}\n"
                          "  - {name: out, op: matmul, n: 6, scales: block, group: 16, bias: true}\n",
                          "bf16"));
    CHECK(tensor(graph, "q").dtype == DType::Fp4);
    CHECK(tensor(graph, "q").format == WeightFormat{Scales::Block, 16, DType::Fp8});
    CHECK(stored_bytes(tensor(graph, "q")) == Bytes(8 * 64 / 2 + 8 * 64 / 16));
    CHECK(tensor(graph, "rows").format == tensor(graph, "q").format);
    CHECK_FALSE(layer(graph, "q").scales);
    CHECK(stored_bytes(tensor(graph, "out.weights")) == Bytes(64 * 6 / 2 + 64 * 6 / 16));
    CHECK(tensor(graph, "out.weights").dtype == DType::Fp4);
    CHECK_FALSE(layer(graph, "out").scales);
    // Results have no scales: 16 bits, if nobody says more.
    CHECK(tensor(graph, "out").dtype == DType::Bf16);
    CHECK(tensor(graph, "out").format == WeightFormat{});
}

TEST_CASE("an input may come in blocks, and dequantize makes plain numbers of them", "[workload]") {
    const std::string in = "trace: t\ninputs:\n  x: {shape: [3, 32], dtype: fp8, scales: block, group: ";
    const Graph graph =
        graph_of(in +
                 "32}\nlayers:\n"
                 "  - {name: out, op: dequantize, out_dtype: bf16, scales: block, group: 32}\n"
                 "outputs: [out]\n");
    CHECK(stored_bytes(tensor(graph, "x")) == Bytes(3 * 33));
    CHECK(stored_bytes(tensor(graph, "out")) == Bytes(3 * 64));
    CHECK_THAT(mistakes_of(in + "24}\nlayers:\n  - {name: out, op: matmul, n: 2}\noutputs: [out]\n"),
               Catch::Contains("blocks of 24 that share a scale do not divide the 32 columns"));
}

TEST_CASE("numbers in blocks meet only what reads their scales", "[workload]") {
    CHECK_THAT(told("op: matmul, n: 4, scales: block, group: 8"),
               Catch::Contains("reads numbers in blocks of 8 with fp8 scales, but 'x' has no scales"));
    CHECK_THAT(told("op: matmul, n: 4, scales: block, group: 8", "int8"),
               Catch::Contains("numbers in blocks are floating-point ones, but 'x' is int8"));
    const auto behind = [](const std::string& keys) {
        return mistakes_of(trace_of("[8, 24]",
                                    "  - {name: q, op: quantize, out_dtype: fp4, scales: block, group: 8}\n"
                                    "  - {name: out, " +
                                        keys + "}\n",
                                    "bf16"));
    };
    CHECK_THAT(behind("op: matmul, n: 4"),
               Catch::Contains("reads plain numbers, but 'q' has blocks of 8 with fp8 scales"));
    CHECK_THAT(behind("op: softmax"), Catch::Contains("reads plain numbers"));
    CHECK_THAT(behind("op: dequantize, out_dtype: bf16"), Catch::Contains("give 'scales: block, group: 8'"));
    CHECK_THAT(behind("op: elementwise, kind: add, in: [q, q]"), Catch::Contains("reads plain numbers"));
    CHECK_THAT(behind("op: matmul, n: 4, scales: block, group: 12"),
               Catch::Contains("has blocks of 12 with fp8 scales, but 'q' has blocks of 8"));
    CHECK_THAT(behind("op: matmul, n: 4, scales: block, group: 8, scale_dtype: bf16"),
               Catch::Contains("has blocks of 8 with bf16 scales"));
    CHECK_THAT(behind("op: matmul, n: 4, scales: block, group: 8, fused: false"),
               Catch::Contains("activations without scales"));
    CHECK_THAT(behind("op: reshape, shape: [48, 4]"),
               Catch::Contains("blocks of 8 with fp8 scales of 'q' would lie across rows of [48, 4]"));
    CHECK_THAT(told("op: quantize, out_dtype: fp4, scales: block, group: 7"),
               Catch::Contains("blocks of 7 that share a scale do not divide the 24 columns"));
    CHECK_THAT(told("op: quantize, out_dtype: fp4, scales: block"), Catch::Contains("'group' is missing"));
    CHECK_THAT(mistakes_of(trace_of("[1, 5, 5, 6]",
                                    "  - {name: out, op: conv2d, kernel: 3, filters: 4, scales: block, "
                                    "group: 2}\n")),
               Catch::Contains("scales of blocks are those of a matmul"));
}

TEST_CASE("packed weights lie in tiles and columns, an even share of the bytes to each row", "[workload]") {
    const Graph graph = graph_of(trace_of(
        "[8, 24]", "  - {name: out, op: matmul, n: 10, weight_dtype: int8, scales: group, group: 8}\n",
        "bf16"));
    AllocationRules rules;
    rules.dram_capacity = Bytes(1 << 20);
    rules.tile_rows = rules.tile_cols = 4;
    const auto bytes = [&] {
        const std::vector<Placement> placements = allocate(graph, rules);
        return placements[*layer(graph, "out").weights].bytes;
    };
    // Three columns of tiles; a row of four weights and a quarter of the tile's four scales.
    CHECK(bytes() == Bytes(3 * 24 * (4 + 4 * 2 / 4)));
    rules.weights = Layout::ColumnMajor;
    CHECK(bytes() == Bytes(10 * (24 + 24 / 4 * 2)));
}
