// SPDX-License-Identifier: Apache-2.0
// The step model against its twin in warps (sm.engine): the same products, machine and kernels, of which one
// simulates groups of SMs by steps, and the other every instruction of every SM.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tests/contract/simt/both_engines.h"

namespace systole::test {
namespace {

struct Product {
    std::string gpu;
    int sms;  ///< 0: as shipped
    std::int64_t m, n, k, batch = 1;
    int repeat = 1;
    std::string function = {};  ///< behind a bias; empty: no bias either
    bool residual = false;      ///< a matrix like the result is added
    int experts = 0;            ///< of which the first `batch` are met; 0: one matrix for all
    std::string dtype = "bf16";
    std::string scales = {};  ///< of weights: "channel", or "16", "32": of blocks of both operands

    /// Scaled numbers make plain ones.
    std::string out_dtype() const { return scales.empty() ? dtype : "bf16"; }
    std::string layers = "pytorch";  ///< kernels.layers
};

// On few SMs products take several waves, with the ports and the memory of a whole chip.
const std::vector<Product> kProducts{{"a100", 4, 256, 256, 128},        {"a100", 4, 333, 517, 301},
                                     {"a100", 8, 1000, 520, 264},       {"a100", 8, 1, 1024, 512},
                                     {"a100", 16, 64, 64, 4096},        {"a100", 16, 640, 640, 200},
                                     {"a100", 4, 96, 160, 640, 3},      {"a100", 8, 500, 250, 128, 1, 2},
                                     {"a100", 2, 129, 257, 65},         {"a100", 0, 512, 512, 512},
                                     {"a100", 0, 128, 4096, 1024},      {"a100", 0, 33, 1000, 777},
                                     {"a100", 0, 16, 2048, 2048},       {"a100", 0, 1024, 1024, 512},
                                     {"a100", 0, 256, 256, 4096},       {"a100", 0, 7, 5, 9},
                                     {"h100", 4, 256, 256, 128},        {"h100", 4, 333, 517, 301},
                                     {"h100", 8, 1000, 520, 264},       {"h100", 8, 1, 1024, 512},
                                     {"h100", 16, 64, 64, 4096},        {"h100", 16, 640, 640, 200},
                                     {"h100", 4, 96, 160, 640, 3},      {"h100", 8, 500, 250, 128, 1, 2},
                                     {"h100", 2, 129, 257, 65},         {"h100", 0, 512, 512, 512},
                                     {"h100", 0, 128, 4096, 1024},      {"h100", 0, 33, 1000, 777},
                                     {"h100", 0, 16, 2048, 2048},       {"h100", 0, 1024, 1024, 512},
                                     {"h100", 0, 256, 256, 4096},       {"h100", 0, 7, 5, 9},
                                     {"h100", 0, 384, 3000, 1500, 1, 2}};

/// Ada: a memory whose every answer comes late for the little that its tiles of few rows ask for ahead.
const std::vector<Product> kAda{
    {"l40s", 4, 333, 517, 301},   {"l40s", 8, 500, 250, 128, 1, 2}, {"l40s", 0, 512, 512, 512},
    {"l40s", 0, 1024, 1024, 512}, {"l40s", 0, 16, 2048, 2048},      {"l40s", 0, 3, 1000, 3000},
    {"l40s", 0, 32, 1024, 6000},  {"l40s", 0, 128, 4096, 1024},     {"l40s", 0, 1, 2048, 2048}};

/// Of few rows: wmma's kernels of one and two stages, a warp or four a CTA, on a few SMs and on all.
const std::vector<Product> kWmma{{"l40s", 0, 10, 32, 4096},
                                 {"l40s", 0, 16, 4096, 100},
                                 {"l40s", 0, 4, 1536, 1536, 1, 2},
                                 {"l40s", 8, 12, 1000, 777},
                                 {"l40s", 4, 7, 333, 130},
                                 {"l40s", 0, 16, 1024, 512, 3},
                                 {"l40s", 8, 5, 640, 300, 1, 1, "gelu", true},
                                 {"l40s", 0, 30, 32, 256, 1, 2},
                                 {"l40s", 0, 9, 512, 2048, 1, 1, "relu"}};

/// Blackwell: pairs of CTAs, sums in tensor memory, epilogues beside the next tile's products.
const std::vector<Product> kThreads{
    {"b200", 4, 256, 256, 128},        {"b200", 4, 333, 517, 301},       {"b200", 8, 1000, 520, 264},
    {"b200", 8, 1, 1024, 512},         {"b200", 16, 64, 64, 4096},       {"b200", 16, 640, 640, 200},
    {"b200", 4, 96, 160, 640, 3},      {"b200", 8, 500, 250, 128, 1, 2}, {"b200", 2, 129, 257, 65},
    {"b200", 4, 2048, 2048, 64},       {"b200", 4, 2048, 1024, 1024},    {"b200", 0, 512, 512, 512},
    {"b200", 0, 128, 4096, 1024},      {"b200", 0, 33, 1000, 777},       {"b200", 0, 16, 2048, 2048},
    {"b200", 0, 1024, 1024, 512},      {"b200", 0, 256, 256, 4096},      {"b200", 0, 7, 5, 9},
    {"b200", 0, 384, 3000, 1500, 1, 2}};

/// The same with what is done to sums, and with weights of their own.
const std::vector<Product> kThreadEpilogues{
    {"b200", 4, 256, 256, 128, 1, 1, "gelu"},           {"b200", 4, 333, 517, 301, 1, 1, "none", true},
    {"b200", 8, 1000, 520, 264, 1, 1, "relu"},          {"b200", 16, 64, 64, 4096, 1, 1, "gelu", true},
    {"b200", 8, 500, 250, 128, 1, 2, "mish", true},     {"b200", 4, 96, 160, 640, 3, 1, "", true},
    {"b200", 0, 512, 512, 512, 1, 1, "gelu"},           {"b200", 0, 1024, 1024, 512, 1, 1, "none", true},
    {"b200", 0, 16, 2048, 2048, 1, 1, "silu", true},    {"b200", 8, 200, 300, 256, 4, 1, "", false, 6},
    {"b200", 0, 16, 1024, 1024, 8, 1, "silu", false, 8}};

/// CDNA: operands through registers, wavefronts of 64 threads.
const std::vector<Product> kWaves{{"mi210", 4, 333, 517, 301},
                                  {"mi210", 8, 500, 250, 128, 1, 2},
                                  {"mi210", 4, 96, 160, 640, 3},
                                  {"mi210", 16, 64, 64, 4096},
                                  {"mi210", 0, 512, 512, 512},
                                  {"mi210", 0, 1024, 1024, 512},
                                  {"mi210", 0, 16, 2048, 2048},
                                  {"mi210", 4, 256, 256, 128, 1, 1, "gelu"},
                                  {"mi210", 8, 500, 250, 128, 1, 2, "mish", true}};

Product of(Product product, const std::string& dtype, const std::string& layers = "pytorch") {
    product.dtype = dtype;
    product.layers = layers;
    return product;
}

/// rocBLAS's of 2023: tiles of 160 rows, loaded by 8 bytes a thread, and what it takes for few rows.
const std::vector<Product> kRocblas{of({"mi210", 0, 8192, 256, 512}, "bf16", "pytorch_2023"),
                                    of({"mi210", 0, 32, 12'288, 12'288}, "bf16", "pytorch_2023")};

Product scaled(Product product, const std::string& dtype, const std::string& scales) {
    product.dtype = dtype;
    product.scales = scales;
    return product;
}

/// Of fp4 and fp8 in blocks, and of what has a scale for each column.
const std::vector<Product> kScaled{
    scaled({"b200", 4, 333, 517, 320}, "fp4", "16"),
    scaled({"b200", 16, 640, 640, 2048}, "fp4", "32"),
    scaled({"b200", 4, 96, 160, 640, 3}, "fp8", "32"),
    scaled({"b200", 8, 500, 250, 1024, 1, 2}, "fp4", "16"),
    scaled({"b200", 0, 1024, 1024, 4096}, "fp4", "16"),
    scaled({"b200", 0, 16, 2048, 4096}, "fp4", "16"),
    scaled({"b200", 16, 64, 64, 8192, 1, 1, "gelu", true}, "fp8", "32"),
    scaled({"b200", 8, 333, 517, 300, 1, 1, "silu", true}, "fp8", "channel"),
    scaled({"h100", 4, 333, 517, 301}, "fp8", "channel"),
    scaled({"h100", 0, 1024, 1024, 1024, 1, 1, "gelu", true}, "fp8", "channel"),
    scaled({"h100", 16, 64, 64, 8192, 1, 1, "none"}, "int8", "channel"),
    scaled({"h100", 8, 200, 300, 256, 4, 1, "", false, 6}, "fp8", "channel"),
    scaled({"a100", 8, 500, 250, 128, 1, 2, "mish", true}, "int8", "channel"),
    scaled({"a100", 4, 333, 517, 301}, "int8", "channel"),
    of({"a100", 8, 500, 250, 512}, "int4")};

/// Hopper's tiles before nvjet: no clusters, no persistent grids, one or two groups of warps.
const std::vector<Product> kXmma{
    of({"h100", 4, 333, 517, 301}, "fp16", "vllm"),  of({"h100", 8, 500, 250, 128, 1, 2}, "fp16", "vllm"),
    of({"h100", 16, 64, 64, 4096}, "fp16", "vllm"),  of({"h100", 0, 512, 512, 512}, "fp16", "vllm"),
    of({"h100", 0, 16, 2048, 2048}, "fp16", "vllm"), of({"h100", 0, 1024, 1024, 512}, "fp16", "vllm"),
    of({"h100", 0, 328, 1920, 5120}, "fp16", "vllm")};

/// CDNA 3: eight dies, each with an L2 of its own.
const std::vector<Product> kDies{of({"mi300x", 8, 333, 517, 301}, "bf16"),
                                 of({"mi300x", 8, 500, 250, 128, 1, 2}, "fp16"),
                                 of({"mi300x", 16, 640, 640, 200}, "fp8"),
                                 of({"mi300x", 24, 96, 160, 640, 3}, "bf16"),
                                 of({"mi300x", 0, 512, 512, 512}, "bf16"),
                                 of({"mi300x", 0, 1024, 1024, 512}, "fp8"),
                                 of({"mi300x", 0, 16, 2048, 2048}, "bf16"),
                                 of({"mi300x", 16, 256, 256, 128, 1, 1, "gelu"}, "bf16"),
                                 of({"mi300x", 8, 500, 250, 128, 1, 2, "mish", true}, "bf16")};

/// Volta: operands through registers, quad-pairs.
const std::vector<Product> kQuadPairs{of({"v100", 4, 333, 517, 301}, "fp16"),
                                      of({"v100", 8, 500, 250, 128, 1, 2}, "fp16"),
                                      of({"v100", 4, 96, 160, 640, 3}, "fp16"),
                                      of({"v100", 16, 64, 64, 4096}, "fp16"),
                                      of({"v100", 0, 512, 512, 512}, "fp16"),
                                      of({"v100", 0, 16, 2048, 2048}, "fp16"),
                                      of({"v100", 0, 1024, 1024, 512}, "fp16"),
                                      of({"v100", 0, 1, 2048, 2048}, "fp16"),
                                      of({"v100", 8, 500, 250, 128, 1, 2, "mish", true}, "fp16")};

/// On FP32 pipes, in tiles.
const std::vector<Product> kLanes{of({"v100", 4, 333, 517, 301}, "fp32"),
                                  of({"v100", 16, 64, 64, 4096}, "fp32"),
                                  of({"v100", 0, 512, 512, 512}, "fp32"),
                                  of({"v100", 0, 32, 1760, 1760, 1, 2}, "fp32"),
                                  of({"v100", 4, 96, 160, 640, 3, 1, "gelu"}, "fp32"),
                                  of({"a100", 8, 500, 250, 128, 1, 2}, "fp32"),
                                  of({"a100", 0, 512, 512, 512}, "fp32"),
                                  of({"h100", 8, 500, 250, 128, 1, 1, "mish", true}, "fp32"),
                                  of({"h100", 0, 16, 2048, 2048}, "fp32")};

/// What is done to sums before they are stored, which may read, too.
const std::vector<Product> kEpilogues{
    {"a100", 4, 256, 256, 128, 1, 1, "gelu"},         {"a100", 4, 333, 517, 301, 1, 1, "none", true},
    {"a100", 8, 1000, 520, 264, 1, 1, "relu"},        {"a100", 16, 64, 64, 4096, 1, 1, "gelu", true},
    {"a100", 8, 500, 250, 128, 1, 2, "mish", true},   {"a100", 4, 96, 160, 640, 3, 1, "", true},
    {"a100", 0, 512, 512, 512, 1, 1, "gelu"},         {"a100", 0, 1024, 1024, 512, 1, 1, "none", true},
    {"a100", 0, 16, 2048, 2048, 1, 1, "silu", true},  {"h100", 4, 256, 256, 128, 1, 1, "gelu"},
    {"h100", 4, 333, 517, 301, 1, 1, "none", true},   {"h100", 8, 1000, 520, 264, 1, 1, "relu"},
    {"h100", 16, 64, 64, 4096, 1, 1, "gelu", true},   {"h100", 8, 500, 250, 128, 1, 2, "mish", true},
    {"h100", 4, 96, 160, 640, 3, 1, "", true},        {"h100", 0, 512, 512, 512, 1, 1, "gelu"},
    {"h100", 0, 1024, 1024, 512, 1, 1, "none", true}, {"h100", 0, 16, 2048, 2048, 1, 1, "silu", true}};

/// Weights, and biases, of their own.
const std::vector<Product> kExperts{{"a100", 8, 96, 160, 640, 3, 1, "", false, 5},
                                    {"a100", 0, 16, 1024, 1024, 8, 1, "silu", false, 8},
                                    {"a100", 0, 7, 512, 4096, 2, 2, "none", false, 4},
                                    {"h100", 8, 200, 300, 256, 4, 1, "", false, 6},
                                    {"h100", 0, 16, 1024, 1024, 8, 1, "silu", false, 8}};

/// On FP32 pipes.
const std::vector<Product> kOneRow{{"a100", 0, 1, 64, 64},
                                   {"a100", 0, 1, 1536, 1024},
                                   {"a100", 0, 1, 512, 6000},
                                   {"a100", 0, 1, 2048, 2048},
                                   {"a100", 0, 300, 1, 700},
                                   {"a100", 0, 1, 3, 60'000},
                                   {"a100", 8, 1, 1000, 1100},
                                   {"a100", 8, 1, 256, 2048, 1, 2},
                                   {"a100", 8, 1, 128, 8192},
                                   {"a100", 0, 1, 500, 2000, 1, 1, "gelu", true},
                                   {"a100", 4, 77, 1, 1500, 1, 1, "relu"}};

std::string to_string(const Product& product) {
    return fmt::format("{}, {} SMs: {}x{}x{} {} {} batch {} repeat {} {}{}", product.gpu, product.sms,
                       product.m, product.n, product.k, product.dtype, product.scales, product.batch,
                       product.repeat, product.function, product.residual ? " + residual" : "");
}

std::string trace_of(const Product& product) {
    const bool blocks = !product.scales.empty() && product.scales != "channel";
    const std::string scales = blocks                   ? ", scales: block, group: " + product.scales
                               : product.scales.empty() ? ""
                                                        : ", scales: " + product.scales;
    std::string inputs = fmt::format("  x: {{shape: [{}, {}, {}], dtype: {}{}}}\n", product.batch, product.m,
                                     product.k, product.dtype, blocks ? scales : "");
    std::string layers = fmt::format("  - {{name: y, op: matmul, in: x, n: {}, out_dtype: {}{}", product.n,
                                     product.out_dtype(), scales);
    if (product.experts > 0) layers += fmt::format(", experts: {}", product.experts);
    if (!product.function.empty()) layers += ", bias: true, activation: " + product.function;
    layers += "}\n";
    if (product.residual) {
        inputs += fmt::format("  r: {{shape: [{}, {}, {}], dtype: {}}}\n", product.batch, product.m,
                              product.n, product.out_dtype());
        layers += "  - {name: z, op: elementwise, kind: add, in: [y, r]}\n";
    }
    return fmt::format("trace: product\ninputs:\n{}layers:\n{}outputs: [{}]\n", inputs, layers,
                       product.residual ? "z" : "y");
}

ResultRow run(const Product& product, const std::string& engine) {
    return run_on({product.gpu, product.sms, product.layers}, engine, trace_of(product), product.repeat);
}

/// Checks one product; answers by how much steps take longer.
double check_product(const Product& product) {
    const ResultRow steps = run(product, "steps"), warps = run(product, "warps");
    const double error = excess(steps, warps);
    UNSCOPED_INFO(fmt::format("{}: {}, {} and {} ps, {:+.1f} %", to_string(product), steps.mapping,
                              steps.time().value(), warps.time().value(), 100 * error));
    CHECK(warps.matrix_macs == steps.matrix_macs);
    CHECK(bytes(warps, Place::SharedMemory, Place::L2) == bytes(steps, Place::SharedMemory, Place::L2));
    CHECK(bytes(warps, Place::MemorySideCache, Place::L2) == bytes(steps, Place::MemorySideCache, Place::L2));
    CHECK(bytes(warps, Place::L2, Place::MemorySideCache) == bytes(steps, Place::L2, Place::MemorySideCache));
    CHECK(warps.dram_read == steps.dram_read);
    CHECK(warps.dram_written == steps.dram_written);
    // A cluster's blocks pass once for all of it; by steps once for each group that has some of it.
    if (product.gpu != "h100" && product.gpu != "b200")
        CHECK(bytes(warps, Place::L2, Place::SharedMemory) == bytes(steps, Place::L2, Place::SharedMemory));
    else
        CHECK(bytes(warps, Place::L2, Place::SharedMemory) <= bytes(steps, Place::L2, Place::SharedMemory));
    CHECK(std::abs(error) < 0.17);
    return error;
}

/// Of all products: how far off steps are on average.
double mean_error(const std::vector<Product>& products) {
    double sum = 0;
    for (const Product& product : products) sum += std::abs(check_product(product));
    return sum / static_cast<double>(products.size());
}

}  // namespace

TEST_CASE("Steps take what the same kernels take warp instruction by warp instruction", "[simt]") {
    CHECK(mean_error(kProducts) < 0.045);
}

TEST_CASE("Steps of an Ada chip take what its warps take, with GDDR6 behind them", "[simt]") {
    CHECK(mean_error(kAda) < 0.05);
}

TEST_CASE("Steps of few rows' kernels on an Ada chip take what their warps take", "[simt]") {
    CHECK(mean_error(kWmma) < 0.05);
}

TEST_CASE("Steps of Hopper's kernels before nvjet take what their warps take", "[simt]") {
    CHECK(mean_error(kXmma) < 0.045);
}

TEST_CASE("Steps of a Blackwell chip take what its warps take", "[simt]") {
    CHECK(mean_error(kThreads) < 0.045);
}

TEST_CASE("Epilogues beside products by steps take what they take in warps", "[simt]") {
    CHECK(mean_error(kThreadEpilogues) < 0.055);
}

TEST_CASE("Products of narrow and scaled numbers by steps take what they take in warps", "[simt]") {
    CHECK(mean_error(kScaled) < 0.045);
}

TEST_CASE("Steps of a CDNA chip take what its wavefronts take", "[simt]") {
    CHECK(mean_error(kWaves) < 0.03);
}

TEST_CASE("Steps of a CDNA chip with rocBLAS's kernels of 2023 take what its wavefronts take", "[simt]") {
    CHECK(mean_error(kRocblas) < 0.06);
}

TEST_CASE("Steps of a chip of several dies take what its wavefronts take, byte by byte of each cache",
          "[simt]") {
    CHECK(mean_error(kDies) < 0.05);
}

TEST_CASE("Steps of a Volta chip take what its warps take", "[simt]") {
    CHECK(mean_error(kQuadPairs) < 0.05);
}

TEST_CASE("Products in fp32 by steps take what they take in warps", "[simt]") {
    CHECK(mean_error(kLanes) < 0.05);
}

TEST_CASE("Epilogues by steps take what they take in warps, and read the same", "[simt]") {
    CHECK(mean_error(kEpilogues) < 0.055);
}

TEST_CASE("Products of experts by steps take what they take in warps", "[simt]") {
    CHECK(mean_error(kExperts) < 0.045);
}

TEST_CASE("Products of one row by steps take what they take in warps", "[simt]") {
    CHECK(mean_error(kOneRow) < 0.05);
}

}  // namespace systole::test
