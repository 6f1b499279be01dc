// SPDX-License-Identifier: Apache-2.0
// All caches between the SMs and the memory: the L2, or one on each of several dies, and what they share, if
// there is one, the memory-side cache.
//
//   in ─► L2 ─► memory                                            one die
//   in ─► to_dies ─► L2s ─► to_cache ─► memory-side cache ─► memory   several (or none of the latter two)
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "models/devices/simt/machine/die_network.h"
#include "models/devices/simt/machine/l2.h"
#include "models/devices/simt/machine/mmu.h"
#include "models/devices/simt/spec/spec.h"
#include "models/memory/dram.h"
#include "sim/account/byte_ledger.h"
#include "sim/account/invariants.h"
#include "sim/account/run_result.h"

namespace systole::simt {

/// Its parts are modules of the one in whose constructor it is made.
class Caches {
public:
    Caches(const SimtSpec& spec, ByteLedger& ledger);

    /// Between those who ask and the memory.
    void bind(Mmu& mmu, Dram& dram);

    /// The SMs' clock from now on, which L2s follow. A memory-side cache keeps its own.
    void run_at(Hertz clock);

    /// Several L2s do not see each other's lines.
    bool apart() const { return l2s_.size() > 1; }
    /// What is dirty in the dies' L2s is written back; `done` is told when all of it is. Only where they are
    /// apart.
    void clean(const std::function<void()>& done);
    /// The last store was answered.
    void end();

    std::vector<Stat> stats() const;
    /// Of each kind of cache, what all of them saw pass.
    std::vector<EndCount> ends() const;

private:
    std::vector<std::unique_ptr<L2>> l2s_;
    std::unique_ptr<DieNetwork> to_dies_, to_cache_;
    std::unique_ptr<L2> memory_side_;
    std::size_t dirty_ = 0;  // L2s that are still being cleaned
};

}  // namespace systole::simt
