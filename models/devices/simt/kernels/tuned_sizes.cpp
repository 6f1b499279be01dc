// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/tuned_sizes.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace systole::simt {
namespace {

using Sizes = std::vector<std::int64_t>;

/// Whose logic file has a size.
enum class In { Both, Fp16, Bf16 };

/// Every one of `columns` with every one of `rows` and of `k`.
struct Group {
    Sizes columns, rows, k;
    In in = In::Both;
};

Sizes powers_of_two(std::int64_t from, std::int64_t until) {
    Sizes all;
    for (std::int64_t size = from; size <= until; size *= 2) all.push_back(size);
    return all;
}

// Sizes of one product in the logic files of rocBLAS for gfx90a, where both operands lie by rows
// (aldebaran_Cijk_Ailk_Bljk_HHS_BH.yaml, ..._BBS_BH.yaml; the sizes' order there: columns, rows, batch, K).
// Left out: K of 1 and 2, and most of neighbours that lie within a percent (1024 columns and 1751 to 2492
// rows with K of 1024 and 30528; 4624 to 16928 rows with K of 1024, 3072 and 4096; 13,536 and 14,224 with
// 4096 columns).

/// A grid, squares and what is near them, and sizes of up to 768 columns and of some more.
std::vector<Group> general() {
    const Sizes grid{64, 128, 256, 448, 704, 1024, 1408, 1856, 2368, 2944, 3584, 4288, 5056, 5888, 6784};
    return {
        {grid, grid, {256, 1280, 3328}},
        {{2048}, {2048}, {2048}},
        {{4096}, {4096, 3840}, {4096}},
        {{8192}, {8192, 7680}, {8192}},
        {{7680}, {8192}, {8192}},
        {{3840}, {4096}, {4096}},
        {{2048}, {1920}, {2048}},
        {{1920}, {2048}, {2048}},
        {{960, 1024}, {1024}, {1024}},
        {{480, 512}, {512}, {512}},
        {{512}, {480}, {512}},
        {{256}, {8976}, {1536,  2048,  2304,  2560,  2816,  3072,  4352,  4864,  5376,  5632,
                         5888,  6144,  6656,  7168,  7424,  8192,  8448,  8960,  9472,  9728,
                         9984,  10240, 10496, 11008, 11520, 12288, 14336, 14848, 15104, 15872,
                         17152, 19712, 20480, 20992, 22016, 26112, 33536, 44505}},
        {{256}, {864, 3456, 4096, 6912, 32768, 55296}, {128}},
        {{257}, {1024}, {4096}},
        {{480}, {864, 3456, 4096, 6912, 32768}, {1024}},
        {{512}, {864, 3456, 4096, 6912, 32768, 55296}, {256}},
        {{512}, {215, 256}, {2048}},
        {{512}, {200, 1600}, {32}},
        {{512}, {1600}, {512}},
        {{560}, {200, 1600}, {1024}},
        {{640}, {2048}, {2560}},
        {{768}, {215, 256}, {2048}},
        {{768}, {2048, 4608}, {768, 3072}},
        {{1536}, {4096, 8192}, {1536, 4608, 6144, 50304}},
        {{1600}, {512}, {1024}},
        {{2048}, {1024}, {256, 2048, 6144, 8192, 30592}},
        {{2048}, {2, 512, 960}, {2048}},
        {{2560}, {2048}, {1920, 2560, 7680}},
        {{3072}, {2048, 4608}, {768}},
        {{3200}, {1024}, {2048}},
        {{6144}, {4096, 8192}, {1536}},
        {{8192}, {1024}, {1024, 2048}},
        {{8192}, {4096}, {1024}},
    };
}

/// Language models and translators of 1024 to 4096 columns.
std::vector<Group> of_language() {
    const Sizes tails{3240, 3840, 3960, 3968, 6528, 7104, 7200, 8064, 8160, 9216, 9520, 10064, 10080, 10200};
    const Sizes lists{512, 1024, 1152, 1280, 2560, 3072, 4992, 5120, 5248, 8192, 9600};
    return {
        {{1024}, {2048, 4096}, {1024, 3072, 4096, 30528, 30592, 50304}},
        {{1024}, {16384}, {1024, 3072, 4096, 50304}},
        {{1024}, {8192}, {1024, 3072, 4096, 30528, 30592, 33712, 50304}},
        {{1024}, {9600}, {1024, 4096, 33712}},
        {{1024}, tails, {1024, 4096}},
        {{1024}, {3960, 3968, 6528, 7104, 7200, 9520, 10080}, {42720}},
        {{4096}, tails, {1024}},
        {{1024}, lists, {1024, 4096}},
        {{4096}, lists, {1024}},
        {{4096}, {2048, 4096, 4608, 6144, 10224, 10240, 10496, 12288, 16384}, {1024}},
        {{1024}, {4608, 6144, 10240, 10496, 12288}, {1024, 4096}},
        {{1024}, {10224, 10240}, {1024, 2048, 3072, 4096}},
        {{1024},
         {1, 4, 5, 6, 8, 9, 10, 12, 16, 32, 39, 40, 41, 64, 77, 80, 82, 96, 128, 160, 180, 200},
         {1024}},
        {{1024}, {308, 385, 462, 616, 780, 800, 820, 864, 960, 1600}, {1024}},
        {{1024}, {77, 160, 180, 200, 308, 385, 462, 780, 800, 820}, {30522}},
        {{1024}, {160, 240, 640, 1280, 1600, 1640, 1920, 2560}, {30528}},
        {{1024}, {1751, 2080, 2208, 2303, 2492}, {1024, 30528}},
        {{1024}, {864, 3456, 6912}, {512, 1024}},
        {{1024}, {4096}, {512}},
        {{1024}, {4624, 5312, 6000, 6672, 7376, 7872}, {1024, 3072, 4096}},
        {{1024}, {11248, 12368, 13520, 14240, 14896}, {1024, 3072, 4096}},
        {{1024}, {512, 960}, {64}},
        {{1024}, {32768}, {512, 1024}},
        {{1024},
         {1792,  2048,  2560,  3072,  3328,  3840,  4096,  4608,  4864,  5120,  5632,  6144,
          6400,  7168,  7424,  7680,  7936,  8192,  8448,  8704,  8960,  9728,  9984,  10240,
          10496, 11008, 11264, 11520, 12288, 13312, 13568, 14336, 14592, 14848, 15104, 16128,
          17152, 18944, 19712, 19968, 20480, 20992, 21504, 22016, 23552, 28672, 33536, 40448},
         {256}},
    };
}

std::vector<Group> of_deep_bench() {
    const Sizes few{1, 2, 4, 16, 32}, many{1500, 3000, 6000, 24000, 48000};
    return {
        {{1760}, {16, 32, 64, 128, 7000}, {1760}},
        {{2048}, {16, 32, 64, 128, 7000}, {2048}},
        {{2560}, {4, 16, 32, 64, 128, 7000}, {2560}},
        {{4096}, {16, 32, 64, 128, 7000}, {4096}},
        {{5124}, {9124}, {1760, 2048, 2560, 4096}},
        {{5124}, {700, 1500}, {2048, 2560}},
        {{512, 1024}, many, {1536, 2048, 2560, 2816}},
        {{512, 1024}, {1, 2, 4, 8, 16}, {500000}},
        {{512, 1024}, few, {512}},
        {{1024}, {700}, {512}},
        {{3072}, {1, 1500}, {128}},
        {{4224}, {1}, {128}},
        {{4224}, {1500}, {176}},
        {{3072}, {1, 2, 4, 16, 32, 64, 128, 1500, 3000, 6000, 24000, 48000}, {1024}},
        {{4608}, few, {1536}},
        {{4608}, many, {1536}},
        {{6144}, few, {2560}},
        {{6144}, many, {2560}},
        {{7680}, {1, 2, 4, 16, 32, 64, 128, 1500, 3000, 6000, 24000, 48000}, {2560}},
        {{8448}, few, {2816}},
        {{8448}, many, {2816}},
        {{128}, {1500}, {1280}},
        {{176}, {1500}, {1408}},
        {{128}, {1}, {1024, 1408}},
    };
}

/// Convolutions and detectors.
std::vector<Group> of_vision() {
    return {
        {{64, 256}, {193600}, {64}},
        {{64}, {193600}, {256}},
        {{512}, {50176}, {128}},
        {{128}, {50176}, {512}},
        {{256}, {12544}, {1024}},
        {{1024}, {12544}, {256}},
        {{12544}, {1024}, {256, 1024}},
        {{12544}, {256}, {1024}},
        {{12544}, {2048}, {1024}},
        {{2048}, {3136}, {512}},
        {{512}, {3136}, {2048}},
        {{3136}, {512}, {2048}},
        {{3136}, {2048}, {512}},
        {{12544}, {64}, {147}},
        {{3136}, {64}, {576}},
        {{100352, 200704}, {512}, {256}},
        {{25088, 50176}, {1024}, {512}},
        {{6272}, {2048}, {1024}},
        {{784}, {128}, {1152}},
        {{196}, {256}, {2304}},
        {{49}, {512}, {4608}},
        {{1536, 1728}, {512, 2048}, {1024}},
        {{1610, 1700, 1900}, {512, 2048}, {1024}},
        {{3400, 3800}, {256}, {1024}},
        {{3400, 3800}, {1024}, {256}},
        {{6144, 6440, 6912, 6800, 7600}, {256, 1024}, {512}},
        {{24576, 25760, 27648, 27200, 30400}, {128, 512}, {256}},
        {{13600, 15200}, {128}, {512}},
        {{13600, 15200}, {512}, {128}},
        {{54400, 60800}, {256}, {64}},
        {{25992, 173280, 231040}, {128}, {64}},
        {{850, 950}, {2048}, {512}},
    };
}

/// What only one of the two files has.
std::vector<Group> of_one_format() {
    const Sizes twos = powers_of_two(64, 8192);
    const Sizes heads{16,   32,   64,   128,   256,   384,   512,   768,   1024,  1536,  2048,  3072,
                      4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152, 65536, 98304, 131072};
    return {
        {{2, 4, 8, 16, 64, 256}, twos, twos, In::Bf16},
        {{16384}, {16384}, {16384}, In::Bf16},
        {{2400, 4800, 7616}, {512, 1024}, {256}, In::Bf16},
        {{256}, {512, 1024}, {256, 2400, 3200, 7616, 9630, 12840}, In::Bf16},
        {{128}, {512, 1024}, {3465, 9375}, In::Bf16},
        {{3465, 9375}, {512, 1024}, {2048}, In::Bf16},
        {{2200}, {256, 512, 1024}, {2200}, In::Bf16},
        {{4000}, {256, 512, 1024}, {4000}, In::Bf16},
        {{1024, 2200, 4000}, {1}, {256, 512, 1024}, In::Bf16},
        {{642}, {81920, 163840}, {10, 30}, In::Bf16},
        {{1024}, {512, 1024}, {2048}, In::Bf16},
        {{2048}, {512, 1024}, {1024}, In::Bf16},
        {{1024}, {1960, 2320, 2832, 3400, 3872, 4176, 4480, 7448, 8968, 10032}, {2048, 3072, 4096}, In::Bf16},
        {{1024}, {144, 256, 288, 304, 352, 392, 432, 480, 704, 744, 768}, {1024, 2048}, In::Bf16},
        {{768}, heads, {768, 3072}, In::Fp16},
        {{2304}, heads, {768}, In::Fp16},
        {{3072}, heads, {768, 1024}, In::Fp16},
        {{1024}, {4, 8, 16, 32, 64, 128, 256, 384, 768, 1536, 65536}, {1024, 4096}, In::Fp16},
        {{4096}, {16, 32, 64, 128, 256, 384, 512, 768, 1536, 65536}, {1024}, In::Fp16},
        {{512}, {240, 752, 1024, 1776, 3824, 4096}, {512, 2048}, In::Fp16},
        {{512}, {10560, 27136, 32768, 53248, 106496, 202752, 380928}, {512}, In::Fp16},
        {{2048, 31544}, {240, 512, 752, 1024, 1776, 2048, 3824, 4096}, {512}, In::Fp16},
        {{8200}, {1024}, {15296}, In::Fp16},
        {{25088}, {32, 96, 256}, {4096}, In::Fp16},
        {{4096}, {256}, {4096}, In::Fp16},
        {{4096}, {32, 96}, {1000}, In::Fp16},
        {{1664, 1920, 2048}, {32, 64, 256}, {1000}, In::Fp16},
        {{4096}, {2048}, {256, 1414, 4096}, In::Fp16},
        {{8192}, {2048}, {3200}, In::Fp16},
        {{1280}, {224, 896, 1792}, {1280, 5120}, In::Fp16},
        {{224}, {8192, 32768}, {4000}, In::Fp16},
        {{960, 1280}, {16, 1024}, {5120}, In::Fp16},
        {{5120}, {16, 1024}, {320, 1280}, In::Fp16},
        {{1536}, {3, 384, 512}, {1536, 6144}, In::Fp16},
        {{1536}, {25216, 50432, 91408}, {384}, In::Fp16},
        {{384}, {6400, 12800, 25216, 50432, 91408}, {384, 1536}, In::Fp16},
        {{192}, {100352, 200704, 363776}, {192, 768}, In::Fp16},
    };
}

std::vector<Group> rocblas() {
    std::vector<Group> all;
    for (const auto& part : {general(), of_language(), of_deep_bench(), of_vision(), of_one_format()})
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

/// What kernel a size was given, by the files' names of kernels; there rows are B's columns. Of large sizes,
/// which others that lie far from all are computed by, and of some more.
struct Recorded {
    DType dtype;
    TunedSize size;
    CtaTile tile;
};

std::vector<Recorded> recorded() {
    const CtaTile wide{160, 256, 32, 2, 1, 4};         // MT256x160x32_…_1LDSB0_…_PGR2_…_WG128_2_1
    const CtaTile tall{256, 128, 32, 1, 2, 2};         // MT128x256x32_…_1LDSB1_…_PGR2_…_WG64_4_1
    const CtaTile square{128, 128, 32, 2, 2, 2};       // MT128x128x32_…_1LDSB0_…_PGR2_…_WG64_4_1
    const CtaTile buffer{128, 128, 32, 1, 2, 2};       // MT128x128x32_…_1LDSB1_…_PGR1_…_WG64_4_1
    const CtaTile tall_buffer{160, 128, 32, 1, 1, 4};  // MT128x160x32_…_1LDSB1_…_PGR1_…_WG128_2_1
    const CtaTile tall_two{160, 128, 32, 2, 1, 4};     // MT128x160x32_…_1LDSB0_…_PGR2_…_WG128_2_1
    return {{DType::Bf16, {7680, 8192, 8192}, wide},       {DType::Bf16, {16384, 16384, 16384}, wide},
            {DType::Bf16, {8192, 8192, 8192}, tall},       {DType::Bf16, {8192, 7680, 8192}, tall},
            {DType::Bf16, {8192, 1536, 1536}, buffer},     {DType::Bf16, {8192, 1024, 1024}, buffer},
            {DType::Bf16, {8192, 256, 512}, tall_two},     {DType::Fp16, {7680, 8192, 8192}, wide},
            {DType::Fp16, {8192, 8192, 8192}, tall},       {DType::Fp16, {1024, 8200, 15296}, square},
            {DType::Fp16, {8192, 1024, 1024}, tall_buffer}};
}

std::int64_t nearest(const Sizes& all, std::int64_t size) {
    return *std::min_element(all.begin(), all.end(), [size](std::int64_t a, std::int64_t b) {
        return std::abs(a - size) < std::abs(b - size);
    });
}

/// The square of the distance that Tensile takes (EuclideanDistance): of numbers of elements, as they are.
double distance(const TunedSize& a, const TunedSize& b) {
    const auto square = [](std::int64_t x) { return static_cast<double>(x) * static_cast<double>(x); };
    return square(a.rows - b.rows) + square(a.columns - b.columns) + square(a.k - b.k);
}

}  // namespace

std::optional<TunedSize> rocblas_size(DType dtype, const TunedSize& product) {
    if (dtype != DType::Fp16 && dtype != DType::Bf16) return std::nullopt;
    static const std::vector<Group> all = rocblas();
    const In other = dtype == DType::Fp16 ? In::Bf16 : In::Fp16;
    std::optional<TunedSize> best;
    double least = std::numeric_limits<double>::infinity();
    for (const Group& group : all) {
        if (group.in == other) continue;
        const TunedSize size{nearest(group.rows, product.rows), nearest(group.columns, product.columns),
                             nearest(group.k, product.k)};
        if (const double away = distance(size, product); away < least) best = size, least = away;
    }
    return best;
}

std::optional<CtaTile> rocblas_tile(DType dtype, const TunedSize& size) {
    static const std::vector<Recorded> all = recorded();
    for (const Recorded& one : all)
        if (one.dtype == dtype && one.size == size) return one.tile;
    return std::nullopt;
}

bool goes_by_tuned_sizes(const SimtSpec& spec, TensorIssue issue) {
    const bool pytorch =
        spec.kernels.layers == Library::PyTorch2023 || spec.kernels.layers == Library::Inductor2023;
    return pytorch && issue == TensorIssue::Wave && spec.chiplets.count == 1;
}

}  // namespace systole::simt
