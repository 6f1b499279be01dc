// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/account/sample_result.h"

namespace systole::test {
namespace {

// 60 cycles = 60,000 ps x 4 slots: 90,000 useful, 30,000 padding, 24,000 ramp, 96,000 memory.
ResultRow convolution() {
    ResultRow row;
    row.name = "conv1";
    row.op = "conv2d";
    row.cycles = Cycles(60);
    row.begin = Ticks(0);
    row.end = Ticks(60'000);
    row.macs = row.matrix_macs = Macs(90);
    row.slots = {90'000, 30'000, 24'000, 0, 96'000, 0, 0, 0, 0, 0};
    row.movements = {{Place::Host, Place::Dram, Operand::Activations, Bytes(50)},
                     {Place::Dram, Place::Scratchpad, Operand::Activations, Bytes(50)},
                     {Place::Dram, Place::WeightFifo, Operand::Weights, Bytes(2000)}};
    row.dram_read = Bytes(2050);
    row.dram_written = Bytes(50);
    row.compulsory_dram = Bytes(2050);
    row.roofline.cycles = {Cycles(23), Cycles(0), Cycles(11), Cycles(20), Cycles(10)};
    row.bound_by = "compute";
    row.mapping = "im2col, \"packed\"";
    return row;
}

// 40 cycles = 160,000 slot-picoseconds: 10,000 useful, 100,000 vector, 50,000 host.
ResultRow head() {
    ResultRow row;
    row.name = "fc";
    row.op = "matmul";
    row.cycles = Cycles(40);
    row.begin = Ticks(60'000);
    row.end = Ticks(100'000);
    row.macs = Macs(12);
    row.matrix_macs = Macs(10);
    row.slots = {10'000, 0, 0, 50'000, 0, 0, 0, 100'000, 0, 0};
    row.movements = {{Place::Scratchpad, Place::Dram, Operand::Outputs, Bytes(30)},
                     {Place::Dram, Place::Host, Operand::Outputs, Bytes(30)}};
    row.dram_read = Bytes(30);
    row.dram_written = Bytes(30);
    row.compulsory_dram = Bytes(30);
    row.lane_cycles = 8;
    row.roofline.cycles = {Cycles(1), Cycles(2), Cycles(1), Cycles(2), Cycles(3)};
    row.bound_by = "vector";
    row.reused = true;
    return row;
}

ResultRow total() {
    ResultRow row;
    row.cycles = Cycles(100);
    row.begin = Ticks(0);
    row.end = Ticks(100'000);
    row.macs = Macs(102);
    row.matrix_macs = Macs(100);
    row.slots = {100'000, 30'000, 24'000, 50'000, 96'000, 0, 0, 100'000, 0, 0};
    row.movements = {{Place::Host, Place::Dram, Operand::Activations, Bytes(50)},
                     {Place::Dram, Place::Host, Operand::Outputs, Bytes(30)},
                     {Place::Dram, Place::Scratchpad, Operand::Activations, Bytes(50)},
                     {Place::Dram, Place::WeightFifo, Operand::Weights, Bytes(2000)},
                     {Place::Scratchpad, Place::Dram, Operand::Outputs, Bytes(30)}};
    row.dram_read = Bytes(2080);
    row.dram_written = Bytes(80);
    row.compulsory_dram = Bytes(2080);
    row.lane_cycles = 8;
    row.roofline.cycles = {Cycles(25), Cycles(2), Cycles(12), Cycles(22), Cycles(13)};
    row.bound_by = "compute";
    return row;
}

}  // namespace

DeviceResult sample_result() {
    DeviceResult result;
    result.device = "tiny_tpu";
    result.trace = "tiny";
    result.protocol = {{"run.inputs_at", "host"}, {"run.launch", "none"}};
    result.clock = Hertz(1'000'000'000);
    result.peaks = sample_expectations().peaks;
    result.dtypes = {{"int8", {4}}, {"bf16", {2}}};
    result.total = total();
    result.layers = {convolution(), head()};
    result.critical_path = {{SlotClass::Vector, Ticks(40'100)},
                            {SlotClass::Memory, Ticks(30'000)},
                            {SlotClass::Useful, Ticks(20'000)},
                            {SlotClass::Ramp, Ticks(9'500)},
                            {SlotClass::Launch, Ticks(400)}};
    result.stats = {{"tiny_tpu.mxu0", "passes", "passes", "tile passes started", 9'007'199'254'740'993}};
    result.stats.push_back({"tiny_tpu.dram", "read_bursts", "bursts", "read commands given", 65});
    result.energy.enter({"tiny_tpu.dram", "read", "read_bursts", "bursts", 65, Femtojoules(890'500)});
    result.energy.enter({"tiny_tpu.dram", "background", "", "ps", 100'000, Femtojoules(33)});
    result.tensors = {{"conv1.weights", "dram", "row-major", 4096, Bytes(2000)}};
    result.effective_config = "device: tiny\nmxu: {rows: 2}\n";
    return result;
}

Expectations sample_expectations() {
    Expectations expected;
    expected.capacity = 400'000;
    expected.macs = Macs(102);
    expected.ends = {{Place::Dram, Bytes(2080), Bytes(80)}, {Place::Host, Bytes(50), Bytes(30)}};
    // 21.6 bytes a cycle reach DRAM: just enough. The link carries 0.5 bytes a cycle each way. Of the
    // scratchpad, 50 bytes are written and 30 are read.
    expected.peaks = {{4},
                      4,
                      OnChipPeak{1, false},
                      BytesPerSecond(21'600'000'000),
                      BytesPerSecond(500'000'000),
                      Hertz(1'000'000'000)};
    return expected;
}

}  // namespace systole::test
