// SPDX-License-Identifier: Apache-2.0
// A device program run on both engines of the matrix unit.
#pragma once

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "models/devices/systolic/machine/results.h"
#include "models/devices/systolic/program/program_reader.h"
#include "sim/kernel/kernel.h"

namespace systole::systolic {

/// Runs `text` on a machine of `spec`, with each engine; their results must be equal.
inline DeviceResult run_on_both_engines(SystolicSpec spec, const std::string& text) {
    std::vector<DeviceResult> results;
    for (const EngineKind engine : {EngineKind::Tile, EngineKind::Grid}) {
        spec.mxu.engine = engine;
        const Program program = parse_program(text, "test.program", spec);
        const FreshKernel kernel;
        Machine machine("small", spec, program, {Protocol::of_op()});
        machine.run();
        REQUIRE(!machine.value_fault);
        results.push_back(result_of(machine, spec, Protocol::of_op()));
    }
    CHECK(results[0].total.cycles == results[1].total.cycles);
    CHECK(results[0].total.slots == results[1].total.slots);
    return results[0];
}

}  // namespace systole::systolic
