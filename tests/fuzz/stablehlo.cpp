// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/stablehlo/stablehlo_import.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/imported_input.h"

namespace systole::fuzz {

void read_input(const std::string& input) {
    import_input([&] { return import_stablehlo(input, "f.mlir"); }, true);
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{"%0 = ",
                                                      "stablehlo.add ",
                                                      "tensor<2x3xf32>",
                                                      "tensor<?xf32>",
                                                      "dense<1>",
                                                      "dims = [0, 1]",
                                                      "->",
                                                      "[0:1, ",
                                                      "call @main",
                                                      "({\n^bb0(",
                                                      "x [0]",
                                                      "array<i64: 1>",
                                                      "return",
                                                      "%arg0",
                                                      "i1>",
                                                      "stablehlo.while(%i = %0) ",
                                                      " : (tensor<f32>) -> tensor<f32>",
                                                      "1x0x",
                                                      "\xff"};
    return pieces;
}

}  // namespace systole::fuzz
