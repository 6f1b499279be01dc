// SPDX-License-Identifier: Apache-2.0
#include "sim/account/invariants.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "tests/unit/account/aborts.h"
#include "tests/unit/account/sample_result.h"

namespace systole {
namespace {

/// One spoiled result, and words of the sentence that must say so.
struct Fault {
    std::string words;
    std::function<void(DeviceResult&, Expectations&)> spoil;
};

std::vector<std::string> violations_after(const Fault& fault) {
    DeviceResult result = test::sample_result();
    Expectations expected = test::sample_expectations();
    fault.spoil(result, expected);
    return violations(result, expected);
}

}  // namespace

TEST_CASE("a result that keeps every promise has no violations") {
    CHECK(violations(test::sample_result(), test::sample_expectations()).empty());
    CHECK_FALSE(test::aborts([] { check_invariants(test::sample_result(), test::sample_expectations()); }));
}

TEST_CASE("banks may serve as many lines as they can, and other counters are none of theirs") {
    DeviceResult result = test::sample_result();
    Expectations expected = test::sample_expectations();
    result.stats.push_back({"tiny_tpu.scratchpad", "stream_accesses", "lines", "", 800});
    result.stats.push_back({"tiny_tpu.scratchpad", "stream_conflict_cycles", "cycles", "", 9});
    result.stats.push_back({"other.scratchpad", "stream_accesses", "lines", "", 9});
    expected.banks.push_back({"tiny_tpu.scratchpad", 8});
    CHECK(violations(result, expected).empty());
}

TEST_CASE("every broken promise is named") {
    const std::vector<Fault> faults{
        {"class slots of the total: 400000, expected 400001", [](auto&, auto& e) { e.capacity = 400'001; }},
        {"memory slots of all layers: 96001, expected 96000", [](auto& r, auto&) { ++r.layers[0].slots[4]; }},
        {"fc: -1 tail slots", [](auto& r, auto&) { r.layers[1].slots[9] = -1; }},
        {"cycles of all layers: 101, expected 100", [](auto& r, auto&) { r.layers[1].cycles += Cycles(1); }},
        {"picoseconds of all layers: 99999", [](auto& r, auto&) { r.layers[0].end -= Ticks(1); }},
        {"MACs of all layers: 112, expected 102", [](auto& r, auto&) { r.layers[0].macs = Macs(100); }},
        {"matrix MACs of all layers: 91", [](auto& r, auto&) { r.layers[1].matrix_macs = Macs(1); }},
        {"MACs of the total: 102, expected 103", [](auto&, auto& e) { e.macs = Macs(103); }},
        {"bytes read from DRAM of all layers: 2079",
         [](auto& r, auto&) { r.layers[0].dram_read -= Bytes(1); }},
        {"bytes written to DRAM of all layers: 81",
         [](auto& r, auto&) { r.layers[1].dram_written += Bytes(1); }},
        {"weights bytes dram -> weight_fifo of all layers: 1999, expected 2000",
         [](auto& r, auto&) { r.layers[0].movements[2].bytes -= Bytes(1); }},
        {"kv_cache bytes dram -> vector of all layers: 5, expected 0",
         [](auto& r, auto&) {
             r.layers[0].movements.push_back({Place::Dram, Place::Vector, Operand::KvCache, Bytes(5)});
         }},
        {"bytes moved out of dram: 2080, expected 2112", [](auto&, auto& e) { e.ends[0].out = Bytes(2112); }},
        {"bytes moved into host: 30, expected 0", [](auto&, auto& e) { e.ends[1].in = Bytes(0); }},
        {"picoseconds of the critical path: 100001",
         [](auto& r, auto&) { r.critical_path[0].time += Ticks(1); }},
        {"tiny_tpu.dram read that took energy: 65, expected 64",
         [](auto& r, auto&) { r.stats[1].value = 64; }},
        {"there is no counter read_bursts", [](auto& r, auto&) { r.stats.pop_back(); }},
        {"read that took energy: -1",
         [](auto& r, auto&) {
             r.energy.enter({"tiny_tpu.dram", "read", "", "bursts", -1, Femtojoules(1)});
         }},
        {"100 MACs on matrix units in 100 cycles", [](auto&, auto& e) { e.peaks.macs = {0}; }},
        {"fewer than the roofline's 102", [](auto& r, auto&) { r.total.roofline.cycles[3] = Cycles(102); }},
        {"DRAM: 2160 bytes in 100000 ps",
         [](auto&, auto& e) { e.peaks.dram = BytesPerSecond(21'500'000'000); }},
        {"scratchpad: 80 bytes moved in 79 cycles",
         [](auto& r, auto& e) { r.total.cycles = Cycles(79), e.peaks.on_chip->both_ways = true; }},
        {"scratchpad: 50 bytes written in 49 cycles", [](auto& r, auto&) { r.total.cycles = Cycles(49); }},
        {"tiny_tpu.scratchpad: 801 lines in 100 cycles are above the 8",
         [](auto& r, auto& e) {
             r.stats.push_back({"tiny_tpu.scratchpad", "stream_accesses", "lines", "", 800});
             r.stats.push_back({"tiny_tpu.scratchpad", "dma_accesses", "lines", "", 1});
             e.banks.push_back({"tiny_tpu.scratchpad", 8});
         }},
        {"lane-cycles of all layers: 8, expected 9", [](auto& r, auto&) { r.total.lane_cycles = 9; }},
        {"host link, inwards: 50 bytes", [](auto&, auto& e) { e.peaks.host = BytesPerSecond(499'000'000); }},
        {"host link, outwards: 30 bytes", [](auto&, auto& e) { e.peaks.host = BytesPerSecond(299'000'000); }},
    };
    for (const Fault& fault : faults) {
        const std::vector<std::string> found = violations_after(fault);
        CAPTURE(fault.words, found);
        CHECK(std::any_of(found.begin(), found.end(), [&](const std::string& sentence) {
            return sentence.find(fault.words) != sentence.npos;
        }));
    }
}

TEST_CASE("a transfer whose last edge was rounded down to a picosecond is not above the peak") {
    // 3 bytes at 7 B/s take 428,571,428,571.43 ps.
    DeviceResult result;
    Expectations expected;
    expected.peaks.dram = BytesPerSecond(7);
    result.total.dram_read = Bytes(3);
    const auto above = [&](std::int64_t picoseconds) {
        result.total.end = Ticks(picoseconds);
        const auto found = violations(result, expected);
        return std::any_of(found.begin(), found.end(), [](auto& text) { return text.starts_with("DRAM:"); });
    };
    CHECK_FALSE(above(428'571'428'571));
    CHECK(above(428'571'428'570));
    // 3 bytes at 10^12 B/s take 3 ps exactly: a whole tick less is too little.
    expected.peaks.dram = BytesPerSecond(kTicksPerSecond);
    CHECK_FALSE(above(3));
    CHECK(above(2));
}

TEST_CASE("a violation aborts the run") {
    DeviceResult result = test::sample_result();
    result.total.cycles = Cycles(1);
    CHECK(test::aborts([&] { check_invariants(result, test::sample_expectations()); }));
}

}  // namespace systole
