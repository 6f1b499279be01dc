// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/huggingface_config.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/imported_input.h"

namespace systole::fuzz {

void read_input(const std::string& input) {
    import_input([&] { return import_huggingface_config(input, "config.json"); }, true);
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{"null",
                                                      "[[[[[[",
                                                      "{\"a\":",
                                                      "\"model_type\": \"gpt2\"",
                                                      "\"llama\"",
                                                      "\"head_dim\": 1,",
                                                      "1e9",
                                                      ",",
                                                      "\\u0000",
                                                      "\xff",
                                                      "true",
                                                      "\"sliding_window\": 7,",
                                                      "\"num_key_value_heads\": 3,"};
    return pieces;
}

}  // namespace systole::fuzz
