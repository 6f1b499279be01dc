// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/gemm_blocks.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace systole::simt {
namespace {

/// Elements [begin, begin + count) of a matrix, in whole bytes: neighbours never share one, nor leave one
/// out.
TileAccess::Block block(const MatrixPlace& matrix, std::int64_t begin, std::int64_t count, DType dtype) {
    const std::int64_t bits = bits_of(dtype).value();
    const std::int64_t first = ceil_div(begin * bits, 8), end = ceil_div((begin + count) * bits, 8);
    return {matrix.address + first, end - first, 1, matrix.operand};
}

/// Blocks in the order in which they were first asked for, each with the clusters that take it.
class Takers {
public:
    void take(const TileAccess::Block& block, std::tuple<std::int64_t, std::int64_t> cluster) {
        if (block.bytes == 0) return;
        const auto same = [&](const TileAccess::Block& other) { return other.address == block.address; };
        auto found = std::find_if(blocks_.rbegin(), blocks_.rend(), same);
        const bool known = found != blocks_.rend();
        if (taken_.insert({block.address, cluster}).second && known) ++found->sms;
        if (!known) blocks_.push_back(block);
    }
    void append_to(std::vector<TileAccess::Block>& all) const {
        all.insert(all.end(), blocks_.begin(), blocks_.end());
    }

private:
    std::vector<TileAccess::Block> blocks_;
    std::set<std::pair<std::int64_t, std::tuple<std::int64_t, std::int64_t>>> taken_;
};

}  // namespace

std::int64_t GemmBlocks::rows(std::int64_t m) const {
    return std::min(plan_.kernel.tile.m, plan_.kernel.shape.m - m * plan_.kernel.tile.m);
}

std::int64_t GemmBlocks::columns(std::int64_t n) const {
    return std::min(plan_.kernel.tile.n, plan_.kernel.shape.n - n * plan_.kernel.tile.n);
}

// The last parts of K may be shorter than the others, or empty.
std::int64_t GemmBlocks::steps(std::int64_t cta) const {
    const GemmKernel& kernel = plan_.kernel;
    const std::int64_t part = place_of(kernel, cta).part;
    return std::clamp(kernel.steps() - part * kernel.steps_of_part(), std::int64_t{0},
                      kernel.steps_of_part());
}

GemmBlocks::Depth GemmBlocks::depth(std::int64_t part, std::int64_t step) const {
    const GemmKernel& kernel = plan_.kernel;
    const std::int64_t begin = (part * kernel.steps_of_part() + step) * kernel.tile.k;
    return {begin, std::clamp(kernel.shape.k - begin, std::int64_t{0}, kernel.tile.k)};
}

std::int64_t GemmBlocks::depth_of_part(std::int64_t part) const {
    const GemmKernel& kernel = plan_.kernel;
    const std::int64_t length = kernel.steps_of_part() * kernel.tile.k;
    return std::clamp(kernel.shape.k - part * length, std::int64_t{0}, length);
}

TileAccess::Block GemmBlocks::a_block(const CtaPlace& place, Depth depth) const {
    const GemmShape& shape = plan_.kernel.shape;
    const std::int64_t height = rows(place.m);
    const std::int64_t begin = (place.batch * shape.m + place.m * plan_.kernel.tile.m) * shape.k;
    return block(plan_.a, begin + height * depth.begin, height * depth.size, shape.dtype);
}

TileAccess::Block GemmBlocks::b_block(const CtaPlace& place, Depth depth) const {
    const GemmShape& shape = plan_.kernel.shape;
    const std::int64_t width = columns(place.n), batch = shape.shared_b ? 0 : place.batch;
    const std::int64_t begin = (batch * shape.n + place.n * plan_.kernel.tile.n) * shape.k;
    return block(plan_.b, begin + width * depth.begin, width * depth.size, shape.dtype);
}

TileAccess::Block GemmBlocks::c_block(const CtaPlace& place) const {
    const GemmKernel& kernel = plan_.kernel;
    const GemmShape& shape = kernel.shape;
    const bool split = kernel.split_k > 1;
    const std::int64_t height = rows(place.m);
    const std::int64_t matrix = split ? place.part * shape.batch + place.batch : place.batch;
    const std::int64_t begin = (matrix * shape.m + place.m * kernel.tile.m) * shape.n;
    const MatrixPlace sums{plan_.workspace, Operand::PartialSums};
    return block(split ? sums : plan_.c, begin + height * place.n * kernel.tile.n, height * columns(place.n),
                 split ? DType::Fp32 : shape.output);
}

TileAccess GemmBlocks::reads(CtaRange range, std::int64_t step) const {
    const CtaTile& tile = plan_.kernel.tile;
    Takers a, b;
    TileAccess access;
    access.sms = range.count;
    for (std::int64_t cta = range.first; cta < range.first + range.count; ++cta) {
        const CtaPlace place = place_of(plan_.kernel, cta);
        const Depth columns = depth(place.part, step);
        const TileAccess::Block left = a_block(place, columns), right = b_block(place, columns);
        // A cluster lies within one item of the batch, though all items may read one B.
        a.take(left, {place.batch, place.n / tile.cluster_n});
        b.take(right, {place.batch, place.m / tile.cluster_m});
        access.bytes_of_sm = std::max(access.bytes_of_sm, left.bytes + right.bytes);
    }
    a.append_to(access.blocks);
    b.append_to(access.blocks);
    return access;
}

TileAccess GemmBlocks::writes(CtaRange range) const {
    TileAccess access;
    access.sms = range.count;
    for (std::int64_t cta = range.first; cta < range.first + range.count; ++cta) {
        access.blocks.push_back(c_block(place_of(plan_.kernel, cta)));
        access.bytes_of_sm = std::max(access.bytes_of_sm, access.blocks.back().bytes);
    }
    return access;
}

std::int64_t GemmBlocks::macs(CtaRange range) const {
    std::int64_t sum = 0;
    for (std::int64_t cta = range.first; cta < range.first + range.count; ++cta) {
        const CtaPlace place = place_of(plan_.kernel, cta);
        sum += rows(place.m) * columns(place.n) * depth_of_part(place.part);
    }
    return sum;
}

}  // namespace systole::simt
