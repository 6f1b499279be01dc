// SPDX-License-Identifier: Apache-2.0
// Attention kernels on SMs: which bytes their CTAs take, byte by byte, and whose their time is.
#include "models/devices/simt/machine/attention_blocks.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <vector>

#include "models/devices/simt/kernels/attention_plan.h"
#include "tests/unit/simt/gpu_config.h"
#include "tests/unit/simt/kernels_at_hand.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::IdealRun;

namespace {

constexpr std::int64_t kQ = 0, kK = 1 << 24, kV = 2 << 24, kOut = 3 << 24, kSums = 4 << 24;
constexpr Ticks kLatency(400'000);

SimtSpec gpu(const std::string& name, int sms) {
    SimtSpec spec = systole::test::shipped_gpu(name);
    spec.sm.count = sms;
    spec.sm.gpcs.clear();
    return spec;
}

AttentionPlan plan_of(const Attention& shape, const SimtSpec& spec) {
    KeptTimings kept;
    AttentionPlanner planner(spec, kept);
    Layer layer;
    layer.name = "a";
    layer.op = shape;
    AttentionPlan plan = planner.plan(layer, DType::Bf16, DType::Bf16, true);
    const auto place = [](std::int64_t address, std::int64_t elements, Operand operand, std::int64_t bytes) {
        return MatrixPlace{address, operand, Bytes(elements * bytes), Bytes(0)};
    };
    const std::int64_t rows = shape.batch * shape.heads * shape.q_len;
    const std::int64_t keys = shape.batch * shape.kv_heads * shape.kv_len;
    plan.q = place(kQ, rows * shape.head_dim, Operand::Activations, 2);
    plan.k = place(kK, keys * shape.head_dim, Operand::KvCache, 2);
    plan.v = place(kV, keys * shape.value_dim(), Operand::KvCache, 2);
    plan.out = place(kOut, rows * shape.value_dim(), Operand::Outputs, 2);
    if (plan.kernel.splits > 1)
        plan.sums = place(kSums, sums_of_attention(plan.kernel)->value(), Operand::PartialSums, 1);
    return plan;
}

/// How often each byte of a matrix passes.
std::vector<std::int64_t> passes(const std::vector<TileAccess::Block>& blocks, const MatrixPlace& matrix) {
    std::vector<std::int64_t> times(static_cast<std::size_t>(matrix.bytes.value()));
    for (const TileAccess::Block& block : blocks)
        if (block.matrix == matrix.range())
            for (std::int64_t i = 0; i < block.bytes; ++i)
                times.at(static_cast<std::size_t>(block.address - matrix.address + i)) += block.sms;
    return times;
}

bool all(const std::vector<std::int64_t>& times, std::int64_t count) {
    return std::all_of(times.begin(), times.end(), [&](std::int64_t own) { return own == count; });
}

Attention random_attention(std::mt19937_64& random) {
    const auto between = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    Attention shape;
    shape.batch = between(1, 3);
    shape.kv_heads = between(1, 2);
    shape.heads = shape.kv_heads * between(1, 4);
    shape.q_len = between(0, 1) == 0 ? between(1, 16) : between(17, 300);
    shape.kv_len = shape.q_len + between(0, 900);
    shape.head_dim = between(1, 128);
    shape.value_width = between(0, 1) == 0 ? 0 : between(1, 128);
    shape.causal = between(0, 1) == 1;
    return shape;
}

}  // namespace

TEST_CASE(
    "CTAs of attention read queries once a part, keys and values for each tile that sees them, write once") {
    const auto seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 12; ++i) {
        const Attention shape = random_attention(random);
        const SimtSpec spec = gpu(i % 2 == 0 ? "a100" : "h100", 1 + i % 5);
        const AttentionPlan plan = plan_of(shape, spec);
        INFO(to_string(plan.kernel) << ", q " << shape.q_len << ", kv " << shape.kv_len << ", heads "
                                    << shape.heads << "/" << shape.kv_heads << ", batch " << shape.batch
                                    << (shape.causal ? ", causal" : ""));
        const AttentionBlocks work(plan);
        const CtaTimes times = times_of(plan, spec, spec.core_clock);
        KernelRun run(work, times, spec.sm.count, spec.sm.count, Ticks(0));
        std::vector<TileAccess::Block> read, written;
        const IdealRun ideal(run, kLatency, [&](bool write, const TileAccess::Block& block) {
            (write ? written : read).push_back(block);
        });
        // Each part of the keys that a row sees reads its queries; some of XQA's parts have none.
        std::int64_t parts = 0;
        for (std::int64_t part = 0; part < plan.kernel.splits; ++part)
            parts += steps_of(plan.kernel, {0, 0, part}) > 0 ? 1 : 0;
        const std::vector<std::int64_t> queries = passes(read, plan.q);
        if (shape.causal) CHECK(*std::min_element(queries.begin(), queries.end()) >= 1);
        CHECK((shape.causal ? *std::max_element(queries.begin(), queries.end()) <= plan.kernel.splits
                            : all(queries, parts)));
        const std::int64_t tiles = plan.kernel.tiles() * plan.kernel.heads() / shape.kv_heads;
        if (!shape.causal) {
            CHECK(all(passes(read, plan.k), tiles));
            CHECK(all(passes(read, plan.v), tiles));
        } else {
            // The first key is seen by all tiles, the last one by those with rows of the last query (packed
            // rows of one query may lie in two tiles); the last tile reads it once more for each block that
            // lies beyond the sequence.
            const AttentionPlace last{0, plan.kernel.tiles() - 1, plan.kernel.splits - 1};
            const std::int64_t beyond =
                steps_of(plan.kernel, last) - ceil_div(keys_of(plan.kernel, last).size(), plan.kernel.tile.n);
            const std::int64_t again = beyond * plan.kernel.heads() / shape.kv_heads;
            const std::vector<std::int64_t> keys = passes(read, plan.k);
            CHECK(keys.front() == tiles + (shape.kv_len <= 64 ? again : 0));
            const std::int64_t of_last = plan.kernel.together();  // rows of the last query, at the end
            const std::int64_t before = (plan.kernel.rows() - of_last) / plan.kernel.tile.m;
            const std::int64_t see_last = plan.kernel.tiles() - before;
            CHECK(keys.back() == see_last * plan.kernel.heads() / shape.kv_heads + again);
        }
        const std::vector<std::int64_t> of_sums = passes(written, plan.sums);
        CHECK((plan.kernel.splits > 1 ? all(of_sums, 1) : all(passes(written, plan.out), 1)));
        CHECK(ideal.account.macs ==
              shape.batch * shape.heads * shape.pairs() * (shape.head_dim + shape.value_dim()));
        Int128 sum = 0;
        for (const Int128 time : ideal.account.times) sum += time;
        CHECK(sum == Int128{to_fine(ideal.end).value()} * spec.sm.count);
    }
}

TEST_CASE("Pages of keys and rows of queries lie apart in the memory, whoever asks for them") {
    for (const std::int64_t kv_heads : {1, 8}) {  // XQA, MMHA
        Attention shape;
        shape.batch = 40;
        shape.q_len = 1;
        shape.kv_len = 300;
        shape.heads = 8;
        shape.kv_heads = kv_heads;
        shape.head_dim = 128;
        const AttentionPlan plan = plan_of(shape, gpu("h100", 8));
        const AttentionBlocks blocks(plan);
        CHECK(plan.kernel.in_two_passes() == (kv_heads == 8));
        for (std::int64_t step = 0; step < blocks.steps(0); ++step)
            CHECK(blocks.reads({0, 2}, step).short_rows);
        CHECK(blocks.queries_of(0).short_rows);
        CHECK(blocks.of_step(0, 0, true).short_rows);
        if (plan.kernel.in_two_passes()) CHECK(blocks.of_pass(0, 1).short_rows);
        CHECK_FALSE(blocks.writes({0, 2}).short_rows);
    }
}

TEST_CASE("Tiles of a head that run at the same time ask for its keys once") {
    const SimtSpec spec = gpu("a100", 4);
    Attention shape;
    shape.q_len = 256;
    shape.kv_len = 256;
    shape.heads = shape.kv_heads = 1;
    shape.head_dim = 128;
    const AttentionPlan plan = plan_of(shape, spec);
    REQUIRE(plan.kernel.tiles() == 4);
    const AttentionBlocks work(plan);
    const TileAccess access = work.reads({0, 4}, 1);  // no queries
    REQUIRE(access.blocks.size() == 2);
    CHECK(access.blocks[0].sms == 4);
    CHECK(access.blocks[0].bytes == 128 * 128 * 2);
    CHECK(access.blocks[0].operand == Operand::KvCache);
    CHECK(access.bytes_of_sm == 2 * 128 * 128 * 2);
    CHECK(work.reads({0, 4}, 0).blocks.size() == 6);
}

TEST_CASE("The last CTA of a sequence's joins parts of the keys: their results and two sums, once each") {
    const SimtSpec spec = gpu("a100", 8);
    Attention shape;
    shape.q_len = 1;
    shape.kv_len = 2000;
    shape.heads = 4;
    shape.kv_heads = 1;
    shape.head_dim = 128;
    const AttentionPlan plan = plan_of(shape, spec);
    REQUIRE(plan.kernel.splits == 11);  // of 15 times 128 keys; three have none of the eight blocks of 256
    const StreamPlan join = join_of_parts(plan, spec);
    CHECK(join.of_last_ctas);
    CHECK(sums_of_attention(plan.kernel) == Bytes(11 * 4 * (128 * 2 + 8)));
    CHECK(join.elements == 4 * 128);
    CHECK(join.ctas == 1);
    CHECK(join.from.bytes == Bytes(11 * 4 * (128 * 2 + 8)));
    CHECK(join.to.bytes == Bytes(4 * 128 * 2));
}

TEST_CASE("On FP32 pipes all keys come before all values, and with the first ones the query") {
    const SimtSpec spec = gpu("h100", 4);
    Attention shape;
    shape.q_len = 1;
    shape.kv_len = 300;
    shape.heads = shape.kv_heads = 8;
    shape.head_dim = 128;
    shape.batch = 4;
    const AttentionPlan plan = plan_of(shape, spec);
    REQUIRE(plan.kernel.in_two_passes());
    REQUIRE(plan.kernel.tile.n == 128);
    const AttentionBlocks work(plan);
    CHECK(work.steps(0) == 6);
    CHECK(work.reads({0, 1}, 0).bytes_of_sm == (1 + 44) * 128 * 2);  // from the last block on
    CHECK(work.reads({0, 1}, 1).bytes_of_sm == 128 * 128 * 2);
    CHECK(work.reads({0, 1}, 1).blocks.front().matrix == plan.k.range());
    CHECK(work.reads({0, 1}, 3).blocks.front().matrix == plan.v.range());
}

TEST_CASE("Tensor copies bring whole boxes of queries and of keys, beyond the last page this one again") {
    const SimtSpec spec = gpu("h100", 4);
    Attention shape;
    shape.q_len = shape.kv_len = 20;
    shape.heads = shape.kv_heads = 2;
    shape.head_dim = 128;
    shape.causal = true;
    const AttentionPlan plan = plan_of(shape, spec);
    const AttentionBlocks work(plan);
    const TileAccess access = work.reads({0, 1}, 0);
    CHECK(access.bytes_of_sm == (128 + 2 * 128) * 128 * 2);
    for (const TileAccess::Block& block : access.blocks) CHECK(block.bytes == 20 * 128 * 2);
}
