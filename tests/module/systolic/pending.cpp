// SPDX-License-Identifier: Apache-2.0
// Overlapping counters of what passes waited for, on hand-made programs.
#include "models/devices/systolic/machine/pending.h"

#include <catch2/catch.hpp>

#include "tests/module/systolic/both_engines.h"
#include "tests/support/machines.h"

namespace systole::systolic {
namespace {

std::int64_t cycles(const DeviceResult& result, const std::string& name) {
    for (const Stat& stat : result.stats)
        if (stat.path == "small.mxu0" && stat.name == name) return stat.value / 1000;  // 1 cycle = 1000 ps
    FAIL("no counter " << name);
    return 0;
}

/// Two passes on a tile each; the second waits for results that the vector unit writes, as a layer does for
/// the one before it.
constexpr const char* kTwoLayers = R"(systole-program 2
trace "two layers"
array dataflow=ws
layer "one" op=matmul macs=128 compulsory_dram=80 dtype=int8 mapping="by hand"
layer "two" op=matmul macs=128 compulsory_dram=80 dtype=int8 mapping="by hand"
stream levels=1*0,1*0,8*4 segments=0+4
load layer=0 from=dram:0 to=scratchpad:24576 rows=1 row_bytes=32 operand=weights
load layer=0 from=dram:4096 to=scratchpad:0 rows=1 row_bytes=32 operand=activations
weights0 layer=0 from=scratchpad:24576 to=weight_fifo:0 rows=1 row_bytes=16 operand=weights after=load:1
mxu0 layer=0 left=0:0 m=8 k=4 n=4 accumulator=0 mode=set tile=next dtype=int8 after=load:2
vector layer=0 elements=32 lane_cycles=32 read=0 written=32 macs=0 operand=activations mxu=0 accumulator=0 rows=8 cols=4 after=mxu0:1
weights0 layer=1 from=scratchpad:24592 to=weight_fifo:0 rows=1 row_bytes=16 operand=weights after=load:1
mxu0 layer=1 left=0:1024 m=8 k=4 n=4 accumulator=8 mode=set tile=next dtype=int8 after=vector:1
vector layer=1 elements=32 lane_cycles=32 read=0 written=32 macs=0 operand=outputs mxu=0 accumulator=8 rows=8 cols=4 after=mxu0:2
store layer=1 from=scratchpad:49152 to=dram:8192 rows=1 row_bytes=32 operand=outputs after=vector:2
)";

}  // namespace

TEST_CASE("classes that are outstanding at the same time count both, what overlaps within one counts once",
          "[pending]") {
    PendingTime pending;
    pending.wait(Ticks(100), Ticks(200));
    pending.outstanding(SlotClass::Memory, Ticks(150));              // from the wait's beginning
    pending.outstanding(SlotClass::Memory, Ticks(120), Ticks(170));  // another one, 20 longer
    pending.outstanding(SlotClass::Host, Ticks(0), Ticks(130));      // began before the wait
    pending.outstanding(SlotClass::Ramp, Ticks(180), Ticks(400));    // lasts beyond it
    pending.outstanding(SlotClass::Vector, Ticks(10), Ticks(90));    // is over before it
    CHECK(pending.settled() == Ticks(200));
    pending.close();
    pending.wait(Ticks(300), Ticks(310));
    pending.outstanding(SlotClass::Memory, Ticks(305));
    pending.close();
    CHECK(pending.of(SlotClass::Memory) == Ticks(70 + 5));
    CHECK(pending.of(SlotClass::Host) == Ticks(30));
    CHECK(pending.of(SlotClass::Ramp) == Ticks(20));
    CHECK(pending.of(SlotClass::Vector) == Ticks(0));
    CHECK(pending.waited() == Ticks(110));
}

// cycle        0    1    2    3    4         8             16       22        30   31   35
// sequencer    |ldW |ldA |wgt |mxu |vec |wgt |mxu |vec |sto
// load              |W   |A   |
// weights                     |one |      |two |
// shift                            |one......|two......|
// pass                                       |8 vectors....|drain...|              |two ...
// vector                                                            |8 rows...|pipe|
TEST_CASE("while a layer waits for the one before, its weights may wait with it", "[pending]") {
    const DeviceResult result = run_on_both_engines(test::small_machine(4, 4), kTwoLayers);
    // First wait 0 to 8: the command until 4, the inputs until 3, the tile's weights until 2 from memory and
    // until 4 on their way into the FIFO, its shift from 4 on. Second wait 16 to 31: for the vector unit
    // only; the second tile was in at 12.
    CHECK(cycles(result, "waited") == 8 + 15);
    CHECK(cycles(result, "pending_launch") == 4);
    CHECK(cycles(result, "pending_memory") == 3);
    CHECK(cycles(result, "pending_on_chip") == 2);
    CHECK(cycles(result, "pending_ramp") == 4);
    CHECK(cycles(result, "pending_vector") == 15);
    CHECK(cycles(result, "pending_host") == 0);
}

TEST_CASE("a tile that comes late is pending beside the results of the layer before", "[pending]") {
    std::string text = kTwoLayers;
    // The second tile is the vector unit's to wait for, too: it is read at 31 and in the FIFO at 32.
    text.replace(text.rfind("after=load:1"), 12, "after=vector:1");
    const DeviceResult result = run_on_both_engines(test::small_machine(4, 4), text);
    CHECK(cycles(result, "pending_vector") == 15);
    CHECK(cycles(result, "pending_on_chip") == 2 + 1);
    CHECK(cycles(result, "pending_ramp") == 4 + 4);
    CHECK(cycles(result, "waited") == 8 + 20);
}

TEST_CASE("weights that come through the scratchpad are waited for in memory first", "[pending]") {
    std::string text = kTwoLayers;
    // The second tile's weights are fetched once the vector unit is done: asked for at 31, there at 32, in
    // the FIFO at 33.
    const std::string fetch =
        "load layer=1 from=dram:32 to=scratchpad:24592 rows=1 row_bytes=16 operand=weights after=vector:1\n";
    text.insert(text.find("weights0 layer=1"), fetch);
    text.replace(text.rfind("after=load:1"), 12, "after=load:3");
    const DeviceResult result = run_on_both_engines(test::small_machine(4, 4), text);
    CHECK(cycles(result, "pending_memory") == 3 + 16);
    CHECK(cycles(result, "pending_vector") == 15);
    CHECK(cycles(result, "pending_on_chip") == 2 + 1);
    CHECK(cycles(result, "pending_ramp") == 4 + 4);
    CHECK(cycles(result, "waited") == 8 + 21);
}

}  // namespace systole::systolic
