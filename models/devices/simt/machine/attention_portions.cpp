// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/attention_portions.h"

#include "models/devices/simt/kernels/decode_kernel.h"
#include "models/devices/simt/kernels/mma_shapes.h"
#include "models/devices/simt/kernels/thread_attention_program.h"

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

AttentionPortions::AttentionPortions(const AttentionPlan& plan, const CtaProgram& program,
                                     const WarpsOfRows& rows)
    : blocks_(plan), design_(plan.kernel.tile.design), rows_(rows), of_queries_(1), of_block_(1) {
    const AttentionTile& tile = plan.kernel.tile;
    const std::int64_t row = tile.dim * element_bytes(plan.kernel.dtype);
    std::int64_t before = 0;
    for (const Role& role : program.roles) {
        const std::int64_t stores = instructions_of(role.program, Op::GlobalStore, Op::BulkStore);
        if (stores > 0) stores_ = stores, storers_ = role.warps;
        first_of_role_.push_back(before);
        before += role.warps;
        if (instructions_of(role.program, Op::AsyncCopy, Op::AsyncCopy) == 0) continue;
        const std::int64_t of_copy = copy_bytes(role.program) * role.warps;
        if (&role != &program.roles.front()) {
            bringers_ = role.warps;
            of_values_ = ceil_div(tile.n * row, of_copy);
            continue;
        }
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
    if (!store && design_ == AttentionDesign::Threads) return loaded(tiles[tile], access);
    if (!store && design_ == AttentionDesign::Specialized) return copied_by_role(tiles[tile], access);
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

// Behind the last block as much is asked for once more, where nothing lies. A part without a block has no
// queries, either (their few bytes are not counted).
TileAccess AttentionPortions::copied_by_role(std::int64_t cta, const Sm::Access& access) const {
    if (blocks_.steps(cta) == 0) return {};
    const bool values = access.role > 0;
    if (!values && access.number < of_queries_)
        return portion_of(blocks_.queries_of(cta), access.number * copiers_ + access.warp,
                          of_queries_ * copiers_);
    const std::int64_t number = values ? access.number : access.number - of_queries_;
    const std::int64_t of_step = values ? of_values_ : of_block_, warps = values ? bringers_ : copiers_;
    const std::int64_t step = number / of_step;
    if (step >= blocks_.steps(cta)) return {};
    return portion_of(blocks_.of_step(cta, step, values), number % of_step * warps + access.warp,
                      of_step * warps);
}

// The first warp is a role of its own; those that have a block's keys may be more than those with values.
TileAccess AttentionPortions::loaded(std::int64_t cta, const Sm::Access& access) const {
    const std::int64_t load = load_of_steps(access.role, access.number);
    if (load < 0) return blocks_.queries_of(cta);
    const std::int64_t blocks = blocks_.steps(cta) / 2;
    const auto [step, number] = load_of_step(rows_, blocks, load);
    const bool values = step >= blocks;
    const std::int64_t warps = values ? rows_.values : rows_.keys;
    const std::int64_t loads = values ? kThreadKeys : rows_.loads_of_keys;
    return portion_of(blocks_.of_pass(cta, step),
                      number * warps + first_of_role_[static_cast<std::size_t>(access.role)] + access.warp,
                      loads * warps);
}

}  // namespace systole::simt
