// SPDX-License-Identifier: Apache-2.0
// Device programs, against the machine that they are for; one that is taken and moves little is run.
#include "models/devices/systolic/program/program_reader.h"

#include "sim/config/yaml.h"
#include "sim/kernel/stuck.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/teaching_machine.h"
#include "tests/support/shipped_device.h"

namespace systole::fuzz {
namespace {

/// Bytes, MACs and lane cycles of what is run.
constexpr double kMostWork = 1e7;

double work_of(const systolic::Program& program) {
    double work = 0;
    for (const Transfer& transfer : program.transfers)
        work += static_cast<double>(transfer.rows) * static_cast<double>(transfer.row_bytes + 1);
    for (const systolic::MatrixPass& pass : program.passes)
        work += static_cast<double>(pass.m + pass.left.vectors + pass.top.vectors + 1) *
                static_cast<double>(pass.k + 1) * static_cast<double>(pass.n + 1) * pass.folds;
    for (const systolic::VectorWork& vector : program.vector_work)
        work += static_cast<double>(vector.elements) + static_cast<double>(vector.lane_cycles) +
                static_cast<double>(vector.scratchpad_read) + static_cast<double>(vector.scratchpad_written);
    return work;
}

}  // namespace

void read_input(const std::string& input) {
    // The machine for which the programs of the corpus were lowered, and its PE grid, which computes values.
    static const systolic::SystolicSpec spec =
        test::spec_of_document(config::load_yaml("configs/devices/teaching_4x4.yaml"));
    static const auto machine = teaching_machine({}), grid = teaching_machine({{"mxu.engine", "grid"}});
    try {
        if (work_of(systolic::parse_program(input, "f.program", spec)) > kMostWork) return;
        for (const auto* const each : {&machine, &grid}) {
            try {
                (*each)->run_program(input, "f.program", {Protocol::of_run(), WantTimeline::Yes, true});
            } catch (const UserError&) {
            } catch (const Stuck&) {  // tokens that never come
            }
        }
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
