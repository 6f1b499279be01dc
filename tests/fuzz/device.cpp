// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/shipped_device.h"

namespace systole::fuzz {

void read_input(const std::string& input) {
    try {
        test::spec_of_document(config::parse_yaml(input, "f.yaml"));
    } catch (const UserError&) {
    }
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{"extends: tpu_v4",
                                                      "{value: ",
                                                      "assumed: \"x\", range: 1..2",
                                                      " GB/s",
                                                      " MHz",
                                                      " MiB",
                                                      "kind: systolic\n",
                                                      "calibrated:",
                                                      "1e308 GHz",
                                                      "&a",
                                                      "<<: ",
                                                      "\n  ",
                                                      "bf16: 1",
                                                      "- ",
                                                      "\xff",
                                                      "0 GHz"};
    return pieces;
}

}  // namespace systole::fuzz
