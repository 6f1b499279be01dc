// SPDX-License-Identifier: Apache-2.0
// Memories that the tests of this room share: one channel each, with timings of their standard.
#pragma once

#include "models/memory/standards/dram_spec.h"

namespace systole::test {

/// HBM2 at 2.0 Gb/s a pin, one pseudo-channel, 32-byte bursts, bank-group interleaved.
inline DramSpec hbm2() {
    DramSpec spec;
    spec.standard = "HBM2";
    spec.clock = Hertz(1'000'000'000);
    spec.bank_groups = 4;
    spec.banks_per_group = 4;
    spec.rows = 32768;
    spec.row_bytes = Bytes(1024);
    spec.burst_bytes = Bytes(32);
    spec.address_map = "bg2 co5 ba2 ro15";
    spec.timing = {{"CL", 14},     {"CWL", 5},  {"RCDRD", 14},  {"RCDWR", 12},   {"RP", 14},   {"RAS", 34},
                   {"RC", 48},     {"WR", 16},  {"RTP", 5},     {"CCD_S", 2},    {"CCD_L", 4}, {"RRD_S", 4},
                   {"RRD_L", 6},   {"FAW", 16}, {"WTR_S", 6},   {"WTR_L", 8},    {"RTW", 13},  {"RFC", 260},
                   {"REFI", 3900}, {"BL", 2},   {"RFCSB", 160}, {"REFISB", 244}, {"RREFD", 8}};
    return spec;
}

/// DDR3-2133, one 64-bit channel, 64-byte bursts.
inline DramSpec ddr3() {
    DramSpec spec;
    spec.standard = "DDR3";
    spec.clock = Hertz(1'066'666'667);
    spec.bank_groups = 1;
    spec.banks_per_group = 8;
    spec.rows = 65536;
    spec.row_bytes = Bytes(8192);
    spec.burst_bytes = Bytes(64);
    spec.address_map = "co7 ba3 ro16";
    spec.timing = {{"CL", 14},  {"CWL", 10},  {"RCD", 14},    {"RP", 14}, {"RAS", 36}, {"RC", 50},
                   {"WR", 16},  {"RTP", 8},   {"CCD", 4},     {"RRD", 6}, {"FAW", 27}, {"WTR", 8},
                   {"RTW", 10}, {"RFC", 278}, {"REFI", 8320}, {"BL", 4}};
    return spec;
}

}  // namespace systole::test
