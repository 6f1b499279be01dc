// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/program/program_reader.h"
#include "sim/config/yaml.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/shipped_device.h"

namespace systole::fuzz {

void read_input(const std::string& input) {
    // The machine for which the programs of the corpus were lowered.
    static const systolic::SystolicSpec spec =
        test::spec_of_document(config::load_yaml("configs/devices/teaching_4x4.yaml"));
    try {
        systolic::parse_program(input, "f.program", spec);
    } catch (const UserError&) {
    }
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{
        "\n", "array dataflow=os", "load layer=0 ", "mxu0 ",    "after=", "mxu0:99", "=",
        "*",  "segments=0+3,6+1",  "rows=",         "mode=add", "\xff",   "host:",   "layer \"x\" op="};
    return pieces;
}

}  // namespace systole::fuzz
