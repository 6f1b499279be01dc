// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/trace.h"
#include "sim/config/yaml.h"
#include "tests/fuzz/fuzz_target.h"

namespace systole::fuzz {

void read_input(const std::string& input) {
    try {
        build_trace(config::parse_yaml(input, "f.yaml"), {});
    } catch (const UserError&) {
    }
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{"repeat: 3",
                                                      "layers:",
                                                      "\n  - {name: x, op: ",
                                                      "op: matmul, n: ",
                                                      "op: attention",
                                                      "op: slice",
                                                      "op: concat",
                                                      "shape: [",
                                                      "in: [",
                                                      "block_in",
                                                      "batch * ",
                                                      " / 3",
                                                      "weight_dtype: int4",
                                                      "scales: group",
                                                      "sparsity: 2:4",
                                                      "op: reshape",
                                                      "index: i",
                                                      "op: conv_transpose",
                                                      "op: collective",
                                                      "\ntraining: {optimizer: adam, data_parallel: 2}\n",
                                                      "kind: replicate, chips: 2",
                                                      "transpose_a: true",
                                                      "&a",
                                                      "*a",
                                                      "!!str",
                                                      "\xff\xfe",
                                                      "{{{{{{{{",
                                                      "\t"};
    return pieces;
}

}  // namespace systole::fuzz
