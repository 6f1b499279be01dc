// SPDX-License-Identifier: Apache-2.0
#include "models/memory/config/dram_config.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/base/error.h"
#include "tests/unit/memory/memory_presets.h"
#include "tests/unit/memory/memory_specs.h"

namespace systole::test {
namespace {

/// What is said about `name` with one value set.
std::string complaint_about(const std::string& path, const std::string& value,
                            const std::string& name = "teaching") {
    try {
        memory_spec(name, {{path, value}});
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

bool contains(const std::string& text, const std::string& part) {
    UNSCOPED_INFO(text);
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the TPU v4 preset is half of 1228 GB/s and 32 GiB") {
    const DramSpec spec = memory_spec("hbm2_tpu_v4");
    CHECK(spec.capacity() == Bytes(std::int64_t{16} << 30));
    CHECK(spec.peak() == BytesPerSecond(614'400'000'000));
}

TEST_CASE("the TPU v1 preset is 8 GiB at 34 GB/s") {
    const DramSpec spec = memory_spec("ddr3_tpu_v1");
    CHECK(spec.capacity() == Bytes(std::int64_t{8} << 30));
    CHECK(spec.peak().value() == Approx(34.1e9).epsilon(0.002));
}

TEST_CASE("every shipped memory moves what its pins move") {
    // data pins x Gb/s a pin / 8: what datasheets give
    const std::vector<std::pair<std::string, double>> published{
        {"hbm2_2000", 256},
        {"hbm2_2400", 307.2},
        {"hbm2e_3200", 409.6},
        {"hbm2e_3600", 460.8},
        {"hbm3_5200", 665.6},
        {"hbm3_6400", 819.2},
        {"hbm3e_8000", 1024},
        {"hbm3e_9600", 1228.8},
        {"ddr3_2133", 17.07},
        {"ddr3_tpu_v1", 34.13},
        {"ddr4_3200", 25.6},
        {"gddr6_14000", 448},
        {"gddr6_16000", 512},
        {"gddr6_18000", 576},
        {"lpddr5_6400", 51.2},
        {"hbm2_tpu_v4", 614.4},
        {"hbm2_tpu_v2", 358.4},
        {"hbm2_tpu_v3", 448},
        {"hbm2e_tpu_v5e", 819.2},
        {"hbm2e_tpu_v5p", 1382.4},
        {"hbm3e_tpu_v7", 3686.4},
        {"teaching", 16},
        {"hbm2_golden_1pc", 16.0},
        {"hbm2_golden_stack", 256},
        {"hbm2_tpu_v2_chip", 716.8},
        {"hbm2_tpu_v3_chip", 896},
        {"hbm2_tpu_v4_chip", 1228.8},
        {"hbm2e_tpu_v5p_chip", 2764.8},
        {"hbm2_onnxim", 614.4},
        {"hbm2e_a100", 2039.04},
        {"hbm3_h100", 3352.32},
        {"hbm3e_h200", 4916.736},
        {"hbm2e_a100_pcie", 1935.36},
        {"hbm2e_mi210", 1638.4},
        {"hbm3_mi300x", 5324.8},
        {"hbm3e_mi325x", 6144},
        {"hbm2_v100", 898.048},
        {"hbm3e_b200", 7672.32},
        {"hbm3e_gb200", 7672.32},
        {"gddr6_l40s", 864},
        {"gddr6_l4", 300},
        {"ddr4_inferentia1", 51.2},
        {"hbm2e_trainium1", 819.2},
        {"hbm3_trainium2", 2899.968},
        {"lpddr4x_apple_m1", 68.256},
        {"lpddr5_apple_m3_pro", 153.6},
        {"lpddr5x_7500", 60},
        {"lpddr5x_8533", 68.264},
        {"sram_groq_tsp", 80'000},
    };
    for (const auto& [name, gigabytes] : published) {
        INFO(name);
        const DramSpec spec = memory_spec(name);
        CHECK(static_cast<double>(spec.peak().value()) / 1e9 ==
              Approx(gigabytes * (1 - spec.ecc_share)).epsilon(1e-3));
    }
    CHECK(published.size() + 1 == memory_names().size());  // and the ideal one
}

TEST_CASE("a stack holds what its dies hold") {
    const auto gib = [](const std::string& name) {
        return static_cast<double>(memory_spec(name).capacity().value()) / (std::int64_t{1} << 30);
    };
    CHECK(gib("hbm2_2000") == 8);
    CHECK(gib("hbm2e_3200") == 16);
    CHECK(gib("hbm3_6400") == 16);
    CHECK(gib("hbm3e_9600") == 32);
    CHECK(gib("hbm2_tpu_v2") == 8);
    CHECK(gib("hbm2_tpu_v3") == 16);
    CHECK(gib("hbm2e_tpu_v5e") == 16);
    CHECK(gib("hbm2e_tpu_v5p") == 47.5);
    CHECK(gib("hbm3e_tpu_v7") == 96);
    CHECK(gib("hbm2e_a100") == 80);
    CHECK(gib("hbm3_h100") == 80);
    CHECK(gib("hbm3e_h200") == 141);
    CHECK(gib("hbm3e_b200") == 180);
    CHECK(gib("hbm3e_gb200") == 186);
    CHECK(gib("hbm2e_a100_pcie") == 80);
    CHECK(gib("hbm2e_mi210") == 64);
    CHECK(gib("hbm3_mi300x") == 192);
    CHECK(gib("hbm3e_mi325x") == 256);
    CHECK(gib("hbm2_v100") == 32);
    CHECK(gib("gddr6_l40s") == 48);
    CHECK(gib("gddr6_l4") == 24);
    CHECK(gib("ddr4_3200") == 8);
    CHECK(gib("gddr6_14000") == 8);
    CHECK(gib("lpddr5_6400") == 4);
    CHECK(memory_spec("hbm2_golden_1pc").capacity() == Bytes(std::int64_t{512} << 20));
}

TEST_CASE("every value of a shipped memory says where it comes from") {
    for (const std::string& name : memory_names()) {
        config::Config memory = memory_config(name);
        read_dram_spec(memory.root());
        memory.finish();
        for (const config::Entry& entry : memory.effective()) {
            INFO(name << ": " << entry.path);
            CHECK(entry.origin != config::Origin::Plain);
            CHECK_FALSE(entry.meaning.empty());
        }
    }
}

TEST_CASE("check bits among the data take their share of the bandwidth and nothing else") {
    const DramSpec plain = memory_spec("gddr6_18000"),
                   spec = memory_spec("gddr6_18000", {{"ecc_share", "0.0625"}});
    CHECK(plain.ecc_share == 0);
    CHECK(spec.ecc_share == 0.0625);
    CHECK(spec.peak().value() * 16 == plain.peak().value() * 15);
    CHECK(spec.timing == plain.timing);
    CHECK(spec.capacity() == plain.capacity());
    CHECK(contains(complaint_about("ecc_share", "0.6"), "ecc_share"));
    CHECK(contains(complaint_about("ecc_share", "-0.1"), "ecc_share"));
}

TEST_CASE("an ideal memory needs only its size") {
    const DramSpec spec = memory_spec("ideal");
    CHECK(spec.kind == DramSpec::Kind::Ideal);
    CHECK(spec.peak() == BytesPerSecond::max());
}

TEST_CASE("values that contradict each other are refused with the reason") {
    CHECK(complaint_about("timing.RC", "20").find("is less than RAS + RP") != std::string::npos);
    CHECK(complaint_about("timing.CCD_S", "1").find("bursts must not overlap") != std::string::npos);
    CHECK(complaint_about("timing.REFI", "100").find("refresh must leave time") != std::string::npos);
    // A row that refresh always closes before it was used would be opened for ever.
    CHECK(complaint_about("timing.REFI", "300").find("300 is less than RFC + RC + RAS") != std::string::npos);
    CHECK(complaint_about("timing.RCDRD", "35").find("RAS: 34 is less than RCDRD = 35") != std::string::npos);
    CHECK(complaint_about("timing.RCDWR", "35").find("RAS: 34 is less than RCDWR = 35") != std::string::npos);
    CHECK(complaint_about("channels", "3").find("expected a power of two, not 3") != std::string::npos);
    CHECK(complaint_about("address_map", "bg2 co5 ba2 ro8").find("ro bits") != std::string::npos);
    CHECK(complaint_about("row_bytes", "16 B").find("at least one burst") != std::string::npos);
    CHECK(complaint_about("writes.low", "31").find("is not below high") != std::string::npos);
    CHECK(complaint_about("standard", "HBM9").find("HBM2") != std::string::npos);
    CHECK(complaint_about("timing.tCL", "14").find("tCL") != std::string::npos);
}

TEST_CASE("the golden set-up is the one that the tests are written against") {
    const DramSpec one = memory_spec("hbm2_golden_1pc"), stack = memory_spec("hbm2_golden_stack");
    CHECK(one.timing == hbm2().timing);
    CHECK(stack.timing == hbm2().timing);
    CHECK(one.data_buses() == 1);
    CHECK(stack.channels == 8);
    CHECK(stack.pseudo_channels == 2);
    CHECK(one.queue == 32);
    CHECK(one.page == PagePolicy::Open);
    CHECK(one.row_hit_cap == 0);
}

TEST_CASE("the golden maps are chosen by name") {
    CHECK(memory_spec("hbm2_golden_1pc").address_map == "ch bg2 co5 ba2 ro15");
    CHECK(memory_spec("hbm2_golden_stack", {{"address_map", "M2"}}).address_map == "ch co5 bg2 ba2 ro15");
    CHECK(memory_spec("hbm2_golden_stack", {{"address_map", "co5 ch ba2 bg2 ro15"}}).address_map ==
          "co5 ch ba2 bg2 ro15");
    CHECK(contains(complaint_about("address_map", "M9", "hbm2_golden_1pc"), "did you mean 'M"));
    CHECK(contains(complaint_about("address_maps.M3", "co5 ba2 bg2 ro16", "hbm2_golden_1pc"),
                   "address_maps.M3: the map gives 16 ro bits"));
    CHECK(contains(complaint_about("address_maps.ro", "ch bg2 co5 ba2 ro15", "hbm2_golden_1pc"),
                   "is a map itself"));
}

TEST_CASE("the policies of a controller are read") {
    const DramSpec plain = memory_spec("hbm2_2000");
    CHECK(plain.pseudo_channels == 2);
    CHECK(plain.page == PagePolicy::Open);
    CHECK(plain.refresh == RefreshPolicy::AllBank);
    const DramSpec spec = memory_spec("hbm2_2000", {{"page", "adaptive"},
                                                    {"row_hit_cap", "4"},
                                                    {"patience", "100"},
                                                    {"queue", "64"},
                                                    {"refresh", "per_bank"},
                                                    {"refresh_postpone", "8"}});
    CHECK(spec.page == PagePolicy::Adaptive);
    CHECK(spec.row_hit_cap == 4);
    CHECK(spec.patience == 100);
    CHECK(spec.queue == 64);
    CHECK(spec.refresh == RefreshPolicy::PerBank);
    CHECK(spec.refresh_postpone == 8);
    CHECK(memory_spec("hbm2_2000", {{"refresh", "off"}}).refresh == RefreshPolicy::Off);
    CHECK(memory_spec("hbm2_2000", {{"page", "closed"}}).page == PagePolicy::Closed);
}

TEST_CASE("a policy that the standard or the queue has no room for is refused") {
    CHECK(contains(complaint_about("refresh", "per_bank", "ddr4_3200"), "DDR4 has no refresh of one bank"));
    CHECK(contains(complaint_about("pseudo_channels", "2", "lpddr5_6400"), "LPDDR5 has no pseudo-channels"));
    CHECK(contains(complaint_about("refresh_postpone", "9"), "'9' is too large; the most is 8"));
    CHECK(contains(complaint_about("page", "opne"), "did you mean 'open'"));
    CHECK(contains(complaint_about("queue", "0"), "'0' is too small; the least is 1"));
    CHECK(contains(complaint_about("patience", "0"), "'0' is too small; the least is 1"));
    CHECK(contains(complaint_about("writes.high", "33"), "'33' is too large; the most is 32"));
    CHECK(contains(complaint_about("burst_length", "4", "gddr6_14000"), "expected at least 8 transfers"));
    CHECK(contains(complaint_about("timing.REFISB", "245"), "245 is more than REFI / 16 banks = 244"));
    CHECK(contains(complaint_about("timing.REFISB", "12"),
                   "12 is less than (RFCSB + RC + RAS) / 16 banks = 16"));
    CHECK(contains(complaint_about("timing.RFCSB", "261"), "260 is less than RFCSB = 261"));
}

TEST_CASE("a stated bandwidth is held against the organisation") {
    CHECK(complaint_about("bandwidth", "256 GB/s", "hbm2_2000").empty());
    CHECK(complaint_about("bandwidth", "34 GB/s", "ddr3_tpu_v1").empty());  // published figures are rounded
    CHECK(contains(complaint_about("bandwidth", "300 GB/s", "hbm2_2000"),
                   "bandwidth: 300 GB/s are stated, but 16 data buses of 32 B a burst in 2 clocks of 1 GHz "
                   "reach 256 GB/s"));
}

TEST_CASE("energies come all together or not at all") {
    const std::optional<DramEnergy> energy = memory_spec("hbm2_2000").energy;
    REQUIRE(energy.has_value());
    CHECK(energy->act_pre == Femtojoules(909'000));
    CHECK(energy->background == Milliwatts(33));
    CHECK_FALSE(memory_spec("ideal").energy.has_value());
    CHECK(contains(complaint_about("energy.read", "1 pJ", "ideal"), "energy.read"));
    CHECK(contains(complaint_about("energy.read", "5"), "has no unit; expected an energy such as '900 pJ'"));
    CHECK(contains(complaint_about("energy.background", "5 pJ"), "expected a power such as '30 mW'"));
    CHECK(contains(complaint_about("energy.refresh_bank", "1 pJ", "ddr4_3200"), "energy.refresh_bank"));
}

TEST_CASE("a published energy a bit comes out of an activation every 256 bytes") {
    // pJ/bit: O'Connor et al. 2017; Jouppi et al. 2021 (1300 pJ per 64 bit); Micron, less 0.2 of background
    const std::vector<std::pair<std::string, double>> published{{"hbm2_2000", 3.92},
                                                                {"ddr3_2133", 20.3},
                                                                {"ddr4_3200", 20.3},
                                                                {"gddr6_14000", 7.5},
                                                                {"hbm2e_3200", 5.8}};
    for (const auto& [name, pj_a_bit] : published) {
        const DramSpec spec = memory_spec(name);
        const double bursts = 256.0 / static_cast<double>(spec.burst_bytes.value());
        const double fj = static_cast<double>(spec.energy->act_pre.value()) +
                          bursts * static_cast<double>(spec.energy->read.value());
        INFO(name);
        CHECK(fj / 1000 / 2048 == Approx(pj_a_bit).epsilon(0.01));
    }
}

}  // namespace systole::test
