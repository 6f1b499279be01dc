// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/gemm_blocks.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "sim/base/check.h"

namespace systole::simt {

TileAccess::Block elements_of(const MatrixPlace& matrix, std::int64_t begin, std::int64_t count,
                              BitsPerWeight each) {
    const std::int64_t unit = 8 * each.weights;
    const std::int64_t first = ceil_div(begin * each.bits, unit),
                       end = ceil_div((begin + count) * each.bits, unit);
    return {matrix.address + first, end - first, 1, matrix.operand, matrix.range()};
}

namespace {

/// Blocks that lie one behind the other and that as many SMs take become one; empty ones are none. Of those
/// that are gathered, also such as overlap or that less than `gap` bytes lie between: others of the kernel
/// take these.
void join_neighbours(std::vector<TileAccess::Block>& blocks, std::int64_t gap = 0) {
    std::erase_if(blocks, [](const TileAccess::Block& block) { return block.bytes == 0; });
    std::sort(blocks.begin(), blocks.end(),
              [](const auto& a, const auto& b) { return a.address < b.address; });
    std::size_t last = 0;
    for (std::size_t i = 1; i < blocks.size(); ++i) {
        TileAccess::Block& before = blocks[last];
        const TileAccess::Block& block = blocks[i];
        const std::int64_t behind = block.address - (before.address + before.bytes);
        const bool alike = before.sms == block.sms && before.matrix == block.matrix;
        if (alike && before.gathered && block.gathered && behind <= gap) {
            before.gathered = *before.gathered + *block.gathered;
            before.bytes = std::max(before.bytes, block.address + block.bytes - before.address);
        } else if (alike && !before.gathered && behind == 0) {
            before.bytes += block.bytes;
        } else {
            blocks[++last] = block;
        }
    }
    if (!blocks.empty()) blocks.resize(last + 1);
}

}  // namespace

// None of CTAs that only make their cluster whole.
std::int64_t GemmBlocks::rows(std::int64_t m) const {
    return std::clamp(plan_.kernel.shape.m - m * plan_.kernel.tile.m, std::int64_t{0}, plan_.kernel.tile.m);
}

std::int64_t GemmBlocks::columns(std::int64_t n) const {
    return std::clamp(plan_.kernel.shape.n - n * plan_.kernel.tile.n, std::int64_t{0}, plan_.kernel.tile.n);
}

GemmBlocks::GemmBlocks(const GemmPlan& plan) : plan_(plan), pieces_(stream_pieces(plan.kernel)) {
    const int read = plan.kernel.epilogue().columns();
    SYSTOLE_CHECK(read == 0 || read == static_cast<int>(plan.columns.size()), "{} of {} values of columns",
                  read, plan.columns.size());
}

std::int64_t GemmBlocks::ctas() const {
    return whole_tiles() * plan_.kernel.split_k + static_cast<std::int64_t>(pieces_.size());
}

bool GemmBlocks::alone(std::int64_t cta) const {
    return !pieces_.empty() && cta >= whole_tiles();
}

std::vector<std::int64_t> GemmBlocks::waits_for(std::int64_t cta) const {
    const Work own = work(cta);
    std::vector<std::int64_t> others;
    if (own.piece == nullptr) return others;
    for (const std::int64_t piece : own.piece->adds) others.push_back(whole_tiles() + piece);
    return others;
}

GemmBlocks::Work GemmBlocks::work(std::int64_t cta) const {
    if (!alone(cta)) {
        const CtaPlace place = place_of(plan_.kernel, cta);
        return {place, nullptr, place.part};
    }
    const std::int64_t number = cta - whole_tiles();
    const StreamPiece& piece = pieces_[static_cast<std::size_t>(number)];
    return {place_of(plan_.kernel, piece.tile), &piece, number + 1};
}

// The last parts of K may be shorter than the others, or empty.
std::int64_t GemmBlocks::steps(std::int64_t cta) const {
    const GemmKernel& kernel = plan_.kernel;
    const Work own = work(cta);
    if (own.piece != nullptr) return own.piece->steps;
    return std::clamp(kernel.steps() - own.part * kernel.steps_of_part(), std::int64_t{0},
                      kernel.steps_of_part());
}

std::int64_t GemmBlocks::first_step(const Work& work) const {
    return work.piece != nullptr ? work.piece->begin : work.part * plan_.kernel.steps_of_part();
}

GemmBlocks::Depth GemmBlocks::depth(const Work& work, std::int64_t step) const {
    const std::int64_t number = first_step(work) + step, begin = plan_.kernel.k_before(number);
    return {begin, plan_.kernel.k_before(number + 1) - begin, number};
}

TileAccess::Block GemmBlocks::a_block(const CtaPlace& place, Depth depth) const {
    const GemmShape& shape = plan_.kernel.shape;
    if (shape.gather) return gathered_block(place, depth);
    const CtaTile& tile = plan_.kernel.tile;
    const std::int64_t begin = place.batch * shape.m * shape.k + shape.m * depth.begin;
    TileAccess::Block block = elements_of(plan_.a, begin + place.m * tile.m * depth.size,
                                          rows(place.m) * depth.size, shape.element());
    block.matrix.by_one_half = shape.n <= tile.n * tile.cluster_n;
    return block;
}

TileAccess::Block GemmBlocks::b_block(const CtaPlace& place, Depth depth) const {
    const GemmShape& shape = plan_.kernel.shape;
    const std::int64_t batch = shape.shared_b ? 0 : place.batch;
    const CtaTile& tile = plan_.kernel.tile;
    const std::int64_t begin = batch * shape.n * shape.k + shape.n * depth.begin;
    TileAccess::Block block = elements_of(plan_.b, begin + place.n * tile.n * depth.size,
                                          columns(place.n) * depth.size, shape.element());
    block.matrix.by_one_half = shape.m <= tile.m * tile.cluster_m && (shape.batch == 1 || !shape.shared_b);
    return block;
}

// Of what a cluster shares a CTA asks for its part, which is the largest where it is not even.
std::int64_t GemmBlocks::into_sm(const TileAccess::Block& a, const TileAccess::Block& b) const {
    const CtaTile& tile = plan_.kernel.tile;
    if (!tile.multicast) return a.taken() + b.bytes;
    return ceil_div(a.taken(), std::int64_t{tile.cluster_n}) +
           ceil_div(b.bytes, std::int64_t{tile.cluster_m});
}

TileAccess::Block GemmBlocks::result_block(const MatrixPlace& matrix, const CtaPlace& place,
                                           std::int64_t item, DType dtype) const {
    const GemmKernel& kernel = plan_.kernel;
    const std::int64_t height = rows(place.m);
    const std::int64_t begin = (item * kernel.shape.m + place.m * kernel.tile.m) * kernel.shape.n;
    return elements_of(matrix, begin + height * place.n * kernel.tile.n, height * columns(place.n),
                       bits_per_weight(dtype, {}));
}

TileAccess::Block GemmBlocks::workspace_block(const Work& work) const {
    const CtaTile& tile = plan_.kernel.tile;
    const std::int64_t begin = work.piece->slot.value() * tile.m * tile.n;
    return elements_of(plan_.sums, begin, rows(work.m) * columns(work.n), bits_per_weight(DType::Fp32, {}));
}

TileAccess::Block GemmBlocks::c_block(const Work& place) const {
    const GemmShape& shape = plan_.kernel.shape;
    if (place.piece != nullptr && place.piece->slot) return workspace_block(place);
    if (plan_.kernel.split_k == 1) return result_block(plan_.c, place, place.batch, shape.output);
    return result_block(plan_.sums, place, place.part * shape.batch + place.batch, DType::Fp32);
}

TileAccess::Block GemmBlocks::column_block(const ColumnValues& values, const CtaPlace& place) const {
    const CtaTile& tile = plan_.kernel.tile;
    // Groups of a convolution and experts have a row of their own each.
    const GemmShape& shape = plan_.kernel.shape;
    const std::int64_t row = plan_.kernel.swapped ? shape.m : shape.n;
    const std::int64_t own = shape.shared_b ? 0 : place.batch * row;
    const std::int64_t begin = own + (plan_.kernel.swapped ? place.m * tile.m : place.n * tile.n);
    const std::int64_t count = plan_.kernel.swapped ? rows(place.m) : columns(place.n);
    const MatrixPlace& at = values.place;
    return {at.address + begin * values.value_bytes, count * values.value_bytes, 1, at.operand, at.range()};
}

const GemmBlocks::Sides& GemmBlocks::sides_of(CtaRange range) const {
    const auto [known, added] = sides_.try_emplace({range.first, range.count});
    if (!added) return known->second;
    const GemmKernel& kernel = plan_.kernel;
    // By block row (column) of an item and part, the clusters; with the first CTA's place.
    using Key = std::array<std::int64_t, 3>;
    std::map<Key, std::pair<Work, std::set<Key>>> a, b;
    std::map<Key, Work> sizes;
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        const Work place = work(cta);
        const auto take = [&](auto& side, const Key& block, const Key& cluster) {
            side.try_emplace(block, place, std::set<Key>{}).first->second.second.insert(cluster);
        };
        const std::int64_t item = kernel.shape.shared_b ? 0 : place.batch;
        take(a, {place.batch, place.share, place.m}, {place.batch, place.n / kernel.tile.cluster_n});
        // A cluster lies within one item of the batch, though all items may read one B.
        take(b, {item, place.share, place.n}, {place.batch, place.m / kernel.tile.cluster_m});
        sizes.try_emplace({place.share, rows(place.m), columns(place.n)}, place);
    }
    Sides& sides = known->second;
    for (const auto& [key, taken] : a)
        sides.a.push_back({taken.first, static_cast<std::int64_t>(taken.second.size())});
    for (const auto& [key, taken] : b)
        sides.b.push_back({taken.first, static_cast<std::int64_t>(taken.second.size())});
    for (const auto& [key, place] : sizes) sides.sizes.push_back(place);
    return sides;
}

// CTAs of a cluster take what their columns have each for itself.
TileAccess GemmBlocks::reads_of_epilogue(CtaRange range, const Epilogue& epilogue) const {
    std::map<std::int64_t, TileAccess::Block> of_columns;  // by address
    TileAccess access;
    access.sms = range.count;
    access.short_rows = true;
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        const Work place = work(cta);
        if (rows(place.m) == 0 || columns(place.n) == 0) continue;
        // Of a shared tile, the rest is for the one that adds the others' sums.
        if (place.piece != nullptr && place.piece->slot) continue;
        std::int64_t bytes = 0;
        for (const std::int64_t other : waits_for(cta)) {
            access.blocks.push_back(workspace_block(work(other)));
            bytes += access.blocks.back().bytes;
        }
        for (const ColumnValues& values : plan_.columns) {
            if (epilogue.columns() == 0) break;
            const TileAccess::Block own = column_block(values, place);
            const auto [known, added] = of_columns.try_emplace(own.address, own);
            if (!added) ++known->second.sms;
            bytes += own.bytes;
        }
        if (epilogue.join) {
            access.blocks.push_back(result_block(plan_.other, place, place.batch, plan_.kernel.shape.output));
            bytes += access.blocks.back().bytes;
        }
        access.bytes_of_sm = std::max(access.bytes_of_sm, bytes);
    }
    for (const auto& [address, block] : of_columns) access.blocks.push_back(block);
    join_neighbours(access.blocks);
    return access;
}

TileAccess GemmBlocks::reads(CtaRange range, std::int64_t step) const {
    if (reads_behind_steps() && step >= steps(range.first)) {
        // What is joined ahead of what columns have is asked for by itself.
        Epilogue epilogue = plan_.kernel.epilogue();
        if (step > steps(range.first))
            epilogue.join.reset();
        else if (plan_.joins_ahead())
            epilogue.bias = false, epilogue.scale_bits = 0;
        return reads_of_epilogue(range, epilogue);
    }
    // A kernel runs wave after wave: what was asked of those before is not asked again.
    if (sides_.size() > 64) sides_.clear();
    const Sides& sides = sides_of(range);
    TileAccess access;
    access.sms = range.count;
    access.short_rows = true;
    const auto add = [&](const TileAccess::Block& block, std::int64_t clusters) {
        if (block.bytes == 0) return;
        access.blocks.push_back(block);
        access.blocks.back().sms = clusters;
    };
    for (const Taken& taken : sides.a) add(a_block(taken.place, depth(taken.place, step)), taken.clusters);
    for (const Taken& taken : sides.b) add(b_block(taken.place, depth(taken.place, step)), taken.clusters);
    for (const Work& place : sides.sizes) {
        const Depth both = depth(place, step);
        access.bytes_of_sm =
            std::max(access.bytes_of_sm, into_sm(a_block(place, both), b_block(place, both)));
    }
    join_neighbours(access.blocks, between_pixels());
    return access;
}

TileAccess GemmBlocks::reads_of_one(std::int64_t cta, std::int64_t step) const {
    const GemmKernel& kernel = plan_.kernel;
    if (reads_behind_steps() && step == steps(cta))
        return reads_of_epilogue({cta, 1}, plan_.kernel.epilogue());
    const Work place = work(cta);
    const Depth both = depth(place, step);
    TileAccess access;
    access.short_rows = true;
    // Of CTAs of the cluster along one side, each its part: those without a tile, too.
    const auto add = [&](const TileAccess::Block& block, std::int64_t at, std::int64_t ctas) {
        const std::int64_t own = at % ctas;
        const std::int64_t from = block.bytes * own / ctas, until = block.bytes * (own + 1) / ctas;
        if (until > from) access.blocks.push_back(block.part(from, until));
    };
    const TileAccess::Block a = a_block(place, both), b = b_block(place, both);
    access.bytes_of_sm = into_sm(a, b);
    add(a, place.n, kernel.tile.cluster_n);
    add(b, place.m, kernel.tile.cluster_m);
    return access;
}

TileAccess GemmBlocks::writes(CtaRange range) const {
    TileAccess access;
    access.sms = range.count;
    access.short_rows = true;
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        access.blocks.push_back(c_block(work(cta)));
        access.bytes_of_sm = std::max(access.bytes_of_sm, access.blocks.back().bytes);
    }
    join_neighbours(access.blocks);
    return access;
}

std::int64_t GemmBlocks::macs(CtaRange range) const {
    std::int64_t sum = 0;
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        const Work place = work(cta);
        const std::int64_t begin = first_step(place);
        sum += rows(place.m) * columns(place.n) *
               (plan_.kernel.k_before(begin + steps(cta)) - plan_.kernel.k_before(begin));
    }
    return sum;
}

}  // namespace systole::simt
