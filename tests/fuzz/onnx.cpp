// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "sim/workload/importers/onnx/onnx_import.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/imported_input.h"

namespace systole::fuzz {

void read_input(const std::string& input) {
    import_input(
        [&] {
            std::istringstream stream(input);
            return import_onnx(stream, "f.onnx", {{{"batch", 2}}, {}});
        },
        true);
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{"Conv",
                                                      "MatMul",
                                                      "Reshape",
                                                      "Loop",
                                                      "batch",
                                                      "axes",
                                                      "perm",
                                                      "pads",
                                                      "kernel_shape",
                                                      "Slice",
                                                      "Gather",
                                                      "Einsum",
                                                      "\x0a\x04",
                                                      "\x12\x80\x80\x80\x80\x08",
                                                      "\xff\xff\xff\xff\x0f"};
    return pieces;
}

}  // namespace systole::fuzz
