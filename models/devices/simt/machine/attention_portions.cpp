// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/attention_portions.h"

#include "models/devices/simt/kernels/mma_shapes.h"

namespace systole::simt {

namespace {

/// Of a warp's copy: all are alike.
std::int64_t copy_bytes(const WarpProgram& program) {
    for (const Section& section : program)
        for (const Instruction& instruction : section.body)
            if (instruction.op == Op::AsyncCopy) return instruction.bytes;
    return 1;
}

}  // namespace

AttentionPortions::AttentionPortions(const AttentionPlan& plan, const CtaProgram& program)
    : blocks_(plan), of_queries_(1), of_block_(1) {
    for (const Role& role : program.roles) {
        const std::int64_t stores = instructions_of(role.program, Op::GlobalStore, Op::BulkStore);
        if (stores > 0) stores_ = stores, storers_ = role.warps;
        if (instructions_of(role.program, Op::AsyncCopy, Op::AsyncCopy) == 0) continue;
        const AttentionTile& tile = plan.kernel.tile;
        const std::int64_t of_copy = copy_bytes(role.program) * role.warps;
        const std::int64_t row = tile.dim * element_bytes(plan.kernel.dtype);
        copiers_ = role.warps;
        of_queries_ = ceil_div(tile.m * row, of_copy);
        of_block_ = ceil_div(tile.n * row, of_copy);
    }
}

std::int64_t AttentionPortions::copies_of(std::int64_t cta) const {
    return of_queries_ + 2 * of_block_ * blocks_.steps(cta);
}

TileAccess AttentionPortions::of(const std::vector<std::int64_t>& tiles, Sm::Access access) const {
    const bool store = access.op == Op::GlobalStore || access.op == Op::BulkStore;
    std::size_t tile = 0;
    for (; tile + 1 < tiles.size(); ++tile) {
        const std::int64_t own = store ? stores_ : copies_of(tiles[tile]);
        if (access.number < own) break;
        access.number -= own;
    }
    if (!store) return copied(tiles[tile], access);
    return portion_of(blocks_.writes({tiles[tile], 1}), access.number * storers_ + access.warp,
                      stores_ * storers_);
}

TileAccess AttentionPortions::copied(std::int64_t cta, const Sm::Access& access) const {
    if (access.number < of_queries_)
        return portion_of(blocks_.queries_of(cta), access.number * copiers_ + access.warp,
                          of_queries_ * copiers_);
    const std::int64_t number = access.number - of_queries_, half = number / of_block_;
    const std::int64_t index = number % of_block_ * copiers_ + access.warp;
    // Keys are copied ahead of the last block, too, where a tile has none.
    if (half / 2 >= blocks_.steps(cta)) return {};
    return portion_of(blocks_.of_step(cta, half / 2, half % 2 == 1), index, of_block_ * copiers_);
}

}  // namespace systole::simt
