// SPDX-License-Identifier: Apache-2.0
// What a shipped GPU makes of a few layers.
#pragma once

#include <string>

#include "models/devices/simt/kernels/plan.h"
#include "sim/workload/trace.h"
#include "tests/unit/simt/gpu_config.h"

namespace systole::simt::test {

/// `shape`: of x, in `dtype`.
inline ChipPlan planned(const std::string& gpu, const std::string& shape, const std::string& layers,
                        const std::string& output, const std::string& dtype = "fp16") {
    const std::string trace = "trace: one\ninputs:\n  x: {shape: " + shape + ", dtype: " + dtype +
                              "}\nlayers:\n" + layers + "outputs: [" + output + "]\n";
    const SimtSpec spec = systole::test::shipped_gpu(gpu);
    KernelChooser chooser(spec);
    return plan(build_trace(config::parse_yaml(trace, "one.yaml"), {}), spec, Protocol::of_op(), chooser);
}

}  // namespace systole::simt::test
