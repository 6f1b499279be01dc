// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/stablehlo/mlir_module.h"

#include <catch2/catch.hpp>
#include <random>

using namespace systole;

namespace {

using Numbers = std::vector<std::int64_t>;

/// A module whose text and tokens live as long as it does.
struct Read {
    explicit Read(std::string from) : text(std::move(from)), tokens(text, "m.mlir"), module(tokens) {}
    const MlirOperation& operation(std::size_t at) const { return module.functions()[0].operations.at(at); }
    std::vector<Numbers> numbers(std::size_t at, std::string_view key) const {
        return mlir_numbers(tokens, operation(at), key).value();
    }

    std::string text;
    MlirTokens tokens;
    MlirModule module;
};

/// The body of a function @main, in a module.
std::string main_of(const std::string& body) {
    return "module @m {\n  func.func public @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {\n" + body +
           "\n  }\n}\n";
}

std::string refusal(const std::string& text) {
    try {
        const Read read(text);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a module as JAX prints it has its functions, their arguments, and one operation for each") {
    const Read read(R"(#loc = loc(unknown)
module @jit_f attributes {mhlo.num_partitions = 1 : i32, jax.uses_shape_polymorphism = false} {
  func.func public @main(%arg0: tensor<8x128xf32> {mhlo.sharding = "{replicated}"} loc("x"), %arg1: tensor<128x256xbf16>) -> (tensor<8x256xf32> {jax.result_info = ""}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128xf32>, tensor<128x256xbf16>) -> tensor<8x256xf32> loc(#loc1)
    %1 = call @relu(%0) : (tensor<8x256xf32>) -> tensor<8x256xf32>
    return %1 : tensor<8x256xf32>
  }
  func.func private @relu(%arg0: tensor<8x256xf32>) -> tensor<8x256xf32> {
    return %arg0 : tensor<8x256xf32>
  }
}
#loc1 = loc("a.py":3:4)
)");
    CHECK(read.module.name() == "jit_f");
    REQUIRE(read.module.functions().size() == 2);
    const MlirFunction& main = read.module.functions()[0];
    CHECK(main.name == "main");
    REQUIRE(main.arguments.size() == 2);
    CHECK(main.arguments[1].name == "%arg1");
    CHECK(main.arguments[1].type == "tensor<128x256xbf16>");
    REQUIRE(main.operations.size() == 4);
    CHECK(main.operations[0].types == std::vector<std::string_view>{"tensor<f32>"});
    CHECK(main.operations[1].operands == std::vector<std::string_view>{"%arg0", "%arg1"});
    CHECK(main.operations[1].results == std::vector<std::string>{"%0"});
    CHECK(main.operations[1].types == std::vector<std::string_view>{"tensor<8x256xf32>"});
    CHECK(read.numbers(1, "contracting_dims") == std::vector<Numbers>{{1}, {0}});
    CHECK_FALSE(mlir_numbers(read.tokens, main.operations[1], "batching_dims"));
    CHECK(main.operations[2].name == "call");
    CHECK(main.operations[3].name == "return");
    CHECK(read.module.find("relu")->operations.size() == 1);
    CHECK(read.module.find("gelu") == nullptr);
    CHECK(read.tokens.mark(main.operations[1].begin).line == 5);
    CHECK(read.tokens.mark(main.operations[1].begin).column == 5);
}

TEST_CASE("an operation goes on over lines, and ends where the next one begins") {
    const Read read(main_of(R"(    // a convolution
    %conv = stablehlo.convolution(%arg0, %arg0)
      dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
      window = {stride = [2, 1], pad = [[3, 2], [-1, 0]], rhs_dilate = [1, 2]}
      {batch_group_count = 1 : i64, feature_group_count = 4 : i64}
      : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<1x16x30x30xf32>
    %1 = stablehlo.add %conv, %conv : tensor<8x4xf32> %2 = stablehlo.negate %1 : tensor<8x4xf32>
    return %2 : tensor<8x4xf32>)"));
    REQUIRE(read.module.functions()[0].operations.size() == 4);
    CHECK(read.numbers(0, "stride") == std::vector<Numbers>{{2, 1}});
    CHECK(read.numbers(0, "pad") == std::vector<Numbers>{{3, 2, -1, 0}});
    CHECK(read.numbers(0, "feature_group_count") == std::vector<Numbers>{{4}});
    CHECK(read.tokens[*mlir_key(read.tokens, read.operation(0), "dim_numbers")].is("["));
    CHECK(read.operation(2).name == "stablehlo.negate");
}

TEST_CASE("loops, reducers and generic operations have regions, whose values are no operands") {
    const Read read(main_of(R"(    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0) : tensor<i32>, tensor<8x4xf32> attributes {a = 1 : i64}
     cond {
      %2 = stablehlo.compare LT, %iterArg, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = stablehlo.add %iterArg_0, %arg0 : tensor<8x4xf32>
      stablehlo.return %iterArg, %2 : tensor<i32>, tensor<8x4xf32>
    }
    %1:2 = stablehlo.reduce(%0#1 init: %c), (%arg0 init: %c) across dimensions = [1] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xi32>)
     reducer(%arg1: tensor<f32>, %arg2: tensor<f32>) (%arg3: tensor<i32>, %arg4: tensor<i32>)  {
      stablehlo.return %arg1, %arg3 : tensor<f32>, tensor<i32>
    }
    %3 = "stablehlo.sort"(%0#1) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %4 = stablehlo.compare GT, %arg1, %arg2, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %5 = "stablehlo.gather"(%arg0, %0#0) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 768>}> : (tensor<8x4xf32>, tensor<i32>) -> tensor<1x128x512xf16>
    return %3 : tensor<8x4xf32>)"));
    const MlirOperation& loop = read.operation(1);
    CHECK(loop.operands == std::vector<std::string_view>{"%c", "%arg0"});
    CHECK(loop.results == std::vector<std::string>{"%0#0", "%0#1"});
    CHECK(loop.types == std::vector<std::string_view>{"tensor<i32>", "tensor<8x4xf32>"});
    REQUIRE(loop.regions.size() == 2);
    CHECK(loop.regions[0].operations.size() == 2);
    CHECK(loop.regions[1].operations[1].operands.size() == 2);
    const MlirOperation& reduce = read.operation(2);
    CHECK(reduce.operands == std::vector<std::string_view>{"%0#1", "%c", "%arg0", "%c"});
    CHECK(reduce.types == std::vector<std::string_view>{"tensor<8xf32>", "tensor<8xi32>"});
    CHECK(reduce.regions.size() == 1);
    const MlirOperation& sort = read.operation(3);
    CHECK(sort.name == "stablehlo.sort");
    CHECK(sort.operands == std::vector<std::string_view>{"%0#1"});
    REQUIRE(sort.regions.size() == 1);
    CHECK(sort.regions[0].arguments.size() == 2);
    CHECK(read.numbers(3, "dimension") == std::vector<Numbers>{{1}});
    CHECK(read.operation(4).operands == std::vector<std::string_view>{"%arg0", "%0#0"});
    CHECK(read.numbers(4, "offset_dims") == std::vector<Numbers>{{2}});
    CHECK(read.numbers(4, "index_vector_dim") == std::vector<Numbers>{{2}});
    CHECK(read.numbers(4, "slice_sizes") == std::vector<Numbers>{{1, 768}});
}

TEST_CASE("types are extents and an element") {
    CHECK(mlir_type("tensor<8x?x3xbf16>").shape == Numbers{8, -1, 3});
    CHECK(mlir_type("tensor<8x?x3xbf16>").element == "bf16");
    CHECK(mlir_type("tensor<f32>").shape.empty());
    CHECK(mlir_type("tensor<?x4xf32, #stablehlo.bounds<4, ?>>").element == "f32");
    CHECK(mlir_type("tensor<0x2xi1>").shape == Numbers{0, 2});
    CHECK(mlir_type("tensor<4x!quant.uniform<i8:f32, 0.1:3>>").element == "!quant.uniform<i8:f32, 0.1:3>");
    CHECK_FALSE(mlir_type("!stablehlo.token").tensor);
    CHECK(mlir_type("tensor<99999999999999999999x2xf32>").element == "99999999999999999999x2xf32");
}

TEST_CASE("constants are numbers in decimal or hexadecimal digits, up to as many as are asked for") {
    CHECK(mlir_constant("dense<[[0, 2], [1, -3]]>", 32, 10) == Numbers{0, 2, 1, -3});
    CHECK(mlir_constant("dense<5>", 64, 10) == Numbers{5});
    CHECK(mlir_constant("dense<true>", 1, 10) == Numbers{1});
    CHECK(mlir_constant("dense<\"0x01000000FFFFFFFF\">", 32, 10) == Numbers{1, -1});
    CHECK(mlir_constant("dense<\"0x0100000000000080\">", 64, 10) ==
          Numbers{std::numeric_limits<std::int64_t>::min() + 1});
    CHECK_FALSE(mlir_constant("dense<\"0x010000\">", 32, 10));
    CHECK_FALSE(mlir_constant("dense<\"0x0100000G\">", 32, 10));
    CHECK_FALSE(mlir_constant("dense<1.5>", 32, 10));
    CHECK_FALSE(mlir_constant("dense<[1, 2, 3]>", 32, 2));
    CHECK_FALSE(mlir_constant("dense_resource<a>", 32, 2));
}

TEST_CASE("what is cut off, or no module, is refused with its place") {
    CHECK(refusal("") ==
          "m.mlir:1:1: error: expected a module with functions ('func.func public @main(…)'), "
          "as JAX and torch-xla print it");
    CHECK(refusal("module @m {\n func.func @main(%a: tensor<2xf32) {\n}}") ==
          "m.mlir:2:28: error: this '<' is never closed");
    CHECK_THAT(refusal("module {\n func.func @main() {\n %0 = stablehlo.iota dim = 0 : tensor<3xi32>\n"),
               Catch::Contains("the file ends within a region: is it cut off?"));
    CHECK_THAT(refusal("\"builtin.module\"() ({}) : () -> ()"), Catch::Contains("the generic form"));
    CHECK_THAT(refusal("module @\"x {"), Catch::Contains("m.mlir:1:9: error: this string has no end"));
    CHECK_THAT(refusal("module {\x01}"), Catch::Contains("byte 0x01"));
    CHECK_THAT(refusal(main_of("%0:99999999999 = stablehlo.iota dim = 0 : tensor<3xi32>")),
               Catch::Contains("from 1 to 4096"));
    CHECK_THAT(refusal(main_of("7 = 8")), Catch::Contains("expected"));
    std::string deep = "%0 = stablehlo.while(%iterArg = %arg0) : tensor<f32>\n";
    for (int i = 0; i < 100; ++i) deep += "cond { %1 = \"stablehlo.case\"(%0) ({\n";
    CHECK_THAT(refusal(main_of(deep)), Catch::Contains("nested deeper than 64"));
}

TEST_CASE("pieces of MLIR in any order are read or refused, never worse") {
    const auto seed = GENERATE(take(300, random<std::uint64_t>(1, 1 << 30)));
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    constexpr std::string_view kPieces[] = {"%0",
                                            " = ",
                                            "stablehlo.add ",
                                            "(",
                                            ")",
                                            "{",
                                            "}",
                                            "[",
                                            "]",
                                            "<",
                                            ">",
                                            "->",
                                            ": ",
                                            "tensor<2x3xf32>",
                                            "\n",
                                            ", ",
                                            "\"stablehlo.x\"",
                                            "^bb0",
                                            "@f",
                                            "#a",
                                            "dense<1>",
                                            "return ",
                                            "call ",
                                            "-1 ",
                                            "array<i64: 2>",
                                            "\"",
                                            "func.func ",
                                            "x "};
    std::string body;
    for (int i = 0; i < 100; ++i) body += kPieces[random() % std::size(kPieces)];
    try {
        const Read read(random() % 4 == 0 ? body : main_of(body));
        for (const MlirFunction& function : read.module.functions())
            for (const MlirOperation& operation : function.operations)
                for (const char* key : {"x", "stablehlo.add"}) mlir_numbers(read.tokens, operation, key);
    } catch (const UserError& error) {
        CHECK_THAT(error.what(), Catch::Contains("m.mlir:"));
    }
}
