// SPDX-License-Identifier: Apache-2.0
// Machines for tests, built as values.
#pragma once

#include "models/devices/systolic/spec/spec.h"

namespace systole::test {

/// One R x C array at 1 GHz where everything that can take one cycle takes one: ideal memory, wide ports.
inline systolic::SystolicSpec small_machine(int rows, int cols) {
    systolic::SystolicSpec spec;
    spec.name = "small";
    spec.core_clock = Hertz(1'000'000'000);
    spec.mxu.rows = rows;
    spec.mxu.cols = cols;
    spec.mxu.weight_fifo_tiles = 2;
    spec.mxu.accumulator_rows = 64;
    spec.mxu.accumulator_latency = Cycles(1);
    for (const DType dtype : {DType::Int8, DType::Bf16, DType::Fp32})
        spec.mxu.rate[static_cast<std::size_t>(dtype)] = MacRate{1};
    spec.scratchpad = {.capacity = Bytes(65536),
                       .banks = 4,
                       .bank_bytes = Bytes(16),
                       .activation_ports = 1,
                       .weight_port_bytes = Bytes(16),
                       .dma_port_bytes = Bytes(1024),
                       .latency = Cycles(0)};
    spec.vector.lanes = 4;
    spec.vector.startup = Cycles(1);
    spec.vector.read_bytes_per_cycle = Bytes(32);
    spec.vector.write_bytes_per_cycle = Bytes(16);
    spec.vector.accumulator_rows_per_cycle = 1;
    spec.sequencer = {.issue_cycles = Cycles(1), .queue_depth = 8, .launch_latency = Ticks(100'000)};
    spec.placement.input_buffer = Bytes(24576);
    spec.placement.weight_buffer = Bytes(24576);
    spec.placement.output_buffer = Bytes(16384);
    spec.dma = {.setup_cycles = Cycles(0), .in_flight = Bytes(4096), .payload = Bytes(1024)};
    spec.host = {.bandwidth = BytesPerSecond(16'000'000'000), .latency = Ticks(10'000)};
    spec.memory.kind = DramSpec::Kind::Ideal;
    spec.memory.flat_capacity = Bytes(1 << 24);
    return spec;
}

}  // namespace systole::test
