// SPDX-License-Identifier: Apache-2.0
// DDR3, DDR4, GDDR6, LPDDR5: one command bus for rows and columns; everything counts from a command's first
// clock. Each is the family's rows plus its own names.
#include "models/memory/standards/standards.h"

namespace systole::standards {
namespace {

using enum Command;
using enum Scope;

const std::vector<Command> kAll{Act, Pre, PreAll, Read, Write, ReadAp, WriteAp, Refresh, RefreshBank};

/// Names that all four have; those of columns, activations and single-bank refresh follow.
std::vector<std::string_view> names(std::vector<std::string_view> own) {
    std::vector<std::string_view> all{"CL",  "CWL", "RP",  "RAS", "RC",  "WR",
                                      "RTP", "FAW", "RTW", "RFC", "REFI"};
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

std::vector<ConstraintRow> bank_cycle() {
    return {
        {Bank, {Act}, {Pre}, "RAS"},
        {Bank, {Act}, {Act}, "RC"},  // also where an auto-precharge waits for RAS
        {Bank, {Read}, {Pre}, "RTP"},
        {Bank, {Write}, {Pre}, "CWL + BL + WR"},
        {Bank, {Pre}, {Act}, "RP"},
        {Bank, {ReadAp}, {Act}, "RTP + RP"},
        {Bank, {WriteAp}, {Act}, "CWL + BL + WR + RP"},
        {PseudoChannel, {Act}, {Act}, "FAW", 4},
    };
}

/// `all_banks_closed`: what PREA takes until the next ACT or REF; most standards: RP.
std::vector<ConstraintRow> all_bank_refresh(std::string_view all_banks_closed) {
    return {
        {PseudoChannel, {Act}, {PreAll}, "RAS"},
        {PseudoChannel, kReads, {PreAll}, "RTP"},
        {PseudoChannel, kWrites, {PreAll}, "CWL + BL + WR"},
        {PseudoChannel, {PreAll}, {Act, Refresh}, all_banks_closed},
        {PseudoChannel, {Pre}, {Refresh}, "RP"},
        {PseudoChannel, {ReadAp}, {Refresh}, "RTP + RP"},
        {PseudoChannel, {WriteAp}, {Refresh}, "CWL + BL + WR + RP"},
        {PseudoChannel, {Act}, {Refresh}, "RC"},
        {PseudoChannel, {Refresh}, {Act, Refresh}, "RFC"},
    };
}

/// What a refresh of one bank and the commands of the others keep as distances, by a standard's own names.
struct OtherBanks {
    std::string_view act_to_refresh, refresh_to_act, refresh_to_refresh;
};

std::vector<ConstraintRow> per_bank_refresh(std::string_view all_banks_closed, const OtherBanks& others) {
    return {
        {Bank, {Pre}, {RefreshBank}, "RP"},
        {PseudoChannel, {PreAll}, {RefreshBank}, all_banks_closed},
        {Bank, {ReadAp}, {RefreshBank}, "RTP + RP"},
        {Bank, {WriteAp}, {RefreshBank}, "CWL + BL + WR + RP"},
        {Bank, {Act}, {RefreshBank}, "RC"},
        {Bank, {RefreshBank}, {Act, RefreshBank}, "RFCSB"},
        {PseudoChannel, {RefreshBank}, {Refresh}, "RFCSB"},
        {PseudoChannel, {Refresh}, {RefreshBank}, "RFC"},
        // other banks go on
        {PseudoChannel, {Act}, {RefreshBank}, others.act_to_refresh},
        {PseudoChannel, {RefreshBank}, {Act}, others.refresh_to_act},
        {PseudoChannel, {RefreshBank}, {RefreshBank}, others.refresh_to_refresh},
    };
}

std::vector<ConstraintRow> grouped_activations() {
    return {
        {PseudoChannel, {Act}, {Act}, "RRD_S"},
        {Group, {Act}, {Act}, "RRD_L"},
    };
}

}  // namespace

ConstraintTable ddr3() {
    ConstraintTable table{"DDR3",
                          "JEDEC JESD79-3F",
                          2,
                          1,
                          names({"RCD", "CCD", "RRD", "WTR"}),
                          {
                              {Channel, kAll, kAll, "1"},
                              {PseudoChannel, kReads, kReads, "CCD"},
                              {PseudoChannel, kWrites, kWrites, "CCD"},
                              {PseudoChannel, kReads, kWrites, "RTW"},
                              {PseudoChannel, kWrites, kReads, "CWL + BL + WTR"},
                              {Bank, {Act}, {Read, Write, ReadAp, WriteAp}, "RCD"},
                              {PseudoChannel, {Act}, {Act}, "RRD"},
                          }};
    append(table.rows, bank_cycle());
    append(table.rows, all_bank_refresh("RP"));
    return table;
}

ConstraintTable ddr4() {
    ConstraintTable table{"DDR4",
                          "JEDEC JESD79-4",
                          2,
                          1,
                          names({"RCD", "CCD_S", "CCD_L", "RRD_S", "RRD_L", "WTR_S", "WTR_L"}),
                          {
                              {Channel, kAll, kAll, "1"},
                              {Bank, {Act}, {Read, Write, ReadAp, WriteAp}, "RCD"},
                          }};
    append(table.rows, grouped_columns());
    append(table.rows, grouped_activations());
    append(table.rows, bank_cycle());
    append(table.rows, all_bank_refresh("RP"));
    return table;
}

ConstraintTable gddr6() {
    ConstraintTable table{"GDDR6",
                          "JEDEC JESD250",
                          8,
                          1,
                          names({"RCDRD", "RCDWR", "CCD_S", "CCD_L", "RRD_S", "RRD_L", "WTR_S", "WTR_L",
                                 "RFCSB", "REFISB", "RREFD"}),
                          {
                              {Channel, kAll, kAll, "1"},
                              {Bank, {Act}, kReads, "RCDRD"},
                              {Bank, {Act}, kWrites, "RCDWR"},
                          }};
    append(table.rows, grouped_columns());
    append(table.rows, grouped_activations());
    append(table.rows, bank_cycle());
    append(table.rows, all_bank_refresh("RP"));
    append(table.rows, per_bank_refresh("RP", {"RRD_L", "RREFD", "RREFD"}));
    return table;
}

// ACT is two commands, ACT-1 and ACT-2, given back to back: it takes two clocks of the bus, and its times
// count from the first. CAS commands that start WCK are not told apart: WCK is always on.
ConstraintTable lpddr5() {
    ConstraintTable table{"LPDDR5",
                          "JEDEC JESD209-5B",
                          8,
                          1,
                          names({"RCD", "RPAB", "PPD", "CCD_S", "CCD_L", "RRD_S", "RRD_L", "WTR_S", "WTR_L",
                                 "RFCSB", "REFISB", "PBR2ACT", "PBR2PBR"}),
                          {
                              {Channel, {Act}, kAll, "2"},
                              {Channel, kAll, kAll, "1"},
                              {Bank, {Act}, {Read, Write, ReadAp, WriteAp}, "RCD"},
                              {PseudoChannel, {Pre, PreAll}, {Pre, PreAll}, "PPD"},
                          }};
    append(table.rows, grouped_columns());
    append(table.rows, grouped_activations());
    append(table.rows, bank_cycle());
    append(table.rows, all_bank_refresh("RPAB"));
    append(table.rows, per_bank_refresh("RPAB", {"RRD_S", "PBR2ACT", "PBR2PBR"}));
    return table;
}

}  // namespace systole::standards
