// SPDX-License-Identifier: Apache-2.0
// Clients that meet in the banks of the scratchpad: who waits, for how long, and who pays.
#include <catch2/catch.hpp>

#include "models/devices/systolic/machine/results.h"
#include "models/devices/systolic/program/program_reader.h"
#include "tests/module/systolic/both_engines.h"
#include "tests/module/systolic/counts.h"
#include "tests/support/machines.h"

namespace systole::systolic {
namespace {

/// Two 4 x 4 arrays with a stream port each, tiles straight out of four banks of 16 bytes.
SystolicSpec two_arrays(BankAccess access) {
    SystolicSpec spec = test::small_machine(4, 4);
    spec.mxu.count = 2;
    spec.mxu.weight_fifo_tiles = 0;
    spec.scratchpad.activation_ports = 2;
    spec.scratchpad.dma_port_bytes = Bytes(64);  // as much as the banks give
    spec.scratchpad.bank_access = access;
    spec.sequencer.issue_cycles = Cycles(0);
    return spec;
}

/// Cycles of one array.
std::int64_t on_chip(const DeviceResult& result) {
    return result.total.slots[static_cast<std::size_t>(SlotClass::OnChip)] / (16 * 1000);
}

std::int64_t of_banks(const DeviceResult& result, const std::string& name) {
    return counter(result, name, "scratchpad");
}

/// Patterns: 0, eight vectors in one bank; 1, a tile in one line; 2, sixteen lines in one bank. Everything is
/// loaded before the first command of `rest` may start; tiles lie in banks 1 and 2.
std::string program_of(int macs, const std::string& rest) {
    return "systole-program 2\narray dataflow=ws\nlayer \"l\" op=matmul macs=" + std::to_string(macs) +
           " compulsory_dram=80 dtype=int8\n"
           "stream levels=1*0,1*0,8*64 segments=0+4\n"
           "stream levels=1*0,1*0,4*4 segments=0+4\n"
           "stream levels=1*0,1*0,16*64 segments=0+16\n"
           "load layer=0 from=dram:0 to=scratchpad:0 rows=1 row_bytes=1024 operand=activations\n"
           "load layer=0 from=dram:1024 to=scratchpad:24576 rows=1 row_bytes=64 operand=weights\n" +
           rest;
}

const std::string kPass0 =
    "mxu0 layer=0 left=0:0 top=1:24592 m=8 k=4 n=4 accumulator=0 mode=set tile=next dtype=int8 "
    "after=load:2\n";
const std::string kPass1 =
    "mxu1 layer=0 left=0:0 top=1:24608 m=8 k=4 n=4 accumulator=0 mode=set tile=next dtype=int8 "
    "after=load:2\n";

}  // namespace

TEST_CASE("of two arrays that stream out of one bank, the second takes its vectors every other cycle",
          "[banks]") {
    const std::string program = program_of(256, kPass0 + kPass1);
    const DeviceResult alone = run_on_both_engines(two_arrays(BankAccess::Private), program);
    const DeviceResult together = run_on_both_engines(two_arrays(BankAccess::Split), program);
    // The first has taken all of bank 0 for eight cycles; the other needs eight more. Its last vector enters
    // in cycle 14 of its pass instead of 7.
    CHECK(together.total.cycles == alone.total.cycles + Cycles(7));
    CHECK(on_chip(together) == on_chip(alone) + 8);
    CHECK(of_banks(together, "stream_accesses") == 16);
    CHECK(of_banks(together, "stream_conflict_cycles") == 8);
    CHECK(of_banks(together, "tile_accesses") == 2);
    CHECK(of_banks(together, "tile_conflict_cycles") == 0);
    CHECK(of_banks(alone, "stream_accesses") == -1);  // nobody meets anybody: nothing to count

    SystolicSpec wide = two_arrays(BankAccess::Split);
    wide.scratchpad.bank_ports = 2;
    CHECK(run_on_both_engines(wide, program).total.cycles == alone.total.cycles);
    // Elsewhere in the banks nobody is in the way.
    std::string apart = program;
    apart.replace(apart.find("mxu1 layer=0 left=0:0") + 13, 8, "left=0:48");
    CHECK(run_on_both_engines(two_arrays(BankAccess::Shared), apart).total.cycles == alone.total.cycles);
}

TEST_CASE("of two arrays with one stream port, the second waits while the first streams, and only then",
          "[banks]") {
    SystolicSpec spec = two_arrays(BankAccess::Private);
    spec.scratchpad.activation_ports = 1;
    // Each array's second pass begins when the other's is through, and finds the port free.
    std::string again0 = kPass0, again1 = kPass1;
    again0.replace(again0.find("after=load:2"), 12, "after=mxu1:1");
    again1.replace(again1.find("after=load:2"), 12, "after=mxu0:2");
    const DeviceResult result = run_on_both_engines(spec, program_of(512, kPass0 + kPass1 + again0 + again1));
    std::int64_t waited = 0;
    for (const Stat& stat : result.stats)
        if (stat.name == "port_wait_cycles") waited += stat.value;
    CHECK(waited == 8);  // vectors of the first pass
}

TEST_CASE("the vector unit takes longer where a pass has taken the bank, and its wait is on_chip",
          "[banks]") {
    // It starts with the shift of the tile, four cycles before the pass, and reads sixteen lines of bank 0.
    const std::string work =
        "vector layer=0 elements=16 lane_cycles=16 read=256 written=0 reads_at=2:0 macs=0 operand=outputs "
        "after=load:2\n";
    const std::string program = program_of(128, kPass0 + work);
    const DeviceResult alone = run_on_both_engines(two_arrays(BankAccess::Private), program);
    const DeviceResult together = run_on_both_engines(two_arrays(BankAccess::Split), program);
    // 256 bytes through a port of 32 are eight cycles alone, one line a cycle of the bank sixteen. The pass
    // finds nothing of the bank for the twelve that are left, and needs eight: 20 for eight vectors, the last
    // of which enters in cycle floor(7 * 20 / 8) = 17 instead of 7.
    CHECK(of_banks(together, "vector_accesses") == 16);
    CHECK(of_banks(together, "vector_conflict_cycles") == 8);
    CHECK(of_banks(together, "stream_conflict_cycles") == 12);
    CHECK(together.total.cycles.value() == alone.total.cycles.value() + 10);
    CHECK(on_chip(together) == on_chip(alone) + 12);
}

TEST_CASE("a pass that streams both operands asks for the lines of both", "[banks]") {
    SystolicSpec spec = two_arrays(BankAccess::Split);
    spec.mxu.dataflow = Dataflow::OutputStationary;
    std::string program = program_of(128,
                                     "mxu0 layer=0 left=1:0 top=0:16 m=4 k=8 n=4 accumulator=0 mode=set "
                                     "tile=next dtype=int8 after=load:2\n");
    program.replace(program.find("dataflow=ws"), 11, "dataflow=os");
    const DeviceResult result = run_on_both_engines(spec, program);
    CHECK(of_banks(result, "stream_accesses") == 1 + 8);  // a line of four vectors; a line each of eight
    CHECK(of_banks(result, "stream_conflict_cycles") == 0);
}

TEST_CASE("an array that waits for the vector unit waits for the banks as long as that does", "[banks]") {
    // Sixteen lines of one bank through a port that takes two a cycle.
    const std::string work =
        "vector layer=0 elements=16 lane_cycles=16 read=256 written=0 reads_at=2:0 macs=0 operand=outputs "
        "after=load:2\n";
    std::string pass = kPass0;
    pass.replace(pass.find("load:2"), 6, "load:2,vector:1");
    const DeviceResult alone =
        run_on_both_engines(two_arrays(BankAccess::Private), program_of(128, work + pass));
    const DeviceResult together =
        run_on_both_engines(two_arrays(BankAccess::Shared), program_of(128, work + pass));
    CHECK(together.total.cycles.value() == alone.total.cycles.value() + 8);
    CHECK(on_chip(together) - on_chip(alone) == 2 * 8);  // both arrays wait
    const auto vector = static_cast<std::size_t>(SlotClass::Vector);
    CHECK(together.total.slots[vector] == alone.total.slots[vector]);
}

TEST_CASE("a load waits for results that are written into its banks", "[banks]") {
    // Eight cycles of work that write eight lines of bank 0, and a load into the same lines.
    const std::string line =
        "vector layer=0 elements=8 lane_cycles=32 read=0 written=32 writes_at=0:0 macs=0 operand=outputs ";
    const std::string load =
        "load layer=0 from=dram:0 to=scratchpad:0 rows=8 row_bytes=16 to_stride=64 operand=activations "
        "after=load:2\n";
    const std::string program = program_of(0, line + "after=load:2\n" + load);
    const DeviceResult split = run_on_both_engines(two_arrays(BankAccess::Split), program);
    CHECK(of_banks(split, "vector_accesses") == 8);
    // The results have been promised all of bank 0 for eight cycles, of which the first row waits.
    CHECK(of_banks(split, "dma_conflict_cycles") == 8);
    CHECK(of_banks(split, "vector_conflict_cycles") == 0);
}

TEST_CASE("a store reads what a pass leaves of the banks, a load writes beside it", "[banks]") {
    const std::string program =
        program_of(128, kPass0 +
                            "store layer=0 from=scratchpad:0 to=dram:0 rows=1 row_bytes=1024 "
                            "operand=outputs after=load:2\n");
    const DeviceResult alone = run_on_both_engines(two_arrays(BankAccess::Private), program);
    const DeviceResult together = run_on_both_engines(two_arrays(BankAccess::Split), program);
    // 64 lines, sixteen cycles for all four banks. The tile has been promised a line of bank 1 (the array
    // asks first), which makes them seventeen; of these a bank gives the store 16/17 of what is free. Four
    // cycles later the pass finds 1/17 of bank 0 for thirteen cycles, and needs eight lines: 13 + 8 - 13/17
    // = 20.2.
    CHECK(of_banks(together, "dma_accesses") == 64 + 4 + 64);
    CHECK(of_banks(together, "dma_conflict_cycles") == 1);
    CHECK(of_banks(together, "stream_conflict_cycles") == 21 - 8);
    CHECK(together.total.cycles > alone.total.cycles);
}

}  // namespace systole::systolic
