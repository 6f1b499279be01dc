// SPDX-License-Identifier: Apache-2.0
// Convolutions and pools by steps against their twin in warps (sm.engine): the same bytes and MACs, and times
// that differ by what groups of SMs wait for each other.
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
    int sms;            ///< 0: as shipped
    std::string shape;  ///< of x: n, h, w, c
    std::string layer;  ///< what it does besides name and input
    std::string dtype = "bf16";
    std::string residual = {};  ///< shape of what is added
};

const std::string kSame = "op: conv2d, filters: 64, kernel: 3, pad: 1";

const std::vector<Case> kImplicit{
    {"h100", 4, "[1, 28, 28, 64]", kSame},
    {"h100", 8, "[2, 29, 31, 24]", "op: conv2d, filters: 40, kernel: [3, 5], stride: 2, pad: 1"},
    {"h100", 0, "[1, 64, 64, 3]",
     "op: conv2d, filters: 64, kernel: 7, stride: 2, pad: 3, bias: true, activation: relu"},
    {"h100", 0, "[1, 14, 14, 256]", "op: conv2d, filters: 256, kernel: 3, pad: 1"},
    {"h100", 0, "[4, 28, 28, 128]", "op: conv2d, filters: 128, kernel: 3, pad: 1", "bf16",
     "[4, 28, 28, 128]"},
    {"h100", 16, "[2, 17, 19, 100]", "op: conv2d, filters: 70, kernel: 3, dilation: 2, bias: true"},
    {"h100", 8, "[2, 14, 14, 128]", "op: conv2d, filters: 128, kernel: 3, pad: 1, groups: 4"},
    {"h100", 0, "[1, 14, 14, 512]", "op: conv2d, filters: 128, kernel: 1, bias: true, activation: relu"},
    {"a100", 4, "[1, 28, 28, 64]", kSame},
    {"a100", 8, "[2, 29, 31, 24]", "op: conv2d, filters: 40, kernel: [3, 5], stride: 2, pad: 1"},
    {"a100", 0, "[1, 64, 64, 3]",
     "op: conv2d, filters: 64, kernel: 7, stride: 2, pad: 3, bias: true, activation: relu"},
    {"a100", 0, "[1, 14, 14, 256]", "op: conv2d, filters: 256, kernel: 3, pad: 1", "fp16"},
    {"a100", 0, "[4, 28, 28, 128]", "op: conv2d, filters: 128, kernel: 3, pad: 1", "bf16",
     "[4, 28, 28, 128]"},
    {"a100", 16, "[2, 17, 19, 100]", "op: conv2d, filters: 70, kernel: 3, dilation: 2, bias: true"},
    {"a100", 8, "[2, 14, 14, 128]", "op: conv2d, filters: 128, kernel: 3, pad: 1, groups: 4"},
    {"v100", 8, "[2, 29, 31, 24]", "op: conv2d, filters: 40, kernel: [3, 5], stride: 2, pad: 1", "fp16"},
    {"v100", 0, "[4, 28, 28, 128]", "op: conv2d, filters: 128, kernel: 3, pad: 1", "fp16",
     "[4, 28, 28, 128]"},
    {"v100", 0, "[1, 64, 64, 3]",
     "op: conv2d, filters: 64, kernel: 7, stride: 2, pad: 3, bias: true, activation: relu", "fp32"},
    {"v100", 0, "[4, 28, 30, 96]", "op: conv2d, filters: 64, kernel: 3, pad: 1, bias: true, activation: relu",
     "fp32"},
    {"v100", 8, "[2, 17, 19, 100]", "op: conv2d, filters: 70, kernel: 3, dilation: 2, bias: true", "fp32"}};

const std::vector<Case> kWindows{
    {"h100", 0, "[2, 56, 56, 64]", "op: pool, kind: max, window: 3, stride: 2, pad: 1"},
    {"h100", 8, "[1, 27, 31, 96]", "op: pool, kind: average, window: 2", "fp16"},
    {"h100", 0, "[1, 7, 7, 2048]", "op: pool, kind: average, global: true"},
    {"h100", 0, "[1, 56, 56, 96]", "op: pool, kind: average, global: true"},
    {"h100", 0, "[1, 56, 56, 96]",
     "op: conv2d, filters: 96, groups: 96, kernel: 3, pad: 1, bias: true, activation: relu6"},
    {"h100", 8, "[1, 15, 14, 200]", "op: conv2d, filters: 200, groups: 200, kernel: 5, stride: 2, pad: 2",
     "fp16"},
    {"a100", 0, "[2, 56, 56, 64]", "op: pool, kind: max, window: 3, stride: 2, pad: 1"},
    {"a100", 8, "[1, 27, 31, 96]", "op: pool, kind: average, window: 2", "fp16"},
    {"a100", 0, "[1, 7, 7, 2048]", "op: pool, kind: average, global: true"},
    {"a100", 0, "[1, 56, 56, 96]",
     "op: conv2d, filters: 96, groups: 96, kernel: 3, pad: 1, bias: true, activation: relu6"},
    {"a100", 8, "[1, 15, 14, 200]", "op: conv2d, filters: 200, groups: 200, kernel: 5, stride: 2, pad: 2",
     "fp16"}};

std::string trace_of(const Case& one) {
    const bool joins = !one.residual.empty();
    std::string trace =
        fmt::format("trace: one\ninputs:\n  x: {{shape: {}, dtype: {}}}\n", one.shape, one.dtype);
    if (joins) trace += fmt::format("  r: {{shape: {}, dtype: {}}}\n", one.residual, one.dtype);
    trace += fmt::format("layers:\n  - {{name: y, in: x, {}}}\n", one.layer);
    if (joins) trace += "  - {name: z, op: elementwise, kind: add, in: [y, r]}\n";
    return trace + fmt::format("outputs: [{}]\n", joins ? "z" : "y");
}

ResultRow run(const Case& one, const std::string& engine) {
    return run_on({one.gpu, one.sms}, engine, trace_of(one), 1);
}

/// By how much steps take longer.
double check_case(const Case& one, double most) {
    const ResultRow steps = run(one, "steps"), warps = run(one, "warps");
    const double error = excess(steps, warps);
    UNSCOPED_INFO(fmt::format("{}, {} SMs, {} {}: {}, {}, {} and {} ps, {:+.1f} %", one.gpu, one.sms,
                              one.shape, one.dtype, one.layer, steps.mapping, steps.time().value(),
                              warps.time().value(), 100 * error));
    CHECK(warps.matrix_macs == steps.matrix_macs);
    CHECK(bytes(warps, Place::SharedMemory, Place::L2) == bytes(steps, Place::SharedMemory, Place::L2));
    // A cluster's blocks pass once for all of it; by steps once for each group that has some of it.
    CHECK(bytes(warps, Place::L2, Place::SharedMemory) <= bytes(steps, Place::L2, Place::SharedMemory));
    if (one.gpu == "a100")
        CHECK(bytes(warps, Place::L2, Place::SharedMemory) == bytes(steps, Place::L2, Place::SharedMemory));
    CHECK(std::abs(error) < most);
    return error;
}

double mean_error(const std::vector<Case>& cases, double most) {
    double sum = 0;
    for (const Case& one : cases) sum += std::abs(check_case(one, most));
    return sum / static_cast<double>(cases.size());
}

}  // namespace

TEST_CASE("Convolutions by steps take what they take in warps, and gather the same", "[simt]") {
    CHECK(mean_error(kImplicit, 0.155) < 0.045);
}

TEST_CASE("Pools and depthwise convolutions by steps take what they take in warps", "[simt]") {
    CHECK(mean_error(kWindows, 0.15) < 0.045);
}

}  // namespace systole::test
