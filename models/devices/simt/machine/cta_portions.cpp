// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/cta_portions.h"

#include <algorithm>

namespace systole::simt {

std::int64_t instructions_of(const WarpProgram& program, Op op, Op other) {
    std::int64_t sum = 0;
    for (const Section& section : program)
        sum +=
            section.trips * std::count_if(section.body.begin(), section.body.end(),
                                          [&](const Instruction& i) { return i.op == op || i.op == other; });
    return sum;
}

namespace {

/// Instructions of one of a role's warps, in one step or outside of all steps.
std::int64_t count(const WarpProgram& program, bool of_step, Op op, Op other) {
    std::int64_t sum = 0;
    for (const Section& section : program) {
        const auto own = std::count_if(section.body.begin(), section.body.end(),
                                       [&](const Instruction& i) { return i.op == op || i.op == other; });
        if (of_step != section.steps) continue;
        sum = of_step ? std::max<std::int64_t>(sum, own) : sum + own * section.trips;
    }
    return sum;
}

}  // namespace

TileAccess portion_of(const TileAccess& whole, std::int64_t index, std::int64_t count) {
    std::int64_t bytes = 0;
    for (const TileAccess::Block& block : whole.blocks) bytes += block.bytes;
    const std::int64_t sectors = ceil_div(bytes, kSectorBytes);
    const std::int64_t from = sectors * index / count * kSectorBytes;
    const std::int64_t until = std::min(bytes, sectors * (index + 1) / count * kSectorBytes);
    TileAccess portion;
    portion.short_rows = whole.short_rows;
    std::int64_t at = 0;
    for (const TileAccess::Block& block : whole.blocks) {
        const std::int64_t begin = std::max(from, at), end = std::min(until, at + block.bytes);
        at += block.bytes;
        if (begin >= end) continue;
        const std::int64_t first = at - block.bytes;
        portion.blocks.push_back(block.part(begin - first, end - first));
    }
    if (bytes > 0)
        portion.bytes_of_sm = static_cast<std::int64_t>(Int128{whole.bytes_of_sm} * until / bytes -
                                                        Int128{whole.bytes_of_sm} * from / bytes);
    return portion;
}

namespace {

/// Of what an epilogue reads: the part that is of `matrix`, or all else.
TileAccess only(TileAccess access, MatrixRange matrix, bool of_it) {
    std::erase_if(access.blocks,
                  [&](const TileAccess::Block& block) { return (block.matrix == matrix) != of_it; });
    access.bytes_of_sm = 0;
    for (const TileAccess::Block& block : access.blocks) access.bytes_of_sm += block.taken();
    return access;
}

}  // namespace

CtaPortions::CtaPortions(const KernelPlan& plan, const CtaWork& work, const CtaProgram& program)
    : work_(work), gemm_(std::get_if<GemmPlan>(&plan)), vector_(std::get_if<VectorPlan>(&plan)) {
    int warps = 0;
    for (const Role& role : program.roles) {
        before_.push_back(warps);
        if (vector_ != nullptr) warps += role.warps;
        const std::int64_t alike = vector_ != nullptr ? program.warps() : role.warps;
        const auto add = [&](bool of_step, Op op, Op other, Sharing& sharing) {
            const std::int64_t own = count(role.program, of_step, op, other);
            if (own > 0) sharing = {own, alike};
        };
        add(true, Op::AsyncCopy, Op::BulkCopy, copies_);
        add(true, Op::StepLoad, Op::StepLoad, copies_);
        add(true, Op::GlobalLoad, Op::GlobalLoad, copies_);
        add(false, Op::GlobalLoad, Op::GlobalLoad, loads_);
        const std::int64_t stores = instructions_of(role.program, Op::GlobalStore, Op::BulkStore);
        if (stores > 0) stores_ = {stores, alike};
    }
}

/// Such instructions of one of the warps for a tile.
std::int64_t CtaPortions::of_tile(std::int64_t cta, Op op) const {
    if (op == Op::GlobalLoad) return loads_.of_warp;
    if (op == Op::GlobalStore || op == Op::BulkStore) return stores_.of_warp;
    const bool joins = op == Op::BulkCopy && gemm_->kernel.epilogue().join;
    return copies_.of_warp * work_.steps(cta) + (joins ? 1 : 0);
}

TileAccess CtaPortions::of(const std::vector<std::int64_t>& tiles, Sm::Access access) const {
    access.warp += before_.at(static_cast<std::size_t>(access.role));
    std::size_t tile = 0;
    for (; tile + 1 < tiles.size(); ++tile) {
        const std::int64_t own = of_tile(tiles[tile], access.op);
        if (access.number < own) break;
        access.number -= own;
    }
    return of(tiles[tile], access);
}

TileAccess CtaPortions::of(std::int64_t cta, const Sm::Access& access) const {
    if (access.op == Op::GlobalLoad && !into_registers()) return loaded(cta, access, access.number);
    if (access.op == Op::GlobalStore || access.op == Op::BulkStore) {
        const Turn turn = turn_of_store(access);
        return portion_of(work_.writes({cta, 1}), turn.index, turn.count);
    }
    const std::int64_t step = access.number / copies_.of_warp, steps = work_.steps(cta);
    if (step < steps) {
        const Turn turn = turn_of_load(step, access);
        return portion_of(work_.reads_of_one(cta, step), turn.index, turn.count);
    }
    if (into_registers()) return loaded(cta, access, access.number - steps * copies_.of_warp);
    // Behind the last step a warp that copies whole blocks copies what is to be joined.
    if (access.op == Op::BulkCopy) return without_columns(work_.reads_of_one(cta, steps));
    return {};
}

// Of a rotary embedding, the first warps have more rounds than others.
CtaPortions::Turn CtaPortions::turn_of_load(std::int64_t step, const Sm::Access& access) const {
    const bool rotary = vector_ != nullptr && vector_->kernel.kind == VectorKernel::Kind::Rotary;
    const std::int64_t warps = rotary ? vector_->kernel.rotary_loops().warps_in(step) : copies_.warps;
    return {access.number % copies_.of_warp * warps + access.warp, copies_.of_warp * warps};
}

CtaPortions::Turn CtaPortions::turn_of_store(const Sm::Access& access) const {
    if (vector_ == nullptr || vector_->kernel.kind != VectorKernel::Kind::Rotary)
        return {access.number * stores_.warps + access.warp, stores_.all()};
    // Both elements of a pair, round by round.
    const RotaryLoops loops = vector_->kernel.rotary_loops();
    Turn turn{0, 0};
    for (std::int64_t round = 0; round < loops.rounds(); ++round) {
        const std::int64_t warps = loops.warps_in(round);
        if (round < access.number / 2) turn.index += 2 * warps;
        if (round == access.number / 2) turn.index += access.number % 2 * warps + access.warp;
        turn.count += 2 * warps;
    }
    return turn;
}

// Of a tile's epilogue, what is to be joined.
TileAccess CtaPortions::without_columns(TileAccess all) const {
    for (const ColumnValues& values : gemm_->columns) all = only(all, values.place.range(), false);
    return all;
}

// A warp's first loads are of what columns have, and the others of what is to be joined.
TileAccess CtaPortions::loaded(std::int64_t cta, const Sm::Access& access, std::int64_t number) const {
    if (gemm_ == nullptr)
        return portion_of(work_.reads_of_one(cta, vector_ != nullptr ? work_.steps(cta) : 0),
                          number * loads_.warps + access.warp, loads_.all());
    const TileAccess all = work_.reads_of_one(cta, work_.steps(cta));
    const std::int64_t columns = gemm_->kernel.epilogue().columns();
    if (number < columns) {
        const MatrixRange range = gemm_->columns[static_cast<std::size_t>(number)].place.range();
        return portion_of(only(all, range, true), access.warp, loads_.warps);
    }
    return portion_of(without_columns(all), (number - columns) * loads_.warps + access.warp,
                      (loads_.of_warp - columns) * loads_.warps);
}

}  // namespace systole::simt
