// SPDX-License-Identifier: Apache-2.0
// Presets state clocks; datasheets state nanoseconds. The least times of each standard, here in nanoseconds,
// must be kept by every shipped memory of it, and refresh must come as often as it has to.
#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "tests/unit/memory/memory_presets.h"

namespace systole {
namespace {

/// Picoseconds, from the documents that constraint tables name and the presets that values name.
struct LeastTime {
    std::string name;
    std::int64_t ps;
};
struct Family {
    std::vector<std::string> presets;
    std::int64_t refresh_interval;  // at most, ps
    std::vector<LeastTime> times;
};

const std::vector<Family>& families() {
    static const std::vector<Family> all{
        // JESD79-3F, 2133N, 1 KiB page, 4 Gb
        {{"ddr3_2133", "ddr3_tpu_v1"},
         7'800'000,
         {{"RCD", 13'090},
          {"RP", 13'090},
          {"RAS", 33'000},
          {"RC", 46'090},
          {"WR", 15'000},
          {"RTP", 7'500},
          {"WTR", 7'500},
          {"RRD", 5'000},
          {"FAW", 25'000},
          {"RFC", 260'000}}},
        // JESD79-4, 3200AA, 1 KiB page, 8 Gb
        {{"ddr4_3200"},
         7'800'000,
         {{"RCD", 13'750},
          {"RP", 13'750},
          {"RAS", 32'000},
          {"RC", 45'750},
          {"WR", 15'000},
          {"RTP", 7'500},
          {"CCD_L", 5'000},
          {"RRD_S", 2'500},
          {"RRD_L", 4'900},
          {"FAW", 21'000},
          {"WTR_S", 2'500},
          {"WTR_L", 7'500},
          {"RFC", 350'000}}},
        // Samsung K4Z80325BC at 1.35 V
        {{"gddr6_14000", "gddr6_16000", "gddr6_18000"},
         1'900'000,
         {{"RCDRD", 15'000},
          {"RP", 15'000},
          {"RAS", 30'000},
          {"RC", 45'000},
          {"WR", 15'000},
          {"RRD_S", 4'000},
          {"RRD_L", 4'000},
          {"FAW", 16'000},
          {"RREFD", 8'000},
          {"RFCSB", 60'000},
          {"RFC", 120'000}}},
        // … told as fewer, faster channels: refresh alone
        {{"gddr6_l40s", "gddr6_l4"}, 1'900'000, {{"RREFD", 8'000}, {"RFCSB", 60'000}, {"RFC", 120'000}}},
        // JESD209-5, 6400 in bank-group mode, 8 Gb
        {{"lpddr5_6400"},
         3'906'000,
         {{"RCD", 18'000},
          {"RP", 18'000},
          {"RPAB", 21'000},
          {"RAS", 42'000},
          {"RC", 60'000},
          {"WR", 34'000},
          {"RRD_S", 5'000},
          {"RRD_L", 5'000},
          {"FAW", 20'000},
          {"WTR_S", 6'250},
          {"WTR_L", 12'000},
          {"PBR2ACT", 7'500},
          {"PBR2PBR", 90'000},
          {"RFCSB", 120'000},
          {"RFC", 210'000}}},
        // JESD235 leaves most to vendors: 4 Gb a pseudo-channel
        {{"hbm2_2000", "hbm2_2400", "hbm2_tpu_v2", "hbm2_tpu_v3", "hbm2_tpu_v4", "hbm2e_tpu_v5e",
          "hbm2_golden_stack", "hbm2_golden_1pc", "teaching"},
         3'900'000,
         {{"RREFD", 8'000}, {"RFCSB", 160'000}, {"RFC", 260'000}}},
        // … and 8 Gb
        {{"hbm2e_3200", "hbm2e_3600", "hbm2e_tpu_v5p", "hbm2e_a100", "hbm2e_a100_pcie"},
         3'900'000,
         {{"RREFD", 8'000}, {"RFCSB", 160'000}, {"RFC", 350'000}}},
        // JESD238, 8 Gb a channel and 16 Gb
        {{"hbm3_5200", "hbm3_6400", "hbm3_h100"}, 3'900'000, {{"RFCSB", 200'000}, {"RFC", 350'000}}},
        {{"hbm3e_8000", "hbm3e_9600", "hbm3e_tpu_v7", "hbm3e_h200", "hbm3e_b200", "hbm3e_gb200"},
         3'900'000,
         {{"RFCSB", 200'000}, {"RFC", 450'000}}},
    };
    return all;
}

}  // namespace

TEST_CASE("no shipped memory is faster than the nanoseconds of its datasheet, or refreshed too seldom") {
    for (const Family& family : families()) {
        for (const std::string& preset : family.presets) {
            const DramSpec spec = test::memory_spec(preset);
            CAPTURE(preset);
            const auto picoseconds = [&](std::int64_t clocks) {
                return static_cast<double>(clocks) * 1e12 / static_cast<double>(spec.clock.value());
            };
            for (const LeastTime& least : family.times) {
                CAPTURE(least.name);
                // A clock of 2133 MT/s and its like is rounded to a whole hertz.
                CHECK(picoseconds(spec.timing.at(least.name)) >= static_cast<double>(least.ps) * (1 - 1e-8));
            }
            CHECK(picoseconds(spec.timing.at("REFI") - 1) < static_cast<double>(family.refresh_interval));
            CHECK(spec.timing.at("RC") >= spec.timing.at("RAS") + spec.timing.at("RP"));
        }
    }
}

}  // namespace systole
