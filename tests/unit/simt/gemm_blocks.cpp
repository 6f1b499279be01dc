// SPDX-License-Identifier: Apache-2.0
// Blocks of groups of CTAs against element by element counts over CTAs one by one.
#include "models/devices/simt/machine/gemm_blocks.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "models/devices/simt/machine/stream_blocks.h"

using namespace systole;
using namespace systole::simt;

namespace {

constexpr std::int64_t kA = 1 << 20, kB = 1 << 21, kC = 1 << 22, kSums = 1 << 23;

GemmPlan random_plan(std::mt19937& random) {
    const auto pick = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    GemmPlan plan;
    plan.kernel.shape = {pick(1, 3), pick(1, 90), pick(1, 90), pick(1, 70)};
    plan.kernel.shape.shared_b = pick(0, 1) == 1;
    plan.kernel.tile = {
        16, 8 * pick(1, 3), 16, 3, 1, 1, static_cast<int>(pick(1, 2)), static_cast<int>(pick(1, 2))};
    plan.kernel.split_k = pick(1, 4);
    plan.kernel.raster.panel = pick(1, 4);
    plan.a = {kA, Operand::Activations, Bytes(1000), Bytes(24)};
    plan.b = {kB, Operand::Weights, Bytes(1000), Bytes(0)};
    plan.c = {kC, Operand::Outputs, Bytes(1000), Bytes(0)};
    plan.sums = {kSums, Operand::PartialSums, Bytes(1000), Bytes(0)};
    return plan;
}

/// Bytes of rows [first, first + rows) x columns [depth, depth + size), where steps lie one behind the other:
/// address by address.
using Touched = std::map<std::int64_t, std::set<std::pair<std::int64_t, std::int64_t>>>;  // byte: clusters

void touch(Touched& touched, std::int64_t address, std::int64_t bytes,
           std::pair<std::int64_t, std::int64_t> cluster) {
    for (std::int64_t i = 0; i < bytes; ++i) touched[address + i].insert(cluster);
}

/// First row (column) of a tile and the one behind its last: the same for CTAs that only make a cluster
/// whole.
std::pair<std::int64_t, std::int64_t> extent(std::int64_t tile, std::int64_t size, std::int64_t all) {
    return {std::min(all, tile * size), std::min(all, (tile + 1) * size)};
}

}  // namespace

TEST_CASE("A group loads what its CTAs load, each block once for every cluster", "[simt]") {
    std::mt19937 random(3);
    for (int i = 0; i < 60; ++i) {
        GemmPlan plan = random_plan(random);
        // Of 16 and of 8 bits, and of 8 bits with a scale for each 32 along K.
        if (i % 3 > 0) plan.kernel.shape.dtype = DType::Fp8;
        if (i % 3 == 2) {
            plan.kernel.tile.k = 32;
            plan.kernel.shape.k = 32 * (1 + plan.kernel.shape.k / 16);
            plan.kernel.shape.blocks = {32, 8};
        }
        const auto bytes = [&](std::int64_t elements) {
            return i % 3 == 2 ? elements + elements / 32 : elements * (i % 3 == 0 ? 2 : 1);
        };
        const GemmKernel& kernel = plan.kernel;
        const GemmShape& s = kernel.shape;
        const GemmBlocks blocks(plan);
        const std::int64_t first = static_cast<std::int64_t>(random()) % kernel.ctas();
        const std::int64_t count = 1 + static_cast<std::int64_t>(random()) % (kernel.ctas() - first);
        // Of all CTAs, clusters that take the first of A's and B's blocks: are there others, SMs of both
        // halves of the chip do.
        std::set<std::pair<std::int64_t, std::int64_t>> of_a, of_b;
        for (std::int64_t cta = 0; cta < kernel.ctas(); ++cta) {
            const CtaPlace p = place_of(kernel, cta);
            const std::int64_t batch = s.shared_b ? 0 : p.batch;
            if (p.batch == 0 && p.m == 0 && p.n * kernel.tile.n < s.n)
                of_a.insert({0, p.n / kernel.tile.cluster_n});
            if (batch == 0 && p.n == 0 && p.m * kernel.tile.m < s.m)
                of_b.insert({p.batch, p.m / kernel.tile.cluster_m});
        }
        const MatrixRange in_a{kA, kA + 1000, kA + 1024, of_a.size() == 1},
            in_b{kB, kB + 1000, kB + 1000, of_b.size() == 1};
        for (std::int64_t step = 0; step < kernel.steps_of_part(); ++step) {
            Touched a, b;
            std::int64_t busiest = 0;
            for (std::int64_t cta = first; cta < first + count; ++cta) {
                const CtaPlace p = place_of(kernel, cta);
                const std::int64_t k0 =
                    std::min(s.k, (p.part * kernel.steps_of_part() + step) * kernel.tile.k);
                const std::int64_t k1 = std::min(s.k, k0 + kernel.tile.k);
                const auto [m0, m1] = extent(p.m, kernel.tile.m, s.m);
                const auto [n0, n1] = extent(p.n, kernel.tile.n, s.n);
                const std::int64_t in_b = s.shared_b ? 0 : p.batch;
                touch(a, kA + bytes(p.batch * s.m * s.k + s.m * k0 + m0 * (k1 - k0)),
                      bytes((m1 - m0) * (k1 - k0)), {p.batch, p.n / kernel.tile.cluster_n});
                touch(b, kB + bytes(in_b * s.n * s.k + s.n * k0 + n0 * (k1 - k0)),
                      bytes((n1 - n0) * (k1 - k0)), {p.batch, p.m / kernel.tile.cluster_m});
                busiest = std::max(busiest, bytes((m1 - m0 + n1 - n0) * (k1 - k0)));
            }
            INFO("case " << i << ", step " << step);
            const TileAccess access = blocks.reads({first, count}, step);
            CHECK(access.bytes_of_sm == busiest);
            CHECK(access.sms == count);
            for (const TileAccess::Block& block : access.blocks) {
                CHECK(block.matrix == (block.operand == Operand::Weights ? in_b : in_a));
                Touched& side = block.operand == Operand::Weights ? b : a;
                for (std::int64_t byte = block.address; byte < block.address + block.bytes; ++byte) {
                    REQUIRE(static_cast<std::int64_t>(side[byte].size()) == block.sms);
                    side.erase(byte);  // a second block with it would be a fault
                }
            }
            CHECK(a.empty());
            CHECK(b.empty());
        }
    }
}

TEST_CASE("All CTAs together write every element of the result once, and multiply every one", "[simt]") {
    std::mt19937 random(5);
    for (int i = 0; i < 60; ++i) {
        const GemmPlan plan = random_plan(random);
        const GemmKernel& kernel = plan.kernel;
        const GemmShape& s = kernel.shape;
        const GemmBlocks blocks(plan);
        const TileAccess access = blocks.writes({0, kernel.ctas()});
        std::set<std::int64_t> bytes;
        std::int64_t total = 0;
        for (const TileAccess::Block& block : access.blocks) {
            CHECK(block.operand == (kernel.split_k > 1 ? Operand::PartialSums : Operand::Outputs));
            CHECK(block.sms == 1);
            total += block.bytes;
            for (std::int64_t byte = 0; byte < block.bytes; ++byte) bytes.insert(block.address + byte);
        }
        const std::int64_t all = s.batch * s.m * s.n * (kernel.split_k > 1 ? 4 * kernel.split_k : 2);
        CHECK(total == all);
        CHECK(static_cast<std::int64_t>(bytes.size()) == all);
        CHECK(*bytes.begin() == (kernel.split_k > 1 ? kSums : kC));
        CHECK(*bytes.rbegin() == *bytes.begin() + all - 1);
        CHECK(blocks.macs({0, kernel.ctas()}) == s.batch * s.m * s.n * s.k);
    }
}

TEST_CASE("Epilogues read every element to be joined once, and each CTA the bias of its tile", "[simt]") {
    std::mt19937 random(11);
    for (int i = 0; i < 60; ++i) {
        GemmPlan plan = random_plan(random);
        // Where items have weights of their own, they have a bias each.
        plan.kernel.split_k = 1;
        plan.kernel.swapped = i % 2 == 1;
        if (i % 3 == 0) plan.timing.meet = 1;  // warps copy for themselves, and ask for both at once
        plan.kernel.shape.epilogue = {true, Function::None, Elementwise::Kind::Add, Function::None};
        plan.other = {kSums, Operand::Activations, Bytes(1000), Bytes(0)};
        const std::int64_t wide = i % 4 < 2 ? 4 : 2;  // a bias, or scales in 16 bits
        plan.columns = {{"bias", {kB, Operand::Weights, Bytes(1000), Bytes(0)}, wide}};
        const GemmKernel& kernel = plan.kernel;
        const GemmShape& s = kernel.shape;
        const GemmBlocks blocks(plan);
        std::map<std::int64_t, std::int64_t> bias;  // address of a value: CTAs that read it
        std::int64_t most_joined = 0, most_bias = 0, most_of_both = 0;
        for (std::int64_t cta = 0; cta < kernel.ctas(); ++cta) {
            const CtaPlace p = place_of(kernel, cta);
            const auto [m0, m1] = extent(p.m, kernel.tile.m, s.m);
            const auto [n0, n1] = extent(p.n, kernel.tile.n, s.n);
            if (m0 == m1 || n0 == n1) continue;
            for (std::int64_t v = kernel.swapped ? m0 : n0; v < (kernel.swapped ? m1 : n1); ++v)
                ++bias[kB + wide * ((s.shared_b ? 0 : p.batch) * (kernel.swapped ? s.m : s.n) + v)];
            const std::int64_t of_join = (m1 - m0) * (n1 - n0) * 2,
                               of_bias = wide * (kernel.swapped ? m1 - m0 : n1 - n0);
            most_joined = std::max(most_joined, of_join);
            most_bias = std::max(most_bias, of_bias);
            most_of_both = std::max(most_of_both, of_join + of_bias);
        }
        INFO("case " << i);
        TileAccess access = blocks.reads({0, kernel.ctas()}, blocks.steps(0));
        CHECK(access.bytes_of_sm == (plan.timing.meet ? most_of_both : most_joined));
        if (!plan.timing.meet) {
            for (const TileAccess::Block& block : access.blocks) CHECK(block.operand == Operand::Activations);
            const TileAccess behind = blocks.reads({0, kernel.ctas()}, blocks.steps(0) + 1);
            CHECK(behind.bytes_of_sm == most_bias);
            for (const TileAccess::Block& block : behind.blocks) CHECK(block.operand == Operand::Weights);
            access.blocks.insert(access.blocks.end(), behind.blocks.begin(), behind.blocks.end());
        }
        std::set<std::int64_t> joined, values;
        for (const TileAccess::Block& block : access.blocks)
            for (std::int64_t byte = block.address; byte < block.address + block.bytes; ++byte)
                if (block.operand == Operand::Weights) {
                    CHECK(bias[kB + (byte - kB) / wide * wide] == block.sms);
                    values.insert(byte);
                } else {
                    CHECK(joined.insert(byte).second);
                }
        CHECK(values.size() == static_cast<std::size_t>(wide) * bias.size());
        CHECK(static_cast<std::int64_t>(joined.size()) == s.batch * s.m * s.n * 2);
        CHECK(*joined.begin() == kSums);
        CHECK(*joined.rbegin() == kSums + s.batch * s.m * s.n * 2 - 1);
    }
}

TEST_CASE("The kernel that adds parts reads the values of the bias that its elements meet", "[simt]") {
    std::mt19937 random(13);
    const auto pick = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    for (int i = 0; i < 200; ++i) {
        const std::int64_t rows = pick(1, 20), columns = pick(1, 20), run = pick(0, 1) == 0 ? 1 : columns;
        const std::int64_t values = run == 1 ? columns : rows, items = pick(1, 3);
        StreamPlan plan;
        plan.ctas = pick(1, 30);
        plan.elements = items * rows * columns;
        plan.columns = {{"bias", {kB, Operand::Weights, Bytes(4 * values * items), Bytes(0)}, 4}};
        plan.column_run = run;
        plan.column_items = items;
        const StreamBlocks blocks(plan);
        INFO("case " << i << ": " << items << " x " << rows << " x " << columns << ", run " << run);
        for (std::int64_t cta = 0; cta < plan.ctas; ++cta) {
            std::set<std::int64_t> wanted, read;
            for (std::int64_t e = plan.elements * cta / plan.ctas; e < plan.elements * (cta + 1) / plan.ctas;
                 ++e) {
                const std::int64_t item = e / (rows * columns), own = e % (rows * columns);
                wanted.insert(item * values + (run == 1 ? own % columns : own / columns));
            }
            const TileAccess access = blocks.reads({cta, 1}, 0);
            for (const TileAccess::Block& block : access.blocks)
                for (std::int64_t byte = block.address; byte < block.address + block.bytes; byte += 4)
                    CHECK(read.insert((byte - kB) / 4).second);
            CHECK(read == wanted);
            CHECK(access.bytes_of_sm == 4 * static_cast<std::int64_t>(wanted.size()));
        }
    }
}

TEST_CASE("Shares of a streaming kernel lie one behind the other and leave nothing out", "[simt]") {
    StreamPlan plan;
    plan.ctas = 7;
    plan.from = {64, Operand::PartialSums, Bytes(1000), Bytes(0)};
    plan.to.bytes = Bytes(3);
    const StreamBlocks blocks(plan);
    const TileAccess reads = blocks.reads({0, 7}, 0);
    std::int64_t next = 64;
    for (const TileAccess::Block& block : reads.blocks) {
        CHECK(block.address == next);
        next += block.bytes;
    }
    CHECK(next == 64 + 1000);
    CHECK(reads.bytes_of_sm == 143);
    CHECK(blocks.writes({0, 7}).blocks.size() == 3);
}
