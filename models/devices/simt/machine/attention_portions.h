// SPDX-License-Identifier: Apache-2.0
// Where the instructions of an attention CTA's warps access memory. Copies are in the order of queries, then
// keys and values of each block by turns (of specialized warps, some have the keys and some the values; on
// FP32 pipes loads are of all keys, then of all values), each shared out evenly among the warps' instructions
// that bring it.
#pragma once

#include <cstdint>
#include <vector>

#include "models/devices/simt/kernels/thread_attention_program.h"
#include "models/devices/simt/machine/attention_blocks.h"
#include "models/devices/simt/machine/cta_portions.h"
#include "models/devices/simt/sm/sm.h"

namespace systole::simt {

class AttentionPortions {
public:
    /// `plan` must outlive it. `program`: of its CTAs, of one tile with any number of steps. `rows`: on FP32
    /// pipes, warps that have some.
    AttentionPortions(const AttentionPlan& plan, const CtaProgram& program, const WarpsOfRows& rows = {});

    /// What an instruction of a CTA that does the tiles of these CTAs' numbers, one behind the other, brings
    /// or stores.
    TileAccess of(const std::vector<std::int64_t>& tiles, Sm::Access access) const;

private:
    /// Copies of a warp for a tile.
    std::int64_t copies_of(std::int64_t cta) const;
    TileAccess copied(std::int64_t cta, const Sm::Access& access) const;
    TileAccess copied_by_role(std::int64_t cta, const Sm::Access& access) const;
    TileAccess loaded(std::int64_t cta, const Sm::Access& access) const;

    const AttentionBlocks blocks_;
    const AttentionDesign design_;
    const WarpsOfRows rows_;
    std::vector<std::int64_t> first_of_role_;  ///< of all warps, the first one of each role
    std::int64_t copiers_ = 1;                 ///< warps that copy
    std::int64_t of_queries_, of_block_;  ///< copies of a warp: of queries, of a block of keys (or values)
    std::int64_t of_values_ = 0,
                 bringers_ = 1;              ///< specialized: of those with values, and how many these are
    std::int64_t stores_ = 0, storers_ = 1;  ///< stores of a warp for a tile, and warps that have some
};

}  // namespace systole::simt
