// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/stablehlo/stablehlo_import.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/unit/stablehlo/modules.h"

using namespace systole;
using namespace systole::test;

namespace {

/// "matmul 1 x 8 x 4" and the like, layer by layer: what must be alike on two ways to one network.
std::vector<std::string> work(const Graph& graph) {
    std::vector<std::string> lines;
    for (const Layer& layer : graph.layers) {
        std::string line = op_name(layer) + " " + to_string(graph.tensors[layer.inputs[0]].shape) + " -> " +
                           to_string(graph.tensors[layer.output].shape) + " " +
                           std::to_string(macs(layer.op).value());
        if (layer.weights) line += " by " + to_string(graph.tensors[*layer.weights].shape);
        if (layer.bias) line += " with bias";
        lines.push_back(line);
    }
    return lines;
}

std::vector<std::string> native(const std::string& text) {
    return work(build_trace(config::parse_yaml(text, "native.yaml"), {}));
}

/// A multilayer perceptron, as jax.jit(f).lower(params, x).as_text() prints one.
const std::string kPerceptron =
    R"(module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<256xf32>, %arg1: tensor<128x256xf32>, %arg2: tensor<10xf32>, %arg3: tensor<256x10xf32>, %arg4: tensor<8x128xf32>) -> (tensor<8x10xf32> {jax.result_info = ""}) {
    %0 = stablehlo.dot_general %arg4, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128xf32>, tensor<128x256xf32>) -> tensor<8x256xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<256xf32>) -> tensor<1x256xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<8x256xf32>
    %3 = stablehlo.add %0, %2 : tensor<8x256xf32>
    %4 = call @relu(%3) : (tensor<8x256xf32>) -> tensor<8x256xf32>
    %5 = stablehlo.dot_general %4, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x256xf32>, tensor<256x10xf32>) -> tensor<8x10xf32>
    %6 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<8x10xf32>
    %8 = stablehlo.add %5, %7 : tensor<8x10xf32>
    return %8 : tensor<8x10xf32>
  }
  func.func private @relu(%arg0: tensor<8x256xf32>) -> tensor<8x256xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x256xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<8x256xf32>
    return %1 : tensor<8x256xf32>
  }
}
)";

/// A convolution by filters of 3 x 3 with stride 2, in the order of JAX or of torch-xla.
std::string convolution(bool channels_last) {
    const std::string in = channels_last ? "tensor<2x15x15x8xf32>" : "tensor<2x8x15x15xf32>",
                      filters = channels_last ? "tensor<3x3x8x16xf32>" : "tensor<16x8x3x3xf32>",
                      out = channels_last ? "tensor<2x8x8x16xf32>" : "tensor<2x16x8x8xf32>",
                      numbers = channels_last ? "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"
                                              : "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]";
    return module_of(
        "%arg0: " + in + ", %arg1: " + filters, out,
        "%0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = " + numbers +
            ", window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, "
            "feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>]} : (" +
            in + ", " + filters + ") -> " + out +
            "\n %cst = stablehlo.constant dense<0.0> : tensor<f32>\n"
            "%1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> " +
            out + "\n %2 = stablehlo.maximum %0, %1 : " + out + "\n return %2 : " + out);
}

}  // namespace

TEST_CASE("a perceptron as JAX prints it is the native one, and what was taken for inputs is told") {
    const Network read = network(kPerceptron);
    CHECK(read.graph.name == "jit_f");
    CHECK(work(read.graph) == native(R"(trace: native
inputs: {x: {shape: [8, 128], dtype: bf16}}
layers:
  - {name: a, op: matmul, n: 256, bias: true, activation: relu}
  - {name: b, op: matmul, n: 10, bias: true}
outputs: [b]
)"));
    CHECK(all_notes(read.imported) ==
          "m.mlir:2: note: by their use, 1 of 5 arguments is an input (arg4), all others "
          "stored weights; --input NAME says otherwise\n");
}

TEST_CASE("a convolution is the same in the order of JAX and of torch-xla") {
    const auto expected = native(R"(trace: native
inputs: {x: {shape: [2, 15, 15, 8], dtype: bf16}}
layers:
  - {name: a, op: conv2d, filters: 16, kernel: 3, stride: 2, pad: 1, activation: relu}
outputs: [a]
)");
    CHECK(work(network(convolution(true)).graph) == expected);
    CHECK(work(network(convolution(false)).graph) == expected);
}

TEST_CASE("lookups, heads, scaled scores and their softmax become what a trace has") {
    const Network read = network(module_of(
        "%arg0: tensor<1000x64xf16>, %arg1: tensor<64x192xf16>, %arg2: tensor<1x32xi32>",
        "tensor<1x4x32x16xf16>",
        R"(    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<1x32xi32>) -> tensor<1x32x1xi32>
    %1 = "stablehlo.gather"(%arg0, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 64>}> : (tensor<1000x64xf16>, tensor<1x32x1xi32>) -> tensor<1x32x64xf16>
    %2 = stablehlo.dot_general %1, %arg1, contracting_dims = [2] x [0] : (tensor<1x32x64xf16>, tensor<64x192xf16>) -> tensor<1x32x192xf16>
    %3 = stablehlo.reshape %2 : (tensor<1x32x192xf16>) -> tensor<1x32x3x4x16xf16>
    %4 = stablehlo.slice %3 [0:1, 0:32, 0:1, 0:4, 0:16] : (tensor<1x32x3x4x16xf16>) -> tensor<1x32x1x4x16xf16>
    %5 = stablehlo.reshape %4 : (tensor<1x32x1x4x16xf16>) -> tensor<1x32x4x16xf16>
    %6 = stablehlo.slice %3 [0:1, 0:32, 1:2, 0:4, 0:16] : (tensor<1x32x3x4x16xf16>) -> tensor<1x32x1x4x16xf16>
    %7 = stablehlo.reshape %6 : (tensor<1x32x1x4x16xf16>) -> tensor<1x32x4x16xf16>
    %8 = stablehlo.slice %3 [0:1, 0:32, 2:3, 0:4, 0:16] : (tensor<1x32x3x4x16xf16>) -> tensor<1x32x1x4x16xf16>
    %9 = stablehlo.reshape %8 : (tensor<1x32x1x4x16xf16>) -> tensor<1x32x4x16xf16>
    %10 = stablehlo.dot_general %5, %7, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<1x32x4x16xf16>, tensor<1x32x4x16xf16>) -> tensor<1x4x32x32xf16>
    %cst = stablehlo.constant dense<2.500000e-01> : tensor<f16>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f16>) -> tensor<1x4x32x32xf16>
    %12 = stablehlo.multiply %10, %11 : tensor<1x4x32x32xf16>
    %cst_0 = stablehlo.constant dense<0xFC00> : tensor<f16>
    %13 = stablehlo.reduce(%12 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<1x4x32x32xf16>, tensor<f16>) -> tensor<1x4x32xf16>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<1x4x32xf16>) -> tensor<1x4x32x32xf16>
    %15 = stablehlo.subtract %12, %14 : tensor<1x4x32x32xf16>
    %16 = stablehlo.exponential %15 : tensor<1x4x32x32xf16>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f16>
    %17 = stablehlo.reduce(%16 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<1x4x32x32xf16>, tensor<f16>) -> tensor<1x4x32xf16>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<1x4x32xf16>) -> tensor<1x4x32x32xf16>
    %19 = stablehlo.divide %16, %18 : tensor<1x4x32x32xf16>
    %20 = stablehlo.dot_general %19, %9, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<1x4x32x32xf16>, tensor<1x32x4x16xf16>) -> tensor<1x4x32x16xf16>
    return %20 : tensor<1x4x32x16xf16>)"));
    std::vector<std::string> ops;
    std::int64_t count = 0;
    for (const Layer& layer : read.graph.layers) {
        ops.push_back(op_name(layer));
        count += macs(layer.op).value();
    }
    CHECK(ops.front() == "embedding");
    CHECK(std::count(ops.begin(), ops.end(), "matmul") == 3);
    // The product with all three, then scores and what they weigh: 4 heads of 32 x 32 x 16 each.
    CHECK(count == 32 * 64 * 192 + 2 * 4 * 32 * 32 * 16);
    CHECK(read.graph.inputs.size() == 1);
}

TEST_CASE("a loop whose turns are known is written out, with the weights of each turn") {
    const std::string text =
        module_of("%arg0: tensor<3x64x64xf32>, %arg1: tensor<8x64xf32>", "tensor<8x64xf32>", R"(
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %c, %iterArg_1 = %arg1) : tensor<3x64x64xf32>, tensor<i32>, tensor<8x64xf32>
     cond {
      %c_2 = stablehlo.constant dense<3> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg_0, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %c_2 = stablehlo.constant dense<0> : tensor<i32>
      %1 = stablehlo.dynamic_slice %iterArg, %iterArg_0, %c_2, %c_2, sizes = [1, 64, 64] : (tensor<3x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x64xf32>
      %2 = stablehlo.reshape %1 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
      %3 = stablehlo.dot_general %iterArg_1, %2, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
      %4 = stablehlo.tanh %3 : tensor<8x64xf32>
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %5 = stablehlo.add %iterArg_0, %c_3 : tensor<i32>
      stablehlo.return %iterArg, %5, %4 : tensor<3x64x64xf32>, tensor<i32>, tensor<8x64xf32>
    }
    return %0#2 : tensor<8x64xf32>)");
    const Network read = network(text);
    REQUIRE(read.graph.layers.size() == 3);
    CHECK(total_macs(read.graph) == Macs(3 * 8 * 64 * 64));
    CHECK(read.graph.inputs.size() == 1);
    CHECK(all_notes(read.imported).find("arg1") != std::string::npos);

    std::string unknown = text;
    unknown.replace(unknown.find("stablehlo.constant dense<3> : tensor<i32>"), 41,
                    "stablehlo.custom_call @turns() : () -> tensor<i32>");
    CHECK_THAT(refusal(unknown), Catch::Contains("how often it goes round is not known") &&
                                     Catch::Contains("what @turns does is not known"));
}

TEST_CASE("what a trace does not have is listed with its line, and what it makes comes from outside") {
    const Network read =
        network(module_of("%arg0: tensor<8x64xf32>, %arg1: tensor<64x64xf32>", "tensor<8x64xf32>", R"(
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
    %1 = stablehlo.custom_call @my_kernel(%0) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %2 = stablehlo.add %0, %1 : tensor<8x64xf32>
    return %2 : tensor<8x64xf32>)"));
    REQUIRE(read.graph.layers.size() == 2);
    CHECK(read.graph.inputs.size() == 2);
    const std::string notes = all_notes(read.imported);
    CHECK_THAT(notes,
               Catch::Contains("m.mlir:5: note: stablehlo.custom_call (makes %1) is not in the trace: what "
                               "@my_kernel does is not known"));
    CHECK_THAT(notes, Catch::Contains("1 of 3 operations are not in the trace"));
}

TEST_CASE("arguments are inputs by what is done with them, or as one says") {
    const std::string residual = module_of(
        "%arg0: tensor<8x64xf32>, %arg1: tensor<64x64xf32>, %arg2: tensor<8x64xf32>", "tensor<8x64xf32>", R"(
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
    %1 = stablehlo.add %0, %arg2 : tensor<8x64xf32>
    return %1 : tensor<8x64xf32>)");
    CHECK(network(residual).graph.inputs.size() == 2);
    const Network stored = network(residual, {"%arg0"});
    CHECK(stored.graph.inputs.size() == 1);
    CHECK(stored.imported.notes.empty());
    CHECK_THAT(refusal(residual, {"arg7"}),
               Catch::Contains("m.mlir:2:3: error: @main has no argument 'arg7' (did you mean"));
}

TEST_CASE("shapes that are not known, and modules of which nothing is left, are refused") {
    CHECK_THAT(
        refusal(module_of("%arg0: tensor<?x4xf32>", "tensor<?x4xf32>", "return %arg0 : tensor<?x4xf32>")),
        Catch::Contains("m.mlir:2:3: error: argument %arg0 of @main is tensor<?x4xf32>"));
    CHECK_THAT(refusal(module_of("%arg0: tensor<4xf32>", "tensor<4xf32>", "return %arg0 : tensor<4xf32>")),
               Catch::Contains("nothing of @main can be in a trace"));
    CHECK_THAT(refusal(module_of("%arg0: tensor<4xf32>", "tensor<4xf32>",
                                 "%0 = stablehlo.tanh %nothing : tensor<4xf32>\n return %0 : tensor<4xf32>")),
               Catch::Contains("m.mlir:3:1: error: nothing before this is called %nothing"));
    // Each function calls the next one twice: 2^40 operations.
    std::string many =
        "module {\n func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n %0 = call @f0(%a) : "
        "(tensor<4xf32>) -> tensor<4xf32>\n return %0 : tensor<4xf32>\n }\n";
    for (int i = 0; i < 40; ++i)
        many += " func.func private @f" + std::to_string(i) +
                "(%a: tensor<4xf32>) -> tensor<4xf32> {\n %0 = call @f" + std::to_string(i + 1) +
                "(%a) : (tensor<4xf32>) -> tensor<4xf32>\n %1 = call @f" + std::to_string(i + 1) +
                "(%0) : (tensor<4xf32>) -> tensor<4xf32>\n return %1 : tensor<4xf32>\n }\n";
    many +=
        " func.func private @f40(%a: tensor<4xf32>) -> tensor<4xf32> {\n %0 = stablehlo.tanh %a : "
        "tensor<4xf32>\n "
        "return %0 : tensor<4xf32>\n }\n}\n";
    CHECK_THAT(refusal(many), Catch::Contains("more than 200000 operations"));
}

TEST_CASE("limits of a slice of which something is missing, or too much there, are told") {
    for (const std::string limits : {"[: 0:4]", "[,: 0:4]", "[:2:1]", "[0 1:4]", "[0:4:1:2]", "[, 0:4]"}) {
        INFO(limits);
        CHECK_THAT(refusal(module_of("%arg0: tensor<8xf32>", "tensor<4xf32>",
                                     "%0 = stablehlo.slice %arg0 " + limits +
                                         " : (tensor<8xf32>) -> tensor<4xf32>\n return %0 : tensor<4xf32>")),
                   Catch::Contains("its limits are not begin:end:step of each dimension"));
    }
    const Network read = network(module_of("%arg0: tensor<8xf32>", "tensor<4xf32>",
                                           "%0 = stablehlo.slice %arg0 [1:8:2] : (tensor<8xf32>) -> "
                                           "tensor<4xf32>\n return %0 : tensor<4xf32>"),
                                 {"arg0"});
    CHECK(read.graph.layers.size() == 1);
}

TEST_CASE("windows, batch norms and means over maps are those of the native trace") {
    std::ifstream file("tests/fuzz/corpus/stablehlo/convolution.mlir");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const Network read = network(text);
    CHECK(work(read.graph) == native(R"(trace: native
inputs: {x: {shape: [1, 32, 32, 3], dtype: bf16}}
layers:
  - {name: a, op: conv2d, filters: 16, kernel: 3, pad: 1, bias: true, activation: relu6}
  - {name: b, op: pool, kind: max, window: 2}
  - {name: c, op: pool, kind: average, global: true}
outputs: [c]
)"));
}

TEST_CASE("an input with holes between its elements is a transposed convolution") {
    const std::string in = "tensor<1x8x8x4xf32>", filters = "tensor<3x3x4x8xf32>",
                      out = "tensor<1x17x17x8xf32>";
    const Network read =
        network(module_of("%arg0: " + in + ", %arg1: " + filters, out,
                          "%0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, "
                          "i, o]->[b, 0, 1, f], window = {pad = [[2, 2], [2, 2]], lhs_dilate = [2, 2]} "
                          "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (" +
                              in + ", " + filters + ") -> " + out + "\n return %0 : " + out));
    CHECK(work(read.graph) == native(R"(trace: native
inputs: {x: {shape: [1, 8, 8, 4], dtype: bf16}}
layers:
  - {name: a, op: conv_transpose, filters: 8, kernel: 3, stride: 2}
outputs: [a]
)"));
}

TEST_CASE("a transposed convolution that JAX pads to the same size is that of the mirrored map") {
    const std::string in = "tensor<1x8x8x4xf32>", filters = "tensor<3x3x4x8xf32>",
                      out = "tensor<1x16x16x8xf32>";
    const auto padded = [&](const std::string& pads) {
        return network(module_of(
            "%arg0: " + in + ", %arg1: " + filters, out,
            "%0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
            "window = {pad = [" +
                pads + ", " + pads +
                "], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (" +
                in + ", " + filters + ") -> " + out + "\n return %0 : " + out));
    };
    const Network same = padded("[2, 1]"), mirrored = padded("[1, 2]");
    // Each direction has 8 pixels of two taps and 8 of one.
    CHECK(total_macs(same.graph) == Macs(24 * 24 * 4 * 8));
    CHECK(work(same.graph) == native(R"(trace: native
inputs: {x: {shape: [1, 8, 8, 4], dtype: bf16}}
layers:
  - {name: a, op: conv_transpose, filters: 8, kernel: 3, stride: 2, pad: 1, out_pad: 1}
outputs: [a]
)"));
    CHECK(work(same.graph) == work(mirrored.graph));
    CHECK_THAT(all_notes(same.imported), Catch::Contains("the trace has it mirrored, at the same cost"));
    CHECK_THAT(all_notes(mirrored.imported), !Catch::Contains("mirrored"));
}

TEST_CASE("selections, clamps, joins, the greatest and batch products have their layers") {
    const Network read =
        network(module_of("%arg0: tensor<4x8x16xf32>, %arg1: tensor<4x8x16xf32>, %arg2: tensor<4x16x8xf32>",
                          "tensor<4x8x2xf32>", R"(
    %cst = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8x16xf32>
    %1 = stablehlo.compare GT, %arg0, %0, FLOAT : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xi1>
    %2 = stablehlo.select %1, %arg0, %0 : tensor<4x8x16xi1>, tensor<4x8x16xf32>
    %cst_0 = stablehlo.constant dense<6.0> : tensor<f32>
    %3 = stablehlo.clamp %cst, %2, %cst_0 : (tensor<f32>, tensor<4x8x16xf32>, tensor<f32>) -> tensor<4x8x16xf32>
    %4 = stablehlo.concatenate %3, %arg1, dim = 1 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x16x16xf32>
    %5 = stablehlo.slice %4 [0:4, 8:16, 0:16] : (tensor<4x16x16xf32>) -> tensor<4x8x16xf32>
    %6 = stablehlo.dot_general %5, %arg2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x8x16xf32>, tensor<4x16x8xf32>) -> tensor<4x8x8xf32>
    %values, %indices = chlo.top_k(%6, k = 2) : tensor<4x8x8xf32> -> (tensor<4x8x2xf32>, tensor<4x8x2xi32>)
    return %values : tensor<4x8x2xf32>)"),
                {"arg0", "arg1", "arg2"});
    std::vector<std::string> ops;
    for (const Layer& layer : read.graph.layers) ops.push_back(op_name(layer));
    CHECK(ops == std::vector<std::string>{"elementwise", "dequantize", "elementwise", "concat", "slice",
                                          "matmul", "top_k"});
    CHECK(total_macs(read.graph) == Macs(4 * 8 * 8 * 16));
    CHECK(read.graph.inputs.size() == 3);
}

TEST_CASE(
    "a loop of nothing ends, products keep the type that is written, and known zeros are multiplied, too") {
    CHECK_THAT(refusal(module_of("%arg0: tensor<4xf32>", "tensor<4xf32>", R"(
    %c = stablehlo.constant dense<true> : tensor<i1>
    %0 = stablehlo.while(%iterArg = %arg0) : tensor<4xf32>
     cond {
      stablehlo.return %c : tensor<i1>
    } do {
      stablehlo.return %iterArg : tensor<4xf32>
    }
    return %0 : tensor<4xf32>)")),
               Catch::Contains("m.mlir:5:5: error: more than 200000 operations"));
    const std::string product = R"(
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x64xi8>, tensor<64x10xi8>) -> tensor<8x10xi32>
    return %0 : tensor<8x10xi32>)";
    const Network wide =
        network(module_of("%arg0: tensor<8x64xi8>, %arg1: tensor<64x10xi8>", "tensor<8x10xi32>", product));
    CHECK(wide.graph.tensors[wide.graph.outputs[0]].dtype == DType::Int32);
    const Network zeros = network(module_of("%arg0: tensor<64x64xf32>", "tensor<8x64xf32>", R"(
    %cst = stablehlo.constant dense<0.0> : tensor<8x64xf32>
    %0 = stablehlo.dot_general %cst, %arg0, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
    return %0 : tensor<8x64xf32>)"));
    CHECK(total_macs(zeros.graph) == Macs(8 * 64 * 64));
}

TEST_CASE(
    "both operands of a product by batches are inputs, and so is the one that is its own second operand") {
    CHECK(network(module_of("%arg0: tensor<2x8x64xf32>, %arg1: tensor<2x64x8xf32>", "tensor<2x8x8xf32>", R"(
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x8x64xf32>, tensor<2x64x8xf32>) -> tensor<2x8x8xf32>
    return %0 : tensor<2x8x8xf32>)"))
              .imported.notes.empty());
    CHECK(network(module_of("%arg0: tensor<8x64xf32>", "tensor<8x8xf32>", R"(
    %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [1] : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>)"))
              .graph.inputs.size() == 1);
}

TEST_CASE("weights that several layers read are stored by each, which is told") {
    const Network tied =
        network(module_of("%arg0: tensor<8x16xf32>, %arg1: tensor<16x16xf32>", "tensor<8x16xf32>", R"(
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %1 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    return %2 : tensor<8x16xf32>)"));
    CHECK_THAT(all_notes(tied.imported),
               Catch::Contains("1 stored argument is read by several layers, each of which "
                               "stores it once more (256 numbers)"));
}
