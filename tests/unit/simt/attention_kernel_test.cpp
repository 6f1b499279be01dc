// SPDX-License-Identifier: Apache-2.0
// Attention kernels as plain values: which rows and keys a CTA has, and what the library takes.
#include "models/devices/simt/kernels/attention_kernel.h"

#include "models/devices/simt/kernels/decode_kernel.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "tests/unit/simt/sm_specs.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::group_mma_sm;
using systole::simt::test::warp_mma_sm;

namespace {

Attention attention(std::int64_t q_len, std::int64_t kv_len, bool causal, std::int64_t heads = 1,
                    std::int64_t kv_heads = 1) {
    Attention shape;
    shape.q_len = q_len;
    shape.kv_len = kv_len;
    shape.causal = causal;
    shape.heads = heads;
    shape.kv_heads = kv_heads;
    shape.head_dim = 128;
    return shape;
}

AttentionKernel kernel_of(const Attention& shape, std::int64_t m, std::int64_t n) {
    AttentionKernel kernel;
    kernel.shape = shape;
    kernel.tile.m = m;
    kernel.tile.n = n;
    return kernel;
}

AttentionTile tile_for(const Attention& shape, const SmSpec& sm) {
    return attention_kernel(shape, DType::Bf16, DType::Bf16, sm).value().tile;
}

}  // namespace

TEST_CASE("A tile of causal queries goes over blocks up to its last query's key, the last ones masked") {
    // 300 queries: tiles of 128 see 128, 256 and 300 keys, two, four and five blocks of 64.
    const AttentionKernel kernel = kernel_of(attention(300, 300, true), 128, 64);
    CHECK(kernel.tiles() == 3);
    CHECK(steps_of(kernel, {0, 0, 0}) == 2);
    CHECK(steps_of(kernel, {0, 1, 0}) == 4);
    CHECK(steps_of(kernel, {0, 2, 0}) == 5);
    // Query 0 sees less than a block whole, query 128 two, query 256 four.
    CHECK(masked_steps_of(kernel, {0, 0, 0}) == 2);
    CHECK(masked_steps_of(kernel, {0, 1, 0}) == 2);
    CHECK(masked_steps_of(kernel, {0, 2, 0}) == 1);
    CHECK(rows_of(kernel, {0, 2, 0}) == 44);
    CHECK(pairs_of(kernel, {0, 0, 0}) == 128 * 129 / 2);
    CHECK(pairs_of(kernel, {0, 2, 0}) == 300 * 301 / 2 - 256 * 257 / 2);
}

TEST_CASE(
    "Causal tiles of wgmma go on to where their last row would see, whether there is such a query or not") {
    AttentionKernel kernel = kernel_of(attention(300, 300, true), 128, 64);
    kernel.tile.stages = 2;
    CHECK(steps_of(kernel, {0, 1, 0}) == 4);
    CHECK(steps_of(kernel, {0, 2, 0}) == 6);  // 384 keys, of which 300 are there
    CHECK(masked_steps_of(kernel, {0, 2, 0}) == 2);
    CHECK(pairs_of(kernel, {0, 2, 0}) == 300 * 301 / 2 - 256 * 257 / 2);
    kernel.shape = attention(1, 1, true);
    CHECK(steps_of(kernel, {0, 0, 0}) == 2);
    kernel.shape = attention(1, 1, false);
    CHECK(steps_of(kernel, {0, 0, 0}) == 1);
}

TEST_CASE("XQA's parts have as many tiles or one less, and none where parts are more than tiles") {
    AttentionKernel kernel = kernel_of(attention(1, 1000, true), 16, 256);
    kernel.tile.design = AttentionDesign::Specialized;
    const auto steps = [&](std::int64_t splits) {
        kernel.splits = splits;
        std::vector<std::int64_t> all;
        for (std::int64_t part = 0; part < splits; ++part) all.push_back(steps_of(kernel, {0, 0, part}));
        return all;
    };
    CHECK(steps(3) == std::vector<std::int64_t>{1, 1, 2});
    CHECK(steps(7) == std::vector<std::int64_t>{0, 1, 0, 1, 0, 1, 1});
}

TEST_CASE("Without a mask all blocks are seen, and only the one that ends within itself needs one") {
    const AttentionKernel kernel = kernel_of(attention(100, 130, false), 64, 64);
    CHECK(steps_of(kernel, {0, 1, 0}) == 3);
    CHECK(masked_steps_of(kernel, {0, 1, 0}) == 1);
    CHECK(pairs_of(kernel, {0, 1, 0}) == 36 * 130);
    CHECK(masked_steps_of(kernel_of(attention(100, 128, false), 64, 64), {0, 1, 0}) == 0);
}

TEST_CASE("Fewer queries than keys see all keys that lie before them") {
    const AttentionKernel kernel = kernel_of(attention(2, 100, true), 16, 32);
    CHECK(pairs_of(kernel, {0, 0, 0}) == 99 + 100);
    CHECK(steps_of(kernel, {0, 0, 0}) == 4);
    CHECK(masked_steps_of(kernel, {0, 0, 0}) == 1);
}

TEST_CASE("Packed rows are those of all heads that share keys, query by query") {
    AttentionKernel kernel = kernel_of(attention(3, 10, true, 8, 2), 16, 16);
    kernel.packed = true;
    CHECK(kernel.rows() == 12);
    CHECK(kernel.items() == 2);
    CHECK(pairs_of(kernel, {0, 0, 0}) == 4 * (8 + 9 + 10));
}

TEST_CASE("CTAs have each tile and part once, and all pairs together, in any order of any shape") {
    const auto seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto between = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    for (int i = 0; i < 200; ++i) {
        const std::int64_t q_len = between(1, 200), kv_heads = between(1, 3);
        AttentionKernel kernel = kernel_of(
            attention(q_len, q_len + between(0, 200), between(0, 1) == 1, kv_heads * between(1, 4), kv_heads),
            16 * between(1, 8), 16 * between(1, 8));
        kernel.shape.batch = between(1, 3);
        kernel.packed = between(0, 1) == 1;
        kernel.splits = ceil_div(kernel.blocks(), between(1, kernel.blocks()));
        kernel.splits = ceil_div(kernel.blocks(), kernel.blocks_of_part());
        if (kernel.shape.causal) kernel.panel = between(0, kernel.items());
        kernel.items_first = kernel.panel == kernel.items() && between(0, 1) == 1;
        std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> places;
        std::int64_t pairs = 0;
        for (std::int64_t cta = 0; cta < kernel.ctas(); ++cta) {
            const AttentionPlace place = place_of(kernel, cta);
            places.emplace(place.item, place.tile, place.part);
            REQUIRE(place.item < kernel.items());
            REQUIRE(place.tile < kernel.tiles());
            REQUIRE(steps_of(kernel, place) <= kernel.blocks_of_part());
            REQUIRE(masked_steps_of(kernel, place) <= steps_of(kernel, place));
            pairs += pairs_of(kernel, place);
        }
        REQUIRE(static_cast<std::int64_t>(places.size()) == kernel.ctas());
        REQUIRE(pairs == kernel.shape.batch * kernel.shape.heads * kernel.shape.pairs());
    }
}

TEST_CASE("Causal tiles of a panel come with most keys first, one of each head") {
    AttentionKernel kernel = kernel_of(attention(256, 256, true, 3, 3), 64, 64);
    kernel.panel = 2;
    CHECK(place_of(kernel, 0) == AttentionPlace{0, 3, 0});
    CHECK(place_of(kernel, 1) == AttentionPlace{1, 3, 0});
    CHECK(place_of(kernel, 2) == AttentionPlace{0, 2, 0});
    CHECK(place_of(kernel, 7) == AttentionPlace{1, 0, 0});
    CHECK(place_of(kernel, 8) == AttentionPlace{2, 3, 0});  // the last panel has one head
    CHECK(place_of(kernel, 11) == AttentionPlace{2, 0, 0});
}

TEST_CASE("Without a panel a head's first tiles come first; of all heads' last ones items lie side by side") {
    AttentionKernel kernel = kernel_of(attention(256, 256, true, 3, 3), 64, 64);
    kernel.shape.batch = 2;
    CHECK(place_of(kernel, 0) == AttentionPlace{0, 0, 0});
    CHECK(place_of(kernel, 3) == AttentionPlace{0, 3, 0});
    CHECK(place_of(kernel, 4) == AttentionPlace{1, 0, 0});
    CHECK(place_of(kernel, 23) == AttentionPlace{5, 3, 0});
    kernel.panel = kernel.items();
    kernel.items_first = true;
    // Head 0 of items 0 and 1, head 1 of both, head 2 of both; then the tile before.
    CHECK(place_of(kernel, 0) == AttentionPlace{0, 3, 0});
    CHECK(place_of(kernel, 1) == AttentionPlace{3, 3, 0});
    CHECK(place_of(kernel, 2) == AttentionPlace{1, 3, 0});
    CHECK(place_of(kernel, 5) == AttentionPlace{5, 3, 0});
    CHECK(place_of(kernel, 6) == AttentionPlace{0, 2, 0});
    CHECK(place_of(kernel, 23) == AttentionPlace{5, 0, 0});
}

TEST_CASE("Tiles are the libraries': by the length of heads, of the keys, and by how warps multiply") {
    Attention shape = attention(1000, 1000, true);
    CHECK(tile_for(shape, warp_mma_sm()).m == 64);
    CHECK(tile_for(shape, warp_mma_sm()).n == 128);
    CHECK(tile_for(shape, group_mma_sm()).n == 128);
    shape.head_dim = 64;
    CHECK(tile_for(shape, warp_mma_sm()).m == 128);
    CHECK(tile_for(shape, group_mma_sm()).n == 256);
    shape.head_dim = 80;  // padded
    CHECK(tile_for(shape, warp_mma_sm()).dim == 128);
    shape.value_width = 200;
    CHECK(tile_for(shape, group_mma_sm()).dim == 256);
    CHECK(tile_for(attention(64, 64, true), warp_mma_sm()).n == 32);
    shape.head_dim = 257;
    CHECK_FALSE(attention_kernel(shape, DType::Bf16, DType::Bf16, warp_mma_sm()));
}

TEST_CASE("Steps of decoding pack 2 to 32 heads into as many rows as instructions have") {
    const auto taken = [](std::int64_t heads, std::int64_t kv_heads, std::int64_t q_len) {
        Attention shape = attention(q_len, 500, true, heads, kv_heads);
        shape.batch = 40;
        return attention_kernel(shape, DType::Bf16, DType::Bf16, group_mma_sm()).value();
    };
    CHECK(taken(8, 1, 1).tile.m == 16);
    CHECK(taken(8, 1, 1).tile.n == 256);
    CHECK(taken(8, 1, 1).packed);
    CHECK(taken(8, 1, 1).tile.design == AttentionDesign::Specialized);
    CHECK(taken(32, 1, 1).tile.m == 32);
    CHECK(taken(32, 1, 7).tiles() == 7);   // of 224 rows
    CHECK(taken(8, 1, 17).tile.m == 128);  // a prefill
    for (const std::int64_t heads : {33, 1}) {
        CHECK_FALSE(taken(heads, 1, 1).packed);
        CHECK(taken(heads, 1, 1).tile.design == AttentionDesign::Threads);
    }
    CHECK(attention_kernel(attention(16, 16, true), DType::Bf16, DType::Bf16, group_mma_sm())->tile.m == 128);
}

TEST_CASE("Heads that fill less than a quarter of the SMs have CTAs of many threads, and parts of the keys") {
    SmSpec sm = group_mma_sm();
    sm.count = 132;
    sm.registers = 65536;
    sm.shared.most_of_cta = Bytes(227 * 1024);
    const auto taken = [&](std::int64_t batch, std::int64_t kv_len, std::int64_t kv_heads) {
        Attention shape = attention(1, kv_len, true, 4 * kv_heads, kv_heads);
        shape.batch = batch;
        return attention_kernel(shape, DType::Bf16, DType::Bf16, sm).value();
    };
    // 32 CTAs of 132 SMs are less than a quarter of them, 33 are not.
    CHECK(taken(32, 100, 1).tile.design == AttentionDesign::Threads);
    CHECK(taken(33, 100, 1).tile.design == AttentionDesign::Specialized);
    // 128 heads: four CTAs of 256 threads have registers on an SM, and so has one of 1,024. 512 keys of 128
    // elements at a time, for which no part is too short.
    CHECK(taken(1, 100, 32).tile.warps == 32);
    CHECK(taken(1, 100, 32).tile.n == 512);
    CHECK(taken(1, 2047, 1).splits == 4);  // 15 parts of 128: still a CTA for no quarter
    // Its length has the new key, and one more is counted: 512 keys are more than are loaded at once.
    CHECK(taken(1, 511, 1).splits == 1);
    CHECK(taken(1, 512, 1).splits == 2);
    CHECK(taken(1, 512, 1).keys_of_part() == 257);
    CHECK(taken(1, 512, 1).blocks_of_part() == 1);
    CHECK(taken(1, 4096, 2).tile.design == AttentionDesign::Specialized);
    Attention all = attention(1, 100, true, 8, 8);
    all.batch = 1000;
    const AttentionKernel many = attention_kernel(all, DType::Bf16, DType::Bf16, sm).value();
    CHECK(many.tile.warps == 8);
    CHECK(many.splits == 1);
}

TEST_CASE("Keys are cut in parts of 128 at least, as few as their sums allow, for eight waves at most") {
    const auto parts = [](std::int64_t kv_len, std::int64_t batch) {
        AttentionKernel kernel = kernel_of(attention(1, kv_len, true), 16, 128);
        kernel.shape.batch = batch;
        return splits_of(kernel, warp_mma_sm());
    };
    CHECK(parts(255, 1) == 1);
    CHECK(parts(1024, 1) == 8);     // sqrt(8 * 8)
    CHECK(parts(16384, 1) == 32);   // sqrt(8 * 128)
    CHECK(parts(16384, 108) == 8);  // 32 waves of 108 SMs
    CHECK(parts(16384, 864) == 1);
}

TEST_CASE("An attention kernel is named by its tile, its packed heads and its parts") {
    AttentionKernel kernel = kernel_of(attention(1, 4096, true, 8, 2), 16, 128);
    kernel.packed = true;
    kernel.splits = 9;
    CHECK(to_string(kernel) ==
          "flash attention 16x128, heads of 128, 4 warps, 4 heads packed, 9 parts of the keys");
}
