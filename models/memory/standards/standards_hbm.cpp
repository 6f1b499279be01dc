// SPDX-License-Identifier: Apache-2.0
// HBM: a row bus and a column bus, each shared by the two pseudo-channels of a channel. ACT takes two clocks
// on the row bus (HBM3: one and a half, rounded up to the whole clocks that we count in, as PRE and REF are
// from a half to one); what it starts counts from its second clock, hence +1 after an ACT and -1 before it.
#include "models/memory/standards/standards.h"

namespace systole::standards {
namespace {

using enum Command;
using enum Scope;

std::vector<ConstraintRow> command_buses() {
    return {
        // the row bus
        {Channel, {Act}, {Act, Pre, PreAll, Refresh, RefreshBank}, "2"},
        {Channel, {Pre, PreAll, Refresh, RefreshBank}, {Act, Pre, PreAll, Refresh, RefreshBank}, "1"},
        // the column bus
        {Channel, {Read, Write, ReadAp, WriteAp}, {Read, Write, ReadAp, WriteAp}, "1"},
    };
}

std::vector<ConstraintRow> hbm_bank_cycle() {
    return {
        {Bank, {Act}, kReads, "RCDRD + 1"},
        {Bank, {Act}, kWrites, "RCDWR + 1"},
        {Bank, {Act}, {Pre}, "RAS + 1"},
        {Bank, {Act}, {Act}, "RC"},  // also where an auto-precharge waits for RAS
        {Bank, {Read}, {Pre}, "RTP"},
        {Bank, {Write}, {Pre}, "CWL + BL + WR"},
        {Bank, {Pre}, {Act}, "RP - 1"},
        {Bank, {ReadAp}, {Act}, "RTP + RP - 1"},
        {Bank, {WriteAp}, {Act}, "CWL + BL + WR + RP - 1"},
        // activations share the charge pumps
        {PseudoChannel, {Act}, {Act}, "RRD_S"},
        {Group, {Act}, {Act}, "RRD_L"},
        {PseudoChannel, {Act}, {Act}, "FAW", 4},
    };
}

std::vector<ConstraintRow> all_bank_refresh() {
    return {
        {PseudoChannel, {Act}, {PreAll}, "RAS + 1"},
        {PseudoChannel, kReads, {PreAll}, "RTP"},
        {PseudoChannel, kWrites, {PreAll}, "CWL + BL + WR"},
        {PseudoChannel, {PreAll}, {Act}, "RP - 1"},
        {PseudoChannel, {Pre, PreAll}, {Refresh}, "RP"},
        {PseudoChannel, {ReadAp}, {Refresh}, "RTP + RP"},
        {PseudoChannel, {WriteAp}, {Refresh}, "CWL + BL + WR + RP"},
        {PseudoChannel, {Act}, {Refresh}, "RC + 1"},
        {PseudoChannel, {Refresh}, {Act}, "RFC - 1"},
        {PseudoChannel, {Refresh}, {Refresh, RefreshBank}, "RFC"},
    };
}

std::vector<ConstraintRow> per_bank_refresh() {
    return {
        {Bank, {Pre}, {RefreshBank}, "RP"},
        {PseudoChannel, {PreAll}, {RefreshBank}, "RP"},
        {Bank, {ReadAp}, {RefreshBank}, "RTP + RP"},
        {Bank, {WriteAp}, {RefreshBank}, "CWL + BL + WR + RP"},
        {Bank, {Act}, {RefreshBank}, "RC + 1"},
        {Bank, {RefreshBank}, {Act}, "RFCSB - 1"},
        {Bank, {RefreshBank}, {RefreshBank}, "RFCSB"},
        {PseudoChannel, {RefreshBank}, {Refresh}, "RFCSB"},
        // other banks go on: a single-bank refresh loads the charge pumps as an activation does
        {PseudoChannel, {Act}, {RefreshBank}, "RRD_S + 1"},
        {PseudoChannel, {RefreshBank}, {Act}, "RREFD - 1"},
        {PseudoChannel, {RefreshBank}, {RefreshBank}, "RREFD"},
    };
}

ConstraintTable family(std::string_view standard, std::string_view source, int transfers_per_clock) {
    ConstraintTable table{
        standard,
        source,
        transfers_per_clock,
        2,
        {"CL",    "CWL",   "RCDRD", "RCDWR", "RP",    "RAS", "RC",  "WR",   "RTP",   "CCD_S",  "CCD_L",
         "RRD_S", "RRD_L", "FAW",   "WTR_S", "WTR_L", "RTW", "RFC", "REFI", "RFCSB", "REFISB", "RREFD"},
        command_buses()};
    append(table.rows, grouped_columns());
    append(table.rows, hbm_bank_cycle());
    append(table.rows, all_bank_refresh());
    append(table.rows, per_bank_refresh());
    return table;
}

/// WCK runs at twice the clock, and precharges keep a distance.
ConstraintTable with_wck(std::string_view standard, std::string_view source) {
    ConstraintTable table = family(standard, source, 4);
    table.parameters.emplace_back("PPD");
    append(table.rows, {{PseudoChannel, {Pre, PreAll}, {Pre, PreAll}, "PPD"}});
    return table;
}

}  // namespace

ConstraintTable hbm2() {
    return family("HBM2", "JEDEC JESD235C", 2);
}

ConstraintTable hbm2e() {
    return family("HBM2E", "JEDEC JESD235D", 2);
}

ConstraintTable hbm3() {
    return with_wck("HBM3", "JEDEC JESD238A");
}

// No document has this name: the faster bins that vendors sell, by the same rules.
ConstraintTable hbm3e() {
    return with_wck("HBM3E", "JEDEC JESD238A");
}

}  // namespace systole::standards
