// SPDX-License-Identifier: Apache-2.0
// Single operations of StableHLO: what they mean, and what is listed instead of guessed.
#include <catch2/catch.hpp>

#include "tests/unit/stablehlo/modules.h"

using namespace systole;
using namespace systole::test;

TEST_CASE("what is left of a negative dividend is negative, as XLA has it") {
    // -7 rem 3 is -1: with 5 the slice begins at row 4, not at 7.
    const Network sliced =
        network(module_of("%x: tensor<8x4xf32>, %w: tensor<4x4xf32>", "tensor<2x4xf32>", R"(
    %c = stablehlo.constant dense<-7> : tensor<i32>
    %0 = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.constant dense<5> : tensor<i32>
    %2 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.remainder %c, %0 : tensor<i32>
    %4 = stablehlo.add %3, %1 : tensor<i32>
    %5 = stablehlo.dynamic_slice %x, %4, %2, sizes = [2, 4] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
    %6 = stablehlo.dot_general %5, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    return %6 : tensor<2x4xf32>)"));
    CHECK(sliced.imported.trace.find("begin: 4, size: 2") != std::string::npos);
}

TEST_CASE("tensors that cannot be joined, and strides beyond all measure, are listed") {
    const auto listed = [](const std::string& body) {
        return all_notes(network(module_of("%x: tensor<2x4xf32>, %y: tensor<3x4xf32>, %z: tensor<2xf32>, "
                                           "%m: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x4xf32>",
                                           "tensor<2x4xf32>",
                                           "    %t = stablehlo.tanh %x : tensor<2x4xf32>\n" + body +
                                               "\n    return %t : tensor<2x4xf32>"))
                             .imported);
    };
    CHECK(listed(R"(    %a = stablehlo.tanh %z : tensor<2xf32>
    %0 = stablehlo.concatenate %t, %a, dim = 1 : (tensor<2x4xf32>, tensor<2xf32>) -> tensor<4x4xf32>)")
              .find("are not joined along dimension 1") != std::string::npos);
    CHECK(listed(R"(    %a = stablehlo.tanh %y : tensor<3x4xf32>
    %0 = stablehlo.concatenate %t, %a, dim = 1 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x8xf32>)")
              .find("[2, 4] and [3, 4] are not joined along dimension 1") != std::string::npos);
    for (const std::string window :
         {"stride = [1, 9223372036854775807]", "rhs_dilate = [4611686018427387904, 1]",
          "lhs_dilate = [9223372036854775807, 2]", "pad = [[0, 0], [9223372036854775807, 0]]"})
        CHECK(listed("    %0 = stablehlo.convolution(%m, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
                     "1, f], "
                     "window = {" +
                     window +
                     "} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
                     "(tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32>")
                  .find("convolution") != std::string::npos);
}

TEST_CASE("a square and a cube are products, and other powers are none") {
    const auto layers = [](const std::string& exponent) {
        const Network raised =
            network(module_of("%x: tensor<2x4xf32>", "tensor<2x4xf32>",
                              "    %c = stablehlo.constant dense<" + exponent + R"(> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %1 = stablehlo.power %x, %0 : tensor<2x4xf32>
    return %1 : tensor<2x4xf32>)"));
        std::string kinds;
        for (const Layer& layer : raised.graph.layers)
            kinds +=
                std::string(
                    elementwise_kinds()[static_cast<std::size_t>(std::get<Elementwise>(layer.op).kind)]) +
                " ";
        return kinds;
    };
    CHECK(layers("2.0") == "mul ");
    CHECK(layers("3.000000e+00") == "mul mul ");
    CHECK(layers("4.0") == "pow ");
}

TEST_CASE("long lists of operands and many functions are read in one go") {
    constexpr int kMany = 20'000;
    std::string text =
        "module @m {\n  func.func public @main(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>) {\n"
        "    %0 = call @f" +
        std::to_string(kMany - 1) +
        "(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>\n    %1 = stablehlo.custom_call @many(%0) : "
        "(tensor<2x4xf32>) -> tensor<2x4xf32>\n    %2 = stablehlo.optimization_barrier %0";
    for (int i = 0; i < kMany; ++i) text += ", %0";
    text += " : tensor<2x4xf32>\n    return %0 : tensor<2x4xf32>\n  }\n";
    for (int i = 0; i < kMany; ++i)
        text += "  func.func private @f" + std::to_string(i) +
                "(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {\n    %0 = stablehlo.tanh %a : tensor<2x4xf32>\n"
                "    return %0 : tensor<2x4xf32>\n  }\n";
    CHECK(network(text + "}\n").graph.layers.size() == 1);
}

TEST_CASE("what makes a chip's share of a tensor is listed, and what only names one is nothing") {
    const auto notes_of = [](const std::string& target, const std::string& to) {
        return all_notes(
            network(
                module_of("%x: tensor<4x8xf32>", "tensor<4x8xf32>",
                          "    %0 = stablehlo.tanh %x : tensor<4x8xf32>\n    %1 = stablehlo.custom_call @" +
                              target + "(%0) : (tensor<4x8xf32>) -> tensor<" + to +
                              ">\n    return %0 : tensor<4x8xf32>"))
                .imported);
    };
    CHECK(notes_of("SPMDFullToShardShape", "2x8xf32").find("a chip's share of its operand") !=
          std::string::npos);
    CHECK(notes_of("SPMDFullToShardShape", "4x8xf32").find("share") == std::string::npos);
    CHECK(notes_of("Sharding", "4x8xf32").find("share") == std::string::npos);
}
