// SPDX-License-Identifier: Apache-2.0
// The shipped GPUs against what their makers publish.
#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "tests/unit/simt/gpu_config.h"

namespace systole::simt {
namespace {

/// TFLOP/s or TOPS, dense, at the clock of the data sheet.
double peak(const SimtSpec& spec, DType dtype, double mhz) {
    return 2.0 * static_cast<double>(spec.macs_per_cycle(dtype)) * mhz / 1e6;
}

struct Published {
    std::string name;
    double peak_mhz, highest_mhz;  // at which peaks are published; that SMs reach
    double fp16, int8, fp8, int4;  // T operations a second; 0: not supported
    double memory;                 // GB/s
    double memory_size;            // GB as drivers count them, of 2^30 bytes: 81,920 MiB of an A100
    int sms, warps;
    std::int64_t shared_kib;
    double l2_mib;  // of each die
    double link;    // GB/s of the host link, each direction, without what packets take
};

const std::vector<Published> kChips{
    {"a100", 1410, 1410, 312, 624, 0, 1248, 2039, 80, 108, 64, 164, 40, 31.5},
    {"a100_pcie", 1410, 1410, 312, 624, 0, 1248, 1935, 80, 108, 64, 164, 40, 31.5},
    {"h100", 1830, 1980, 989, 1979, 1979, 0, 3352, 80, 132, 64, 228, 50, 63},
    {"h100_pcie", 1620, 1755, 756, 1513, 1513, 0, 2039, 80, 114, 64, 228, 50, 63},
    {"h200", 1830, 1980, 989, 1979, 1979, 0, 4917, 141, 132, 64, 228, 50, 63},
    // fp16: half of the 733 that are told of sparse weights (of dense ones 362, by 2490 MHz)
    {"l40s", 2520, 2520, 366.5, 733, 733, 733, 864, 48, 142, 48, 100, 96, 31.5},
    {"mi210", 1700, 1700, 181, 181, 0, 0, 1638.4, 64, 104, 32, 64, 8, 31.5},
    {"mi300x", 2100, 2100, 1307.4, 2614.9, 2614.9, 0, 5324.8, 192, 304, 32, 64, 4, 63},
    {"mi325x", 2100, 2100, 1307.4, 2614.9, 2614.9, 0, 6144, 256, 304, 32, 64, 4, 63},
    // fp16 only: no other format has tensor cores (peaks of fp16 are told without bf16's).
    {"v100", 1530, 1530, 125.3, 0, 0, 0, 898, 32, 80, 64, 96, 6, 15.75},
    {"b200", 1856, 1965, 2250, 4500, 4500, 0, 7672.32, 180, 148, 64, 228, 126.5, 63},
    {"b100", 1444, 1444, 1750, 3500, 3500, 0, 7672.32, 180, 148, 64, 228, 126.5, 63},
    {"gb200", 2008, 2062, 2500, 5000, 5000, 0, 7672.32, 186, 152, 64, 228, 126.5, 225},
    {"l4", 2040, 2040, 121, 242.3, 242.3, 242.3, 300, 24, 58, 48, 100, 48, 31.5},
};

}  // namespace

TEST_CASE("a GPU's tensor cores reach the published peak in the formats they have, and have no others",
          "[simt]") {
    for (const Published& chip : kChips) {
        CAPTURE(chip.name);
        const SimtSpec spec = test::shipped_gpu(chip.name);
        CHECK(peak(spec, DType::Fp16, chip.peak_mhz) == Approx(chip.fp16).epsilon(0.002));
        CHECK(peak(spec, DType::Bf16, chip.peak_mhz) ==
              Approx(chip.name == "v100" ? 0 : chip.fp16).epsilon(0.002));
        CHECK(peak(spec, DType::Int8, chip.peak_mhz) == Approx(chip.int8).epsilon(0.002));
        CHECK(peak(spec, DType::Fp8, chip.peak_mhz) == Approx(chip.fp8).epsilon(0.002));
        CHECK(peak(spec, DType::Int4, chip.peak_mhz) == Approx(chip.int4).epsilon(0.002));
        CHECK(spec.core_clock == Hertz(static_cast<std::int64_t>(chip.highest_mhz * 1e6)));
        for (const DType none : {DType::Int16, DType::Fp32, DType::Int32})
            CHECK_FALSE(spec.sm.tensor.macs[static_cast<std::size_t>(none)].has_value());
    }
    CHECK_FALSE(test::shipped_gpu("h100").sm.tensor.macs[static_cast<std::size_t>(DType::Int4)].has_value());
}

TEST_CASE("products in fp32 that no tensor core takes reach the published peak of FP32 pipes", "[simt]") {
    const auto fp32 = [](const std::string& chip, double mhz) {
        const SimtSpec spec = test::shipped_gpu(chip);
        CHECK(spec.sm.issue_of(DType::Fp32) == TensorIssue::Lanes);
        return peak(spec, DType::Fp32, mhz);
    };
    CHECK(fp32("v100", 1530) == Approx(15.7).epsilon(0.005));
    CHECK(fp32("a100", 1410) == Approx(19.5).epsilon(0.005));
    CHECK(fp32("h100", 1980) == Approx(66.9).epsilon(0.005));
    CHECK(fp32("l40s", 2520) == Approx(91.6).epsilon(0.005));
    // Matrix cores of CDNA take fp32, which is not modelled.
    CHECK(test::shipped_gpu("mi210").macs_per_cycle(DType::Fp32) == 0);
}

TEST_CASE("a GPU's memory moves and holds what the data sheet says", "[simt]") {
    for (const Published& chip : kChips) {
        CAPTURE(chip.name);
        const DramSpec memory = test::shipped_gpu(chip.name).memory;
        const double of_pins = static_cast<double>(memory.peak().value()) / (1 - memory.ecc_share);
        CHECK(of_pins / 1e9 == Approx(chip.memory).epsilon(2e-4));
        CHECK(static_cast<double>(memory.capacity().value()) / (std::int64_t{1} << 30) == chip.memory_size);
    }
}

TEST_CASE("a GPU has the published SMs, shared memory, L2 and host link", "[simt]") {
    for (const Published& chip : kChips) {
        CAPTURE(chip.name);
        const SimtSpec spec = test::shipped_gpu(chip.name);
        CHECK(spec.sm.count == chip.sms);
        CHECK(spec.sm.sub_cores == 4);
        CHECK(spec.sm.warps == chip.warps);
        CHECK(spec.sm.shared.capacity == Bytes(chip.shared_kib * 1024));
        CHECK(spec.sm.shared.most_of_cta + spec.sm.shared.reserved_of_cta == spec.sm.shared.capacity);
        const bool reserves = !chip.name.starts_with("mi") && chip.name != "v100";
        CHECK(spec.sm.shared.reserved_of_cta == Bytes(reserves ? 1024 : 0));
        CHECK(spec.l2.capacity == Bytes(static_cast<std::int64_t>(chip.l2_mib * (1 << 20))));
        const double share = static_cast<double>(spec.host.peak().value()) / 1e9 / chip.link;
        if (chip.name == "gb200") {
            CHECK(spec.host.kind == HostLinkSpec::Kind::Fixed);
            CHECK(share == 1);
            continue;
        }
        CHECK(spec.host.kind == HostLinkSpec::Kind::Pcie);
        CHECK(share < 1);
        CHECK(share > 0.9);
    }
    CHECK(test::shipped_gpu("a100").sm.tensor.issue == TensorIssue::Warp);
    CHECK(test::shipped_gpu("l40s").sm.tensor.issue == TensorIssue::Warp);
    CHECK(test::shipped_gpu("h100").sm.tensor.issue == TensorIssue::WarpGroup);
    CHECK(test::shipped_gpu("h200").sm.tensor.issue == TensorIssue::WarpGroup);
    CHECK(test::shipped_gpu("v100").sm.tensor.issue == TensorIssue::QuadPair);
    for (const char* blackwell : {"b200", "gb200"}) {
        const TensorSpec tensor = test::shipped_gpu(blackwell).sm.tensor;
        CHECK(tensor.issue == TensorIssue::Thread);
        CHECK(tensor.memory.capacity == Bytes(128 * 512 * 4));
    }
    // Four SIMDs of 16 lanes take a wavefront of 64 threads in four cycles: 22.6 TFLOP/s in fp32.
    const SmSpec mi210 = test::shipped_gpu("mi210").sm;
    CHECK(mi210.tensor.issue == TensorIssue::Wave);
    CHECK(mi210.warp_threads == 64);
    CHECK(2.0 * mi210.count * mi210.sub_cores * mi210.warp_threads /
              static_cast<double>(mi210.fp32.interval.value()) * 1.7e-3 ==
          Approx(22.6).epsilon(0.002));
    CHECK(mi210.registers * 4 == 512 * 1024);
    // Eight dies, each with 128 B a cycle of 16 channels at most, before 128 channels of 64 B.
    for (const char* cdna3 : {"mi300x", "mi325x"}) {
        const SimtSpec spec = test::shipped_gpu(cdna3);
        CHECK(spec.chiplets.count == 8);
        CHECK(spec.sms_of_chiplet() == 38);
        CHECK(spec.l2.bytes_per_cycle <= Bytes(16 * 128));
        REQUIRE(spec.memory_side_cache);
        CHECK(spec.memory_side_cache->capacity == Bytes(std::int64_t{256} << 20));
        CHECK(spec.memory_side_cache->bytes_per_cycle <= Bytes(128 * 64));
    }
}

TEST_CASE("clusters find the SMs of a GPC that chips were seen to give them", "[simt]") {
    const SmSpec h100 = test::shipped_gpu("h100").sm, a100 = test::shipped_gpu("a100").sm;
    // Two SMs share a TPC, and all of them work in pairs.
    CHECK(h100.for_clusters(1) == 132);
    CHECK(h100.for_clusters(2) == 132);
    // Most SMs that grids of clusters reach: CUTLASS, issue 1921.
    CHECK(h100.for_clusters(4) == 124);
    CHECK(h100.for_clusters(8) == 120);
    CHECK(h100.gpcs.size() == 8);
    CHECK(*std::max_element(h100.gpcs.begin(), h100.gpcs.end()) <= 18);
    CHECK(a100.gpcs.size() == 7);
    CHECK(std::accumulate(a100.gpcs.begin(), a100.gpcs.end(), 0) == 108);
    for (const int sms : a100.gpcs) CHECK((sms == 14 || sms == 16));
    // Pairs of CTAs reach all SMs of a B200, as two share a TPC.
    CHECK(test::shipped_gpu("b200").sm.for_clusters(2) == 148);
    CHECK(test::shipped_gpu("gb200").sm.for_clusters(2) == 152);
    for (const Published& chip : kChips) {
        const std::vector<int> gpcs = test::shipped_gpu(chip.name).sm.gpcs;
        CHECK(std::accumulate(gpcs.begin(), gpcs.end(), 0) == chip.sms);
    }
}

TEST_CASE("a load's latency in parts is what pointer chases measure", "[simt]") {
    // cycles: gpu-latency on an A100 at 1410 MHz; on an H100 (SXM) at 1980 MHz
    const SimtSpec a100 = test::shipped_gpu("a100"), h100 = test::shipped_gpu("h100");
    const auto dram = [](const SimtSpec& spec, double megahertz) {
        const auto& timing = spec.memory.timing;
        const auto clocks = static_cast<double>(timing.at("RCDRD") + timing.at("CL") + timing.at("BL"));
        return clocks * 1e6 * megahertz / static_cast<double>(spec.memory.clock.value());
    };
    const auto all = [&](const SimtSpec& spec, double megahertz) {
        return static_cast<double>((spec.l2.latency + spec.miss_latency()).value()) + dram(spec, megahertz);
    };
    CHECK(all(a100, 1410) == Approx(533).epsilon(0.01));
    CHECK(all(h100, 1980) == Approx(570.5).epsilon(0.01));
    CHECK(all(test::shipped_gpu("h200"), 1980) == Approx(570.5).epsilon(0.01));
    CHECK(all(test::shipped_gpu("b200"), 1965) == Approx(707).epsilon(0.01));
    // gpu-latency on an H100 (PCIe) and an L40, without what their TLBs take of large sets.
    CHECK(all(test::shipped_gpu("h100_pcie"), 1755) == Approx(650).epsilon(0.01));
    CHECK(all(test::shipped_gpu("l40s"), 2490) == Approx(631.9 - 9.7).epsilon(0.01));
    CHECK(all(test::shipped_gpu("v100"), 1380) == Approx(428).epsilon(0.01));
    CHECK(all(test::shipped_gpu("mi300x"), 2051) == Approx(856).epsilon(0.01));
    CHECK(all(test::shipped_gpu("mi325x"), 2061) == Approx(839).epsilon(0.01));
    CHECK(a100.sm.l1_latency == Cycles(36));
    CHECK(h100.sm.l1_latency == Cycles(40));
}

TEST_CASE("every value of a GPU says where it comes from, and at most four were fitted", "[simt]") {
    for (const Published& chip : kChips) {
        CAPTURE(chip.name);
        config::Config config = test::gpu_config("device: Mine\nextends: " + chip.name + "\n");
        read_simt_spec(config, chip.name);
        config.finish();
        int fitted = 0;
        for (const config::Entry& entry : config.effective()) {
            CAPTURE(entry.path);
            const bool calibrated = entry.path.starts_with("calibrated.");
            fitted += entry.origin == config::Origin::Calibrated;
            CHECK((entry.origin == config::Origin::Calibrated) <= calibrated);
            CHECK((entry.origin != config::Origin::Plain || entry.path == "kind"));
            CHECK((entry.origin != config::Origin::Assumed || !entry.range.empty()));
            CHECK_FALSE(entry.meaning.empty());
        }
        CHECK(fitted <= 4);
    }
}

TEST_CASE("a GPU's run may last as long as its accounts can count", "[simt]") {
    const SimtSpec h100 = test::shipped_gpu("h100");
    // 132 SMs x 4 tensor cores x 1024 MACs of 8 bits, each tick
    CHECK(h100.longest_run() <= Ticks(Ticks::max().value() / 540'672));
    CHECK(h100.longest_run() > Ticks(kTicksPerSecond));
}

}  // namespace systole::simt
