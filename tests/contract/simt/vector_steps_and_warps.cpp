// SPDX-License-Identifier: Apache-2.0
// Kernels that no tensor core works in, by steps against their twin in warps (sm.engine): the same bytes, and
// times that differ by what groups of SMs wait for each other.
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
    int sms;             ///< 0: as shipped
    std::string shape;   ///< of x, and of y where there is one
    std::string layers;  ///< the last one's name is z
    std::string dtype = "fp16";
    int repeat = 1;
    std::string second = {};  ///< shape of y; empty: that of x
    std::string kernels = "pytorch";
};

const std::string kGelu = "{name: z, op: activation, function: gelu, in: x}";
const std::string kAdd = "{name: z, op: elementwise, kind: add, in: [x, y]}";
const std::string kSoftmax = "{name: z, op: softmax, in: x}";
const std::string kLayer = "{name: z, op: norm, kind: layer, in: x}";
const std::string kRms = "{name: z, op: norm, kind: rms, in: x}";

const std::vector<Case> kElementwise{{"a100", 4, "[1000]", kGelu},
                                     {"a100", 4, "[100000]", kGelu},
                                     {"a100", 0, "[1000000]", kGelu, "bf16"},
                                     {"a100", 8, "[300, 777]", kAdd},
                                     {"a100", 8, "[300, 777]", kAdd, "fp16", 2, "[777]"},
                                     {"a100", 0, "[4000000]", kAdd, "fp32"},
                                     {"h100", 4, "[100000]", kGelu},
                                     {"h100", 0, "[3000000]", kGelu, "fp16", 2},
                                     {"h100", 8, "[16, 40, 50]", kAdd, "bf16", 1, "[16, 1, 50]"}};

const std::vector<Case> kRows{
    {"a100", 4, "[300, 200]", kSoftmax},     {"a100", 0, "[4096, 256]", kSoftmax},
    {"a100", 8, "[500, 1024]", kSoftmax},    {"a100", 8, "[77, 33]", kSoftmax, "fp32"},
    {"a100", 8, "[60, 3000]", kSoftmax},     {"a100", 0, "[512, 4096]", kSoftmax, "bf16", 2},
    {"a100", 4, "[9, 50000]", kSoftmax},     {"a100", 4, "[300, 768]", kLayer},
    {"a100", 0, "[2048, 1024]", kLayer},     {"a100", 8, "[40, 16384]", kRms},
    {"h100", 8, "[700, 512]", kRms, "bf16"}, {"h100", 0, "[1024, 4096]", kLayer},
    {"h100", 0, "[2048, 2048]", kSoftmax},   {"h100", 4, "[64, 1000]", kSoftmax}};

/// Few long rows, or rows that are no multiple of a load: of these, rounds wait for latencies one after the
/// other.
const std::vector<Case> kFewRows{
    {"h100", 0, "[8, 1219]", kRms, "bf16"},   {"a100", 0, "[200, 8097]", kRms, "bf16"},
    {"h100", 0, "[100, 4096]", kRms, "bf16"}, {"a100", 0, "[300, 1024]", kLayer},
    {"h100", 0, "[200, 8097]", kRms, "bf16"}, {"a100", 0, "[100, 4096]", kSoftmax}};

const std::string kHead = "{name: z, op: slice, axis: 1, begin: 100, size: 60, in: x}";
const std::string kJoin = "{name: z, op: concat, axis: 1, in: [x, y]}";
const std::string kTurn = "{name: z, op: transpose, permutation: [0, 2, 1, 3], in: x}";
const std::string kRotary = "{name: z, op: rotary, in: x}";
/// Queries and keys, which is z.
const std::string kTurned =
    "{name: q, op: rotary, in: x, axis: 1}\n"
    "  - {name: z, op: rotary, in: y, axis: 1}";
const std::string kLstm = "{name: z, op: lstm_cell, in: [x, y]}";
const std::string kWords =
    "{name: z, op: embedding, dtype: fp16, vocabulary: 20000, width: 320, spread: random, in: x}";
const std::string kWideWords =
    "{name: z, op: embedding, dtype: fp16, vocabulary: 20000, width: 1024, spread: random, in: x}";
const std::string kBags =
    "{name: z, op: embedding, dtype: fp16, vocabulary: 20000, width: 64, bag: 8, spread: random, in: x}";
const std::string kRowsOf = "{name: z, op: gather, in: [y, x]}";

const std::string kGate =
    "{name: s, op: activation, function: silu, in: x}\n"
    "  - {name: z, op: elementwise, kind: mul, in: [s, y]}";
const std::string kCache = "{name: z, op: kv_cache, heads: 8, length: 600, in: x}";

const std::vector<Case> kMoves{{"a100", 4, "[300, 777]", kHead},
                               {"h100", 0, "[6000, 200]", kHead, "bf16"},
                               {"a100", 8, "[100, 300]", kJoin, "fp16", 1, "[100, 77]"},
                               {"h100", 8, "[200, 64]", kJoin, "fp32", 1, "[200, 640]"},
                               {"a100", 8, "[2, 100, 12, 64]", kTurn},
                               {"h100", 0, "[2, 512, 16, 64]", kTurn, "bf16"},
                               {"a100", 8, "[3, 5, 8, 64]", kCache},
                               {"a100", 8, "[2, 50, 8, 128]", kRotary},
                               {"h100", 0, "[1, 512, 32, 128]", kRotary, "bf16"},
                               {"a100", 4, "[20, 400]", kLstm, "fp16", 1, "[20, 100]"},
                               {"h100", 0, "[256, 4096]", kLstm, "bf16", 1, "[256, 1024]"},
                               {"a100", 8, "[700]", kWords, "int32"},
                               {"h100", 0, "[3000]", kWords, "int32"},
                               {"h100", 0, "[255]", kWideWords, "int32"},
                               {"a100", 8, "[100, 16]", kBags, "int32"},
                               {"a100", 0, "[3000]", kRowsOf, "int32", 1, "[5000, 256]"}};

/// Wavefronts of 64. What sets of an L2 of 8 MiB keep of more than half of that depends on the order of
/// blocks.
const std::vector<Case> kWaves{
    {"mi210", 0, "[1000000]", kGelu},        {"mi210", 8, "[300, 777]", kAdd, "fp16", 2, "[777]"},
    {"mi210", 8, "[77, 33]", kSoftmax},      {"mi210", 0, "[500, 2048]", kSoftmax},
    {"mi210", 0, "[1000, 1024]", kLayer},    {"mi210", 8, "[40, 16384]", kRms, "bf16"},
    {"mi210", 8, "[2, 100, 12, 64]", kTurn}, {"mi210", 8, "[700]", kWords, "int32"}};

/// The same on eight dies. Rounds of a row of 16,384 by two wavefronts wait for each other's sums longer than
/// their steps do (16 % of all on one die; a fifth where memory takes less time).
const std::vector<Case> kDies{
    {"mi300x", 0, "[1000000]", kGelu},        {"mi300x", 16, "[300, 777]", kAdd, "fp16", 2, "[777]"},
    {"mi300x", 8, "[77, 33]", kSoftmax},      {"mi300x", 0, "[500, 2048]", kSoftmax},
    {"mi300x", 0, "[1000, 1024]", kLayer},    {"mi300x", 8, "[40, 16384]", kRms, "bf16"},
    {"mi300x", 8, "[2, 100, 12, 64]", kTurn}, {"mi300x", 8, "[700]", kWords, "int32"}};

// Of CTAs of 1024 threads that go round: warps that have their data go on while by steps all wait for the
// last.
const std::vector<Case> kGates{
    {"a100", 8, "[60, 3000]", kGate, "fp16", 1, "", "vllm"},
    {"h100", 0, "[300, 5000]", kGate, "bf16", 1, "", "vllm"},
    {"a100", 8, "[77, 5000]", kRms, "fp16", 1, "", "vllm"},
    {"a100", 8, "[1, 100, 10, 128]", kTurned, "fp16", 1, "[1, 100, 10, 128]", "vllm"},
    {"h100", 0, "[1, 700, 16, 128]", kTurned, "fp16", 1, "[1, 700, 2, 128]", "vllm"}};

/// As libraries of 2023 had them.
const std::vector<Case> kOf2023{{"a100", 0, "[512, 4096]", kSoftmax, "fp16", 2, "", "pytorch_2023"},
                                {"a100", 8, "[60, 3000]", kSoftmax, "bf16", 1, "", "pytorch_2023"},
                                {"mi210", 0, "[250, 2048]", kSoftmax, "fp32", 1, "", "pytorch_2023"},
                                {"a100", 0, "[2048, 4096]", kLayer, "fp16", 1, "", "inductor_2023"},
                                {"a100", 8, "[300, 768]", kLayer, "bf16", 1, "", "inductor_2023"},
                                {"h100", 0, "[3000000]", kGelu, "fp16", 2, "", "inductor_2023"},
                                {"a100", 8, "[700]", kWords, "int32", 1, "", "pytorch_2023"},
                                {"h100", 0, "[3000]", kWords, "int32", 1, "", "vllm"},
                                {"a100", 8, "[9]", kWords, "int32", 1, "", "pytorch_2023"},
                                {"h100", 0, "[16]", kWords, "int32", 1, "", "vllm"}};

const std::string kMatrix = "{name: z, op: transpose, permutation: [1, 0], in: x}";
const std::string kMatrices = "{name: z, op: transpose, permutation: [0, 2, 1], in: x}";

/// Layers ahead of attention: queries of `heads` heads turned, keys turned and written into a cache of
/// `length` rows, and values; the last one's cache is z.
Case ahead_of_attention(const std::string& gpu, int sms, const std::string& shape, int kv_heads, int dim,
                        int length, int repeat = 1) {
    return {gpu,
            sms,
            shape,
            fmt::format("{{name: q, op: rotary, in: x, axis: 1, weight_dtype: fp32}}\n"
                        "  - {{name: k, op: rotary, in: y, axis: 1, weight_dtype: fp32}}\n"
                        "  - {{name: keys, op: kv_cache, heads: {0}, length: {1}, in: k}}\n"
                        "  - {{name: z, op: kv_cache, heads: {0}, length: {1}, in: v}}",
                        kv_heads, length),
            "bf16",
            repeat,
            fmt::format("{}, {}, {}]", shape.substr(0, shape.find(',', shape.find(',') + 1)), kv_heads, dim),
            "tensorrt_llm"};
}

const std::vector<Case> kQkv{ahead_of_attention("a100", 8, "[2, 50, 8, 128]", 2, 128, 60),
                             ahead_of_attention("a100", 0, "[4, 512, 32, 128]", 8, 128, 512),
                             ahead_of_attention("h100", 0, "[64, 1, 32, 128]", 8, 128, 700, 2),
                             ahead_of_attention("h100", 0, "[2, 350, 24, 192]", 24, 192, 350),
                             ahead_of_attention("h100", 0, "[1, 1500, 16, 128]", 16, 128, 1500),
                             ahead_of_attention("a100", 8, "[9, 1, 16, 64]", 4, 64, 2000),
                             ahead_of_attention("h100", 8, "[3, 90, 8, 256]", 1, 256, 1400)};

std::string reduced(const std::string& kind) {
    return fmt::format("{{name: z, op: reduce, kind: {}, in: x}}", kind);
}

std::string greatest(int k) {
    return fmt::format("{{name: z, op: top_k, k: {}, in: x}}", k);
}

/// Transposes of the last dimension, top-k and reductions. Of the MI210 as many SMs as shipped only where its
/// L2 holds all: what its sets keep of more depends on the order of blocks.
std::vector<Case> rows_and_columns(const std::string& gpu) {
    return {{gpu, 8, "[300, 200]", kMatrix},
            {gpu, 0, "[1024, 2048]", kMatrix, "bf16"},
            {gpu, 0, "[64, 4096]", greatest(512), "bf16"},
            {gpu, 8, "[20, 40000]", greatest(100), "fp32"},
            {gpu, 8, "[300, 777]", reduced("sum")},
            {gpu, 0, "[4, 500000]", reduced("max")},
            {gpu, 0, "[10000, 8]", reduced("mean")},
            {gpu, 0, "[16, 32160]", reduced("sum"), "bf16"}};
}

/// More of them, for one chip of each maker.
std::vector<Case> more_rows_and_columns(const std::string& gpu) {
    return {
        {gpu, 0, "[1000, 77]", kMatrix, "fp32"},          {gpu, 8, "[20, 50, 3]", kMatrices, "int8"},
        {gpu, 8, "[300, 64]", greatest(8), "bf16"},       {gpu, 0, "[4096, 64]", greatest(6), "fp32"},
        {gpu, 0, "[1500, 1024]", reduced("sum"), "bf16"}, {gpu, 0, "[300, 1000]", greatest(4), "bf16"},
        {gpu, 0, "[100, 32160]", reduced("sum"), "bf16"}, {gpu, 8, "[60, 10000]", reduced("mean"), "fp32"}};
}

ResultRow run(const Case& one, const std::string& engine) {
    std::string inputs = fmt::format("  x: {{shape: {}, dtype: {}}}\n", one.shape, one.dtype);
    if (one.layers.find("x, y]") != std::string::npos || one.layers.find("[y, x]") != std::string::npos ||
        one.layers.find("s, y]") != std::string::npos || one.layers.find("in: y,") != std::string::npos)
        inputs += fmt::format("  y: {{shape: {}, dtype: {}}}\n", one.second.empty() ? one.shape : one.second,
                              one.dtype == "int32" ? "fp16" : one.dtype);
    // What is not turned lies as what is.
    if (one.layers.find("in: v}") != std::string::npos)
        inputs += fmt::format("  v: {{shape: {}, dtype: {}}}\n", one.second, one.dtype);
    const std::string others = one.layers.find("name: keys") != std::string::npos ? "q, keys, "
                               : one.layers.find("name: q,") != std::string::npos ? "q, "
                                                                                  : "";
    const std::string trace =
        fmt::format("trace: one\ninputs:\n{}layers:\n  - {}\noutputs: [{}z]\n", inputs, one.layers, others);
    return run_on({one.gpu, one.sms, one.kernels}, engine, trace, one.repeat);
}

/// But for sums that CTAs leave for each other: by steps, some are read before they are stored.
std::int64_t fetched(const ResultRow& row) {
    std::int64_t sum = 0;
    for (const Movement& movement : row.movements)
        if (movement.from == Place::Dram &&
            (movement.to == Place::L2 || movement.to == Place::MemorySideCache) &&
            movement.operand != Operand::PartialSums)
            sum += movement.bytes.value();
    return sum;
}

/// By how much steps take longer.
double check_case(const Case& one, double most, double fetches) {
    const ResultRow steps = run(one, "steps"), warps = run(one, "warps");
    const double error = excess(steps, warps);
    UNSCOPED_INFO(fmt::format("{}, {} SMs, {} {}: {}, {}, {} and {} ps, {:+.1f} %", one.gpu, one.sms,
                              one.shape, one.dtype, one.layers, steps.mapping, steps.time().value(),
                              warps.time().value(), 100 * error));
    for (const auto& [from, to] :
         {std::pair(Place::SharedMemory, Place::L2), std::pair(Place::L2, Place::SharedMemory)})
        CHECK(bytes(warps, from, to) == bytes(steps, from, to));
    // A sector that two rows share may be met again when it has made room; where results lie in their
    // operand's place, the row before has written a part of it.
    CHECK(fetched(warps) == Approx(fetched(steps)).epsilon(fetches));
    CHECK(steps.slots[static_cast<std::size_t>(SlotClass::Useful)] == 0);
    CHECK(warps.slots[static_cast<std::size_t>(SlotClass::Useful)] == 0);
    CHECK(steps.slots[static_cast<std::size_t>(SlotClass::Vector)] > 0);
    CHECK(std::abs(error) < most);
    return error;
}

/// `fetches`: by what part the operands' bytes out of the memory may differ.
double mean_error(const std::vector<Case>& cases, double most = 0.2, double fetches = 5e-5) {
    double sum = 0;
    for (const Case& one : cases) sum += std::abs(check_case(one, most, fetches));
    return sum / static_cast<double>(cases.size());
}

}  // namespace

TEST_CASE("Elementwise kernels by steps take what they take in warps", "[simt]") {
    CHECK(mean_error(kElementwise) < 0.05);
}

TEST_CASE("Softmax and norms by steps take what they take in warps", "[simt]") {
    CHECK(mean_error(kRows) < 0.08);
}

TEST_CASE("Norms and softmax of few long rows by steps take what they take in warps", "[simt]") {
    CHECK(mean_error(kFewRows, 0.1) < 0.06);
}

TEST_CASE("Kernels without tensor cores of a CDNA chip by steps take what they take in wavefronts",
          "[simt]") {
    CHECK(mean_error(kWaves) < 0.08);
}

TEST_CASE("Kernels without tensor cores of a chip of several dies by steps take what they take in wavefronts",
          "[simt]") {
    CHECK(mean_error(kDies) < 0.08);
}

TEST_CASE("Lookups, copies and cells by steps take what they take in warps", "[simt]") {
    // A transpose element by element of 3.5 us on an H100 is 0.7 us longer by steps.
    CHECK(mean_error(kMoves, 0.21) < 0.08);
}

TEST_CASE("What is done ahead of attention takes by steps what it takes in warps", "[simt]") {
    // Of 19.7 MB on an H100, whose L2's halves both have what both read, a stripe of 16 KiB may have made
    // room before all of its heads' rows were read.
    CHECK(mean_error(kQkv, 0.25, 16'384 / 19.7e6) < 0.1);
}

TEST_CASE("Kernels of 2023's libraries by steps take what they take in warps", "[simt]") {
    CHECK(mean_error(kOf2023) < 0.08);
}

TEST_CASE("Transposes, top-k and reductions by steps take what they take in warps", "[simt]") {
    for (const char* gpu : {"h100", "a100", "mi210", "mi300x"})
        CHECK(mean_error(rows_and_columns(gpu)) < 0.08);
    for (const char* gpu : {"h100", "mi300x"}) CHECK(mean_error(more_rows_and_columns(gpu)) < 0.08);
}

TEST_CASE("Rows of a thread for each element by steps take a quarter more than in warps at most", "[simt]") {
    // Results lie in their first operand's place: of each row's operands (12,000 bytes and more) the sector
    // that it shares with the row before may have been written by then, and need not be fetched.
    CHECK(mean_error(kGates, 0.3, 32.0 / 12'000) < 0.2);
}

}  // namespace systole::test
