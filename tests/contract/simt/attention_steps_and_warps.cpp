// SPDX-License-Identifier: Apache-2.0
// Attention by steps against its twin in warps (sm.engine): the same MACs, the same bytes of the L2 and of
// the memory, and times that differ by what groups of SMs wait for each other.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tests/contract/simt/both_engines.h"

namespace systole::test {
namespace {

struct Case {
    std::string gpu;
    int sms;  ///< 0: as shipped
    std::int64_t batch, q_len, kv_len, heads, kv_heads, dim;
    bool causal = true;
    int repeat = 1;
};

const std::vector<Case> kPrefill{{"a100", 4, 1, 300, 300, 2, 2, 128},
                                 {"a100", 8, 2, 200, 700, 6, 2, 128},
                                 {"a100", 0, 2, 777, 777, 12, 4, 64},
                                 {"a100", 8, 1, 500, 500, 3, 3, 80, false},
                                 {"a100", 0, 3, 60, 60, 40, 8, 100},
                                 {"a100", 4, 1, 300, 450, 2, 1, 200, false},
                                 {"a100", 0, 1, 1000, 1000, 16, 16, 128, false, 2},
                                 {"h100", 4, 1, 300, 300, 2, 2, 128},
                                 {"h100", 8, 2, 200, 700, 6, 2, 128},
                                 {"h100", 0, 2, 777, 777, 12, 4, 64},
                                 {"h100", 8, 1, 500, 500, 3, 3, 80, false},
                                 {"h100", 4, 1, 300, 450, 2, 1, 200, false},
                                 {"h100", 0, 1, 1000, 1000, 16, 16, 128, false, 2}};

const std::vector<Case> kDecode{
    {"a100", 4, 2, 1, 1000, 8, 2, 128},  {"a100", 0, 16, 1, 777, 32, 4, 128},
    {"a100", 8, 5, 1, 300, 4, 4, 64},    {"a100", 0, 1, 3, 5000, 16, 2, 128},
    {"a100", 8, 3, 1, 100, 64, 1, 128},  {"h100", 4, 2, 1, 1000, 8, 2, 128},
    {"h100", 0, 16, 1, 777, 32, 4, 128}, {"h100", 8, 5, 1, 300, 4, 4, 64},
    {"h100", 0, 1, 3, 5000, 16, 2, 128}, {"h100", 0, 40, 1, 513, 8, 8, 200, true, 2}};

/// Wavefronts of 64, both ways.
const std::vector<Case> kWaves{
    {"mi210", 4, 1, 300, 300, 2, 2, 128}, {"mi210", 8, 2, 200, 700, 6, 2, 128},
    {"mi210", 0, 2, 777, 777, 12, 4, 64}, {"mi210", 8, 1, 500, 500, 3, 3, 80, false},
    {"mi210", 4, 2, 1, 1000, 8, 2, 128},  {"mi210", 0, 16, 1, 777, 32, 4, 128}};

/// The same on eight dies.
const std::vector<Case> kDies{
    {"mi300x", 8, 1, 300, 300, 2, 2, 128}, {"mi300x", 16, 2, 200, 700, 6, 2, 128},
    {"mi300x", 0, 2, 777, 777, 12, 4, 64}, {"mi300x", 8, 1, 500, 500, 3, 3, 80, false},
    {"mi300x", 8, 2, 1, 1000, 8, 2, 128},  {"mi300x", 0, 16, 1, 777, 32, 4, 128}};

ResultRow run(const Case& one, const std::string& engine) {
    const auto input = [&](const std::string& name, std::int64_t rows, std::int64_t heads) {
        return fmt::format("  {}: {{shape: [{}, {}, {}], dtype: bf16}}\n", name, one.batch, rows,
                           heads * one.dim);
    };
    const std::string trace = fmt::format(
        "trace: one\ninputs:\n{}{}{}layers:\n  - {{name: z, op: attention, in: [q, k, v], heads: {}, "
        "kv_heads: {}, causal: {}}}\noutputs: [z]\n",
        input("q", one.q_len, one.heads), input("k", one.kv_len, one.kv_heads),
        input("v", one.kv_len, one.kv_heads), one.heads, one.kv_heads, one.causal);
    return run_on({one.gpu, one.sms}, engine, trace, one.repeat);
}

/// By how much steps take longer.
double check_case(const Case& one) {
    const ResultRow steps = run(one, "steps"), warps = run(one, "warps");
    const double error = excess(steps, warps);
    UNSCOPED_INFO(fmt::format("{}, {} SMs, {}: {} x {}, {} and {} ps, {:+.1f} %", one.gpu, one.sms,
                              steps.mapping, one.q_len, one.kv_len, steps.time().value(),
                              warps.time().value(), 100 * error));
    for (const auto& [from, to] :
         {std::pair(Place::SharedMemory, Place::L2), std::pair(Place::L2, Place::SharedMemory)})
        CHECK(bytes(warps, from, to) == bytes(steps, from, to));
    // What sets of the L2 keep depends on the order in which blocks come.
    const auto given = static_cast<double>(bytes(steps, Place::L2, Place::SharedMemory));
    CHECK(static_cast<double>(warps.dram_read.value()) ==
          Approx(static_cast<double>(steps.dram_read.value())).epsilon(0.03).margin(0.01 * given));
    CHECK(warps.matrix_macs == steps.matrix_macs);
    CHECK(std::abs(error) < 0.2);
    return error;
}

double mean_error(const std::vector<Case>& cases) {
    double sum = 0;
    for (const Case& one : cases) sum += std::abs(check_case(one));
    return sum / static_cast<double>(cases.size());
}

}  // namespace

TEST_CASE("Prefills by steps take what they take in warps", "[simt]") {
    CHECK(mean_error(kPrefill) < 0.08);
}

TEST_CASE("Attention of a CDNA chip by steps takes what it takes in wavefronts", "[simt]") {
    CHECK(mean_error(kWaves) < 0.08);
}

TEST_CASE("Attention of a chip of several dies by steps takes what it takes in wavefronts", "[simt]") {
    CHECK(mean_error(kDies) < 0.08);
}

// A step waits for all of its data, keys and values; warps begin with the first part of the keys: of CTAs
// that have one step or two, steps take 10 to 17 % longer.
TEST_CASE("Steps of decoding by steps take what they take in warps", "[simt]") {
    CHECK(mean_error(kDecode) < 0.12);
}

}  // namespace systole::test
