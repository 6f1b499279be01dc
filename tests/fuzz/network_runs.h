// SPDX-License-Identifier: Apache-2.0
// What a device that was taken runs: small networks with every kind of work. A refusal (does not fit, no such
// format) is an answer; each run holds its own invariants, and aborts where one breaks.
#pragma once

#include <stdexcept>
#include <string>

#include "sim/device/device.h"
#include "sim/workload/trace.h"

namespace systole::fuzz {

/// The first format that the matrix units take; every device that is taken has one.
inline std::string format_of(const Device& device) {
    for (std::size_t i = 0; i < kDTypes; ++i)
        if (device.supports(static_cast<DType>(i))) return std::string(to_string(static_cast<DType>(i)));
    throw std::logic_error("a device without any number format was taken");
}

/// A trace whose parameter `dtype` is `dtype`.
inline Graph network_of(const char* trace, const std::string& dtype) {
    return build_trace(config::parse_yaml(trace, "t.yaml"), {{"dtype", dtype, {"dtype", 1, 1}}});
}

/// What holds of every run, seen from outside.
inline void expect_sound(const DeviceResult& result, const Graph& graph) {
    if (result.total.macs != total_macs(graph)) throw std::logic_error("MACs that nobody did");
    if (result.total.utilization() > 1) throw std::logic_error("more than all of the capacity is useful");
    if (result.total.cycles < result.total.roofline.floor())
        throw std::logic_error("a run below its roofline");
}

}  // namespace systole::fuzz
