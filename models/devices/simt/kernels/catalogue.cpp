// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "models/devices/simt/kernels/choose.h"
#include "models/devices/simt/kernels/mma_shapes.h"
#include "models/devices/simt/kernels/thread_mma_program.h"

namespace systole::simt {
namespace {

/// A tile of nvjet. All have steps of 64 along K and as many stages as shared memory holds beside 16 KiB of
/// results, 16 at most: 64x64_64x13, 128x160_64x5, 320x128_64x3 and all others seen. Their grids are of as
/// many CTAs as the chip holds, whatever the product's size: they are persistent.
CtaTile nvjet_tile(std::int64_t m, std::int64_t n, int groups_m, int groups_n, int cluster_m, int cluster_n) {
    constexpr std::int64_t kStages = 210 * 1024, kOfSixteenBits = 2, kStep = 64;
    const std::int64_t stage = (m + n) * kStep * kOfSixteenBits;
    return {m,
            n,
            kStep,
            static_cast<int>(std::min<std::int64_t>(16, kStages / stage)),
            groups_m,
            groups_n,
            cluster_m,
            cluster_n,
            Pipes::Tensor,
            true};
}

CtaTile sliced(CtaTile tile, int slices) {
    tile.slices = slices;
    return tile;
}

/// Of Hopper's, those in names of cuBLAS 12's kernels (nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT and their
/// like; coopB: two groups side by side). Widths go in steps of 8: of 128 rows all of them, of others a
/// selection.
std::vector<CtaTile> nvjet() {
    std::vector<CtaTile> all;
    // Pairs lie as in the names: tall, wide tiles side by side, others one below the other.
    const auto add = [&all](std::int64_t m, std::int64_t n, int groups_m, int groups_n) {
        const bool side_by_side = m > n && n >= 128;
        all.push_back(nvjet_tile(m, n, groups_m, groups_n, side_by_side ? 1 : 2, side_by_side ? 2 : 1));
        all.push_back(nvjet_tile(m, n, groups_m, groups_n, 1, 1));
    };
    add(128, 256, 2, 1);
    add(256, 128, 2, 1);
    add(320, 128, 1, 2);
    add(256, 160, 2, 1);
    for (const std::int64_t n : {208, 192, 160, 128}) add(192, n, 1, 2);
    for (std::int64_t n = 248; n > 0; n -= 8) add(128, n, 2, 1);
    for (const std::int64_t n : {8, 16, 32}) add(192, n, 1, 1);
    for (const std::int64_t n : {8, 40, 72, 104}) add(256, n, 2, 1);
    for (const std::int64_t n : {8, 16, 32, 64}) add(384, n, 2, 1);
    for (const std::int64_t n : {240, 208, 176, 160, 128, 112, 96, 80, 64, 56, 48, 40, 32, 24, 16, 8})
        add(64, n, 1, 1);
    return all;
}

/// Of Hopper's, those in names of cuBLAS's kernels before nvjet, as profiles of vLLM's fp16 models on an H100
/// have them
/// (sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x256x64_warpgroupsize2x1x1_execute_segment_k_off_
/// kernel__5x_cublas, ..._64x64x64_warpgroupsize1x1x1_..., and splitKreduce_kernel beside them): m x n x k,
/// groups of four warps along m and n. They name neither clusters nor stages: none, and four, are assumed
/// (3..6).
std::vector<CtaTile> sm90_xmma() {
    constexpr int kStages = 4;
    return {{256, 128, 64, kStages, 2, 1}, {128, 256, 64, kStages, 2, 1}, {256, 128, 32, kStages, 2, 1},
            {128, 256, 32, kStages, 2, 1}, {128, 128, 64, kStages, 1, 1}, {128, 128, 32, kStages, 1, 1},
            {64, 256, 64, kStages, 1, 1},  {64, 128, 64, kStages, 1, 1},  {128, 64, 64, kStages, 1, 1},
            {64, 64, 64, kStages, 1, 1}};
}

constexpr std::int64_t kStageBytes = 217 * 1024;  // of a CTA of tcgen05.mma, for all its stages

/// A tile of nvjet for tcgen05.mma. Names tell stages: 128x256_64x6 and 128x192_64x7 of CTA pairs,
/// 128x256_64x4, 32x256_64x6, 256x8_64x6, 128x8_64x12, 80x64_64x12 and 512x24_64x3 of CTAs by themselves are
/// what fits 216 to 220 KiB; 16 at most.
CtaTile sm100_tile(std::int64_t m, std::int64_t n, int cluster_m, int cluster_n, bool pair) {
    constexpr std::int64_t kOfSixteenBits = 2, kStep = 64;
    const std::int64_t stage = (m + (pair ? n / 2 : n)) * kStep * kOfSixteenBits;
    CtaTile tile{m, n, kStep,     static_cast<int>(std::min<std::int64_t>(16, kStageBytes / stage)),
                 1, 1, cluster_m, cluster_n};
    tile.persistent = true;
    tile.pair = pair;
    tile.multicast = true;
    return tile;
}

/// Of Blackwell's, those in names of cuBLAS 12.9's and 13's kernels
/// (nvjet_sm100_tst_128x256_64x6_2x1_2cta_v_bz_TNT and their like, in profiles of language models on B200
/// that are public); widths between are assumed to be there, too, as Hopper's are. Rows are those of the
/// instruction: TNN's names have them second (32x64_64x16_4x1: 64 rows, 32 columns, four CTAs side by side).
std::vector<CtaTile> nvjet_sm100() {
    std::vector<CtaTile> all;
    const auto add = [&all](std::int64_t m, std::int64_t n, bool pair,
                            std::initializer_list<std::pair<int, int>> clusters, bool parts_only = false) {
        for (const auto& [cluster_m, cluster_n] : clusters) {
            all.push_back(sm100_tile(m, n, cluster_m, cluster_n, pair));
            all.back().parts_only = parts_only;
        }
    };
    for (const std::int64_t n : {256, 224, 192, 176, 160, 128, 96, 64})
        add(128, n, true, {{2, 1}, {2, 2}, {4, 1}});
    for (const std::int64_t n : {256, 240, 224}) add(256, n, true, {{2, 1}, {2, 2}});
    for (const std::int64_t n : {192, 160, 128, 96, 64}) add(256, n, true, {{2, 1}, {2, 2}, {2, 4}});
    for (const std::int64_t n : {160, 128}) add(192, n, true, {{2, 1}, {2, 2}});
    add(64, 64, true, {{2, 1}, {2, 2}});
    // Narrower pairs are seen with and without parts of K (64x32_64x16_2x1_2cta_v_bz_TNT and 2x4,
    // 64x16_64x16_2x4_2cta_h_bz_TNT, each with splitK, too); those of other clusters with splitK only
    // (64x32_64x16_2x2_2cta_h_bz_splitK_TNT, 64x16_64x16_2x1_2cta_v_bz_splitK_TNT).
    add(64, 32, true, {{2, 1}, {2, 4}});
    add(64, 32, true, {{2, 2}}, true);
    add(64, 16, true, {{2, 4}});
    add(64, 16, true, {{2, 1}, {2, 2}}, true);
    add(128, 256, false, {{1, 1}, {1, 2}});
    for (const std::int64_t n : {128, 96, 64}) add(128, n, false, {{1, 1}, {2, 1}});
    for (const std::int64_t n : {8, 16, 24, 32, 48}) add(128, n, false, {{1, 1}, {2, 1}, {4, 2}});
    for (const std::int64_t n : {8, 16}) add(192, n, false, {{2, 1}});
    for (const std::int64_t n : {8, 16, 32, 64, 104}) add(256, n, false, {{2, 1}, {4, 1}});
    for (const std::int64_t n : {8, 24}) add(512, n, false, {{4, 1}});
    for (const std::int64_t n : {8, 16, 24, 32, 40, 64, 80})
        add(64, n, false, {{1, 1}, {1, 2}, {2, 1}, {4, 1}, {1, 4}, {2, 4}, {4, 2}});
    return all;
}

// Of MFMA, those in names of Tensile's kernels for gfx90a and gfx942 (Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_
// MI32x32x8x1_SN_1LDSB0, …_MT256x256x32_MI32x32x8x1_…_WG128_2_1, …_MT128x64x64_MI16x16x16x1_SE_1LDSB0,
// …_MT128x256x32_MI32x32x8x1, …_MT256x256x64_MI16x16x1_SN_1LDSB1 and their like): m x n x k, buffers of
// shared memory, warps along m and n, four in all. Those in between are assumed.
std::vector<CtaTile> tensile() {
    return {
        {256, 256, 64, 1, 2, 2}, {256, 256, 32, 1, 2, 2}, {256, 192, 64, 1, 2, 2}, {192, 256, 64, 1, 2, 2},
        {256, 128, 32, 2, 2, 2}, {128, 256, 32, 2, 2, 2}, {256, 128, 64, 1, 2, 2}, {128, 256, 64, 1, 2, 2},
        {256, 64, 32, 2, 4, 1},  {64, 256, 32, 2, 1, 4},  {128, 128, 32, 2, 2, 2}, {128, 128, 64, 1, 2, 2},
        {128, 64, 32, 2, 2, 2},  {64, 128, 32, 2, 2, 2},  {128, 64, 64, 2, 2, 2},  {64, 128, 64, 2, 2, 2},
        {64, 64, 64, 2, 2, 2},   {128, 32, 64, 2, 4, 1},  {32, 128, 64, 2, 1, 4},  {64, 32, 64, 2, 2, 2},
        {32, 64, 64, 2, 2, 2},   {32, 32, 128, 2, 2, 2},  {16, 64, 128, 2, 1, 4},  {64, 16, 128, 2, 4, 1}};
}

// What rocBLAS of ROCm 5 has besides for gfx90a, by names in its logic files (Cijk_Ailk_Bljk_BBS_BH_
// MT256x160x32_MI32x32x8x1_SE_1LDSB0_…_WG128_2_1, Cijk_Ailk_Bljk_HHS_BH_MT128x160x32_…_1LDSB1_…_WG128_2_1,
// …_MT128x256x32_…_1LDSB1_…_WG64_4_1, …_MT128x128x32_…_1LDSB1_…_WG64_4_1): there rows are B's columns.
std::vector<CtaTile> rocblas() {
    std::vector<CtaTile> all = tensile();
    for (const CtaTile& one :
         {CtaTile{160, 256, 32, 2, 1, 4}, CtaTile{160, 128, 32, 1, 1, 4}, CtaTile{160, 128, 32, 2, 1, 4},
          CtaTile{256, 128, 32, 1, 2, 2}, CtaTile{128, 128, 32, 1, 2, 2}})
        all.push_back(one);
    return all;
}

// Of mma.sync.m8n8k4, those in names of cuBLAS's kernels for Volta
// (volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn, volta_h884gemm_256x64_ldg8_tn,
// ..._64x64_sliced1x2_ldg8_f2f_nn and their like): m x n. Steps of 32 along K, two buffers and warps of 64 x
// 64 at most are CUTLASS's for Volta (default_gemm_configuration.h, Sm70).
std::vector<CtaTile> s884gemm() {
    return {{256, 128, 32, 2, 4, 2},
            {128, 256, 32, 2, 2, 4},
            {128, 128, 32, 2, 2, 2},
            {256, 64, 32, 2, 4, 1},
            {64, 256, 32, 2, 1, 4},
            {128, 64, 32, 2, 2, 2},
            {64, 128, 32, 2, 2, 2},
            {64, 64, 32, 2, 2, 2},
            sliced({128, 64, 32, 2, 2, 1}, 2),
            sliced({64, 128, 32, 2, 1, 2}, 2),
            sliced({64, 64, 32, 2, 1, 2}, 2)};
}

// On FP32 pipes, those in names of cuBLAS's kernels from Maxwell to Ampere (volta_sgemm_128x128_nn,
// _128x64_tn, _64x64, _32x128_nn, _32x32_sliced1x4_tn, _64x32_sliced1x4_nn, _128x32_sliced1x4 and their
// like). Steps of eight along K and 8 x 8 results a thread are S. Gray's (maxas, SGEMM); eight for each slice
// is assumed.
std::vector<CtaTile> sgemm() {
    return {{128, 128, 8, 2, 2, 4},
            {128, 64, 8, 2, 2, 2},
            {64, 128, 8, 2, 2, 2},
            {64, 64, 8, 2, 1, 2},
            {128, 32, 8, 2, 2, 1},
            {32, 128, 8, 2, 1, 2},
            sliced({128, 32, 32, 2, 2, 1}, 4),
            sliced({32, 128, 32, 2, 1, 2}, 4),
            sliced({64, 32, 32, 2, 1, 1}, 4),
            sliced({32, 64, 32, 2, 1, 1}, 4),
            sliced({32, 32, 32, 2, 1, 1}, 4)};
}

// Of Volta's convolutions, cuDNN's names:
// volta_fp16_s884cudnn_fp16_256x128_ldg8_relu_f2f_exp_small_nhwc2nchw_tn_v1,
// trt_volta_h884cudnn_256x64_ldg8_relu_exp_medium_nhwc_tn_v1, ..._128x128_...; otherwise as s884gemm.
std::vector<CtaTile> s884cudnn() {
    return {{256, 128, 32, 2, 4, 2}, {256, 64, 32, 2, 4, 1}, {128, 128, 32, 2, 2, 2}};
}

// On FP32 pipes, likewise: volta_scudnn_128x128_relu_interior_nn_v1, _128x64_relu_small_nn_v1,
// _128x32_relu_...
std::vector<CtaTile> scudnn() {
    return {{128, 128, 8, 2, 2, 4}, {128, 64, 8, 2, 2, 2}, {128, 32, 8, 2, 2, 1}};
}

}  // namespace

const std::vector<CtaTile>& catalogue(TensorIssue issue, bool convolution, Library library) {
    // The tiles in the names of cuBLAS's kernels for 16 bits, as a program that replays an A100's calls lists
    // them (ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_tn, cutlass_80_wmma_tensorop_bf16_
    // s161616gemm_bf16_16x16_128x2_tn and their like); m x n x k, stages, warps along m and n. Those of
    // s16816 have 64 rows and columns at least. 256x128_32x3, 64x256_32x4 and 128x128_32x4 are what chips
    // with 100 KiB of shared memory (compute capability 8.6 and 8.9) take instead of 64x3, which does not fit
    // there; an A100 is not seen to be given them.
    //
    // Of wmma, with one and two stages, which bring operands through registers, those in names on compute
    // capability 8.9: 16x16_128x1 (RTX 4090: 4 to 16 rows, 248,320 columns; L4) and 128x2 (RTX 4090: 5,120 to
    // 34,816 columns); 32x32_128x2, too, has a warp for each 16 x 16 results (seen on 12.1). An A100 is given
    // 16x16_128x2 and 32x32_128x2, and surely the same kernels; there they copy past registers still, for its
    // constants were found so.
    constexpr std::int64_t kStagesOf64 = std::int64_t{3} * 64 * (256 + 128) * 2;
    const auto instead = [](CtaTile tile) {
        tile.shared_below = kStagesOf64;
        return tile;
    };
    const auto with_more = [](CtaTile tile) {
        tile.shared_from = kStagesOf64;
        return tile;
    };
    const auto wmma = [&](CtaTile tile) {
        tile.wmma = true;
        return instead(tile);
    };
    static const std::vector<CtaTile> warp{{128, 256, 64, 3, 2, 4},
                                           {256, 128, 64, 3, 4, 2},
                                           {256, 64, 64, 3, 4, 1},
                                           {128, 128, 32, 5, 2, 2},
                                           {128, 128, 64, 3, 2, 2},
                                           {128, 64, 32, 6, 2, 2},
                                           {128, 64, 64, 3, 2, 2},
                                           {128, 64, 64, 4, 2, 2},
                                           {64, 128, 64, 4, 2, 2},
                                           {64, 64, 64, 5, 2, 2},
                                           {64, 64, 64, 6, 2, 2},
                                           with_more({32, 32, 128, 2, 2, 2}),
                                           with_more({16, 16, 128, 2, 1, 1}),
                                           wmma({32, 32, 128, 2, 2, 2}),
                                           wmma({16, 16, 128, 2, 1, 1}),
                                           wmma({16, 16, 128, 1, 1, 1}),
                                           instead({256, 128, 32, 3, 4, 2}),
                                           instead({64, 256, 32, 4, 1, 4}),
                                           instead({128, 128, 32, 4, 2, 2})};
    static const std::vector<CtaTile> group = nvjet(), wave = tensile(), quads = s884gemm(), lanes = sgemm(),
                                      thread = nvjet_sm100(), xmma = sm90_xmma(), wave_2023 = rocblas();
    static const std::vector<CtaTile> conv_quads = s884cudnn(), conv_lanes = scudnn();
    switch (issue) {
        case TensorIssue::Warp:
            return warp;
        case TensorIssue::Wave:
            return of_2023(library) && !convolution ? wave_2023 : wave;
        case TensorIssue::QuadPair:
            return convolution ? conv_quads : quads;
        case TensorIssue::Lanes:
            return convolution ? conv_lanes : lanes;
        case TensorIssue::Thread:
            return thread;
        case TensorIssue::WarpGroup:
            break;
    }
    return library == Library::Vllm && !convolution ? xmma : group;
}

// With scales, stages are those that names tell: 128x256_128x6 of pairs with scales of 32 (mxf8),
// 128x128_128x8 likewise; 128x256_256x5 and 128x128_256x7 of pairs with scales of 16 (nvf4).
CtaTile for_operands(const CtaTile& tile, DType dtype, BlockScales blocks, TensorIssue issue) {
    // Of Tensile's for CDNA 3 no names with fp8 were found.
    if (issue == TensorIssue::Lanes || issue == TensorIssue::Wave) return tile;
    constexpr std::int64_t kListedBits = 16;
    CtaTile own = tile;
    own.k = tile.k * kListedBits / bits_of(dtype).value();
    if (blocks.group == 0) return own;
    const std::int64_t stage =
        bytes_of(dtype, (tile.m + (tile.pair ? tile.n / 2 : tile.n)) * own.k) + scale_bytes(own, blocks);
    own.stages = static_cast<int>(std::min<std::int64_t>(tile.stages, kStageBytes / stage));
    return own;
}

// Of Ampere's, where weights lie by rows (tn), gemv2T_kernel_val<..., 128, 16, 4, 4, ...>, as a program that
// replays an A100's calls lists it: CTAs of 128 threads, of which 16 are taken to add up a result (gemv2N's
// <..., 128, 32, 4, 4, ...> have a CTA for four). The last of these numbers is taken for the loads that a
// thread has under way (both assumed). Traces of Hopper's and later libraries that decode one token have
// nvjet's tiles of 8 there.
std::vector<CtaTile> gemv_catalogue(TensorIssue issue, DType dtype) {
    constexpr int kWarps = 4, kResults = 2, kLoads = 4;  // results of a warp
    const bool converts = dtype == DType::Fp16 || dtype == DType::Bf16 || dtype == DType::Fp32;
    const bool had = issue == TensorIssue::Warp || issue == TensorIssue::QuadPair;
    if (!had || !converts) return {};
    const std::int64_t load = kWarpThreads / kResults * kThreadBytes * 8 / bits_of(dtype).value();
    return {{1, kWarps * kResults, load * kLoads, kLoads, 1, kWarps, 1, 1, Pipes::Fp32}};
}

}  // namespace systole::simt
