// SPDX-License-Identifier: Apache-2.0
// Where the instructions of a CTA's warps access memory: its blocks are shared out evenly among those that
// bring them, in whole sectors.
#pragma once

#include <cstdint>
#include <vector>

#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/machine/cta_work.h"
#include "models/devices/simt/machine/tile_access.h"
#include "models/devices/simt/sm/sm.h"

namespace systole::simt {

/// Portion `index` of `count` of what is accessed, in whole sectors from the blocks' begin.
TileAccess portion_of(const TileAccess& whole, std::int64_t index, std::int64_t count);
/// Such instructions of one of a role's warps, wherever they are.
std::int64_t instructions_of(const WarpProgram& program, Op op, Op other);

class CtaPortions {
public:
    /// `plan` and `work`, which is of it, must outlive it. `program`: of its CTAs, with any number of steps.
    CtaPortions(const KernelPlan& plan, const CtaWork& work, const CtaProgram& program);

    /// What an instruction of a CTA that does the tiles of these CTAs' numbers, one behind the other, brings
    /// or stores. No blocks: nothing, it is predicated off.
    TileAccess of(const std::vector<std::int64_t>& tiles, Sm::Access access) const;

private:
    /// Instructions of a CTA that share what they access: of each warp, and how many warps there are.
    struct Sharing {
        std::int64_t of_warp = 0, warps = 0;
        std::int64_t all() const { return of_warp * warps; }
    };

    std::int64_t of_tile(std::int64_t cta, Op op) const;
    TileAccess of(std::int64_t cta, const Sm::Access& access) const;
    /// What steps load lies in registers.
    bool into_registers() const {
        return vector_ != nullptr || (gemm_ != nullptr && !gemm_->kernel.on_tensor_cores());
    }
    TileAccess without_columns(TileAccess all) const;
    /// A warp's instruction of that number: which of those of a step, or of all stores, and of how many.
    struct Turn {
        std::int64_t index = 0, count = 1;
    };
    Turn turn_of_load(std::int64_t step, const Sm::Access& access) const;
    Turn turn_of_store(const Sm::Access& access) const;
    /// Load `number` of a warp outside of steps.
    TileAccess loaded(std::int64_t cta, const Sm::Access& access, std::int64_t number) const;

    const CtaWork& work_;
    const GemmPlan* gemm_;      ///< null: a kernel that streams, or
    const VectorPlan* vector_;  ///< one of the others that no tensor core works in
    Sharing copies_;            ///< of a step; loads, if it has those
    Sharing loads_, stores_;
    std::vector<int> before_;  ///< by role, of the others: warps of roles ahead of it, which access alike
};

}  // namespace systole::simt
