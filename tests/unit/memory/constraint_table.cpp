// SPDX-License-Identifier: Apache-2.0
// The tables as a datasheet speaks: one tick before a command is blocked, at the tick it is ready.
#include "models/memory/standards/constraint_table.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "models/memory/controller/bank_timing.h"
#include "models/memory/controller/command_bus.h"
#include "tests/unit/memory/memory_presets.h"
#include "tests/unit/memory/memory_specs.h"

namespace systole::test {

using enum Command;

namespace {

/// The banks of a pseudo-channel behind the command buses, which the table covers together.
struct Device {
    explicit Device(const DramSpec& spec) : timing(spec), bus(spec) {}
    Cycles earliest(Command command, int bank) const {
        return std::max(timing.earliest(command, bank), bus.free(command));
    }
    void issue(Command command, int bank, Cycles clock) {
        timing.issue(command, bank, clock);
        bus.take(command, clock);
    }
    BankTiming timing;
    CommandBus bus;
};

}  // namespace

TEST_CASE("a latency is a sum of parameters and numbers") {
    const TimingParameters timing{{"CL", 14}, {"CWL", 5}, {"BL", 2}};
    CHECK(evaluate_latency("CL", timing) == Cycles(14));
    CHECK(evaluate_latency("CL + BL - CWL", timing) == Cycles(11));
    CHECK(evaluate_latency("CWL + 1", timing) == Cycles(6));
}

TEST_CASE("every table reads with its own parameters and asks for no negative distance") {
    for (const ConstraintTable& table : constraint_tables()) {
        TimingParameters ones{{"BL", 1}};
        for (const std::string_view name : table.parameters) ones[std::string(name)] = 1;
        for (const ConstraintRow& row : table.rows) CHECK(evaluate_latency(row.latency, ones) >= Cycles(0));
    }
}

TEST_CASE("HBM2: an ACT takes two clocks, and a bank's cycle counts from its second") {
    Device banks(hbm2());
    banks.issue(Act, 0, Cycles(100));
    CHECK(banks.earliest(Read, 0) == Cycles(115));   // RCDRD 14, from the second clock
    CHECK(banks.earliest(Write, 0) == Cycles(113));  // RCDWR 12
    CHECK(banks.earliest(Pre, 0) == Cycles(135));    // RAS 34
    CHECK(banks.earliest(Act, 0) == Cycles(148));    // RC 48, first clock to first clock
    CHECK(banks.earliest(Act, 1) == Cycles(106));    // RRD_L 6: same group
    CHECK(banks.earliest(Act, 4) == Cycles(104));    // RRD_S 4
    CHECK(banks.earliest(Pre, 4) == Cycles(102));    // the row bus
    banks.issue(Pre, 0, Cycles(135));
    CHECK(banks.earliest(Act, 0) == Cycles(148));  // RP - 1 = 13 meets RC
    CHECK(banks.earliest(Act, 4) == Cycles(136));
}

TEST_CASE("HBM2: columns within a bank group are CCD_L apart, across CCD_S, and turn around by the table") {
    Device banks(hbm2());
    banks.issue(Read, 0, Cycles(50));
    CHECK(banks.earliest(Read, 3) == Cycles(54));
    CHECK(banks.earliest(Read, 4) == Cycles(52));
    CHECK(banks.earliest(Write, 4) == Cycles(63));  // RTW 13
    CHECK(banks.earliest(Pre, 0) == Cycles(55));    // RTP 5
    banks.issue(Write, 0, Cycles(63));
    CHECK(banks.earliest(Read, 4) == Cycles(63 + 5 + 2 + 6));
    CHECK(banks.earliest(Read, 1) == Cycles(63 + 5 + 2 + 8));
    CHECK(banks.earliest(Pre, 0) == Cycles(63 + 5 + 2 + 16));
}

TEST_CASE("HBM2: after a column with auto-precharge the bank closes itself") {
    Device banks(hbm2());
    banks.issue(Act, 0, Cycles(100));
    banks.issue(ReadAp, 0, Cycles(140));
    CHECK(banks.earliest(Act, 0) == Cycles(158));      // RTP 5 + RP 14, less one for ACT's first clock
    CHECK(banks.earliest(Refresh, 0) == Cycles(159));  // RTP + RP
    CHECK(banks.earliest(PreAll, 1) == Cycles(145));   // the other banks, once this one closes
    CHECK(banks.earliest(Read, 4) == Cycles(142));     // on the data bus it is a read
    banks.issue(WriteAp, 4, Cycles(153));              // RTW 13
    CHECK(banks.earliest(Act, 4) == Cycles(153 + 5 + 2 + 16 + 14 - 1));
    CHECK(banks.earliest(RefreshBank, 4) == Cycles(153 + 5 + 2 + 16 + 14));
}

TEST_CASE("HBM2: an auto-precharge waits for RAS, so the bank's next ACT waits for RC") {
    Device banks(hbm2());
    banks.issue(Act, 0, Cycles(100));
    banks.issue(ReadAp, 0, Cycles(115));
    CHECK(banks.earliest(Act, 0) == Cycles(148));          // not 115 + RTP + RP - 1 = 133
    CHECK(banks.earliest(RefreshBank, 0) == Cycles(149));  // RC from ACT's second clock
    CHECK(banks.earliest(Refresh, 0) == Cycles(149));
}

TEST_CASE("HBM2: a refresh of one bank lets the others go on") {
    Device banks(hbm2());
    banks.issue(Act, 1, Cycles(90));
    CHECK(banks.earliest(RefreshBank, 0) == Cycles(95));  // RRD_S 4 from ACT's second clock
    banks.issue(RefreshBank, 0, Cycles(100));
    CHECK(banks.earliest(Act, 0) == Cycles(259));  // RFCSB 160 - 1
    CHECK(banks.earliest(RefreshBank, 0) == Cycles(260));
    CHECK(banks.earliest(Act, 2) == Cycles(107));          // RREFD 8 - 1
    CHECK(banks.earliest(RefreshBank, 2) == Cycles(108));  // RREFD
    CHECK(banks.earliest(Read, 1) == Cycles(105));         // untouched: RCDRD after its ACT
    CHECK(banks.earliest(Refresh, 0) == Cycles(260));
    CHECK(banks.earliest(Pre, 1) == Cycles(125));  // RAS
}

TEST_CASE("a fifth ACT waits for the four-activate window") {
    Device banks(ddr3());
    for (int i = 0; i < 4; ++i) banks.issue(Act, i, Cycles(6 * i));
    CHECK(banks.earliest(Act, 4) == Cycles(27));  // FAW 27 after the first, not 6 after the last
    banks.issue(Act, 4, Cycles(27));
    CHECK(banks.earliest(Act, 5) == Cycles(33));  // FAW of the second ends at 33 = RRD of the fifth
}

TEST_CASE("DDR3: one command bus, and refresh blocks the rank for RFC") {
    Device banks(ddr3());
    banks.issue(Act, 0, Cycles(10));
    CHECK(banks.earliest(Read, 1) == Cycles(11));
    CHECK(banks.earliest(PreAll, 0) == Cycles(46));
    banks.issue(PreAll, 0, Cycles(46));
    CHECK(banks.earliest(Refresh, 0) == Cycles(60));
    banks.issue(Refresh, 0, Cycles(60));
    CHECK(banks.earliest(Act, 7) == Cycles(338));
}

// The other standards in their shipped bins; the figures are those of the preset.

TEST_CASE("DDR4: bank groups on one command bus, no refresh of one bank") {
    const ConstraintTable& table = *find_constraint_table("DDR4");
    CHECK_FALSE(table.refreshes_banks());
    BankTiming banks(memory_spec("ddr4_3200"));
    banks.issue(Act, 0, Cycles(10));
    CHECK(banks.earliest(Act, 1) == Cycles(18));  // RRD_L 8: same group
    CHECK(banks.earliest(Act, 4) == Cycles(14));  // RRD_S 4
    CHECK(banks.earliest(Read, 0) == Cycles(32));
    CHECK(banks.earliest(WriteAp, 0) == Cycles(32));
    banks.issue(Read, 0, Cycles(32));
    CHECK(banks.earliest(ReadAp, 1) == Cycles(40));  // CCD_L 8
    CHECK(banks.earliest(Read, 4) == Cycles(36));    // CCD_S 4
    CHECK(banks.earliest(Write, 4) == Cycles(44));   // RTW 12
    CHECK(banks.earliest(Pre, 0) == Cycles(62));     // RAS 52 of the ACT, not RTP 12 of the read
}

TEST_CASE("GDDR6: reads and writes have RCDs of their own, and a bank is refreshed alone") {
    BankTiming banks(memory_spec("gddr6_14000"));
    banks.issue(Act, 0, Cycles(100));
    CHECK(banks.earliest(Read, 0) == Cycles(127));
    CHECK(banks.earliest(Write, 0) == Cycles(116));
    CHECK(banks.earliest(RefreshBank, 4) == Cycles(107));  // RRD_L 7 after an ACT elsewhere
    banks.issue(RefreshBank, 4, Cycles(107));
    CHECK(banks.earliest(Act, 4) == Cycles(212));  // RFCSB 105
    CHECK(banks.earliest(Act, 8) == Cycles(121));  // RREFD 14
    CHECK(banks.earliest(RefreshBank, 8) == Cycles(121));
}

TEST_CASE("LPDDR5: ACT takes two clocks of the bus, and all banks close more slowly than one") {
    const DramSpec spec = memory_spec("lpddr5_6400");
    const ConstraintTable& table = *find_constraint_table("LPDDR5");
    CHECK(min_distance(table, spec.timing, Scope::Channel, Act, Read) == Cycles(2));
    CHECK(min_distance(table, spec.timing, Scope::Channel, Pre, Read) == Cycles(1));
    BankTiming banks(spec);
    banks.issue(Act, 0, Cycles(100));
    CHECK(banks.earliest(Read, 0) == Cycles(115));  // RCD from ACT-1
    banks.issue(Pre, 0, Cycles(134));
    CHECK(banks.earliest(Pre, 5) == Cycles(136));  // PPD 2
    CHECK(banks.earliest(Act, 0) == Cycles(149));  // RP 15, RC 49
    banks.issue(PreAll, 0, Cycles(140));
    CHECK(banks.earliest(Act, 9) == Cycles(157));  // RPAB 17
    CHECK(banks.earliest(Refresh, 0) == Cycles(157));
    banks.issue(RefreshBank, 3, Cycles(157));
    CHECK(banks.earliest(Act, 9) == Cycles(163));          // PBR2ACT 6
    CHECK(banks.earliest(RefreshBank, 9) == Cycles(229));  // PBR2PBR 72
    CHECK(banks.earliest(Act, 3) == Cycles(253));          // RFCSB 96
}

TEST_CASE("HBM3: precharges keep a distance, and the row bus is as in HBM2") {
    const DramSpec spec = memory_spec("hbm3_6400");
    const ConstraintTable& table = *find_constraint_table("HBM3");
    CHECK(min_distance(table, spec.timing, Scope::Channel, Act, Pre) == Cycles(2));
    CHECK(min_distance(table, spec.timing, Scope::Channel, Read, Act) == Cycles(0));
    CHECK(min_distance(table, spec.timing, Scope::Channel, Read, Write) == Cycles(1));
    BankTiming banks(spec);
    banks.issue(Pre, 0, Cycles(100));
    CHECK(banks.earliest(Pre, 7) == Cycles(102));  // PPD
    CHECK(banks.earliest(Act, 0) == Cycles(125));  // RP 26 - 1
    banks.issue(Act, 0, Cycles(125));
    CHECK(banks.earliest(Read, 0) == Cycles(157));  // RCDRD 31 + 1
}

TEST_CASE("a command of the table is one that the standard has") {
    for (const ConstraintTable& table : constraint_tables())
        for (const ConstraintRow& row : table.rows) {
            if (row.scope == Scope::Channel || table.refreshes_banks()) continue;
            INFO(table.standard << ": " << row.latency);
            CHECK(std::count(row.preceding.begin(), row.preceding.end(), RefreshBank) == 0);
            CHECK(std::count(row.following.begin(), row.following.end(), RefreshBank) == 0);
        }
}

}  // namespace systole::test
