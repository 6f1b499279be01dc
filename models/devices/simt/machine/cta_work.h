// SPDX-License-Identifier: Apache-2.0
// What CTAs of a kernel read, compute and write, by their numbers: which bytes, not when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/machine/tile_access.h"
#include "sim/base/units.h"

namespace systole::simt {

/// CTAs first, first + stride …, `count` of them, one on each of as many SMs.
struct CtaRange {
    std::int64_t first = 0, count = 1;
    std::int64_t stride = 1;  ///< of several dies, among which CTAs are dealt one by one
    /// Behind the last one.
    std::int64_t end() const { return first + count * stride; }
    /// Those of them that have a smaller number.
    std::int64_t below(std::int64_t cta) const {
        return cta <= first ? 0 : std::min(ceil_div(cta - first, stride), count);
    }
};

class CtaWork {
public:
    virtual ~CtaWork() = default;
    virtual std::int64_t ctas() const = 0;
    /// CTAs of a cluster, which have numbers behind each other and as many steps; `ctas` is a multiple.
    virtual std::int64_t cluster() const { return 1; }
    /// Of one CTA; those that take different numbers of steps are not alike.
    virtual std::int64_t steps(std::int64_t cta) const = 0;
    /// No other does the same: it is never one of several in a range.
    virtual bool alone(std::int64_t) const { return false; }
    /// CTAs, all `alone` and begun before it, whose results this one reads behind its last step: not before
    /// they are stored.
    virtual std::vector<std::int64_t> waits_for(std::int64_t) const { return {}; }
    /// What the CTAs of a range load together for one of their steps, or, behind the last one, for their
    /// epilogue (in up to two requests, as CtaTimes::source says), and what they store together.
    virtual TileAccess reads(CtaRange range, std::int64_t step) const = 0;
    virtual TileAccess writes(CtaRange range) const = 0;
    /// What one CTA asks for by itself: of blocks that its cluster takes together, its part.
    virtual TileAccess reads_of_one(std::int64_t cta, std::int64_t step) const {
        return reads({cta, 1}, step);
    }
    /// Multiply-accumulates on real data.
    virtual std::int64_t macs(CtaRange range) const = 0;
};

/// Of every kernel but collectives, which have no CTAs to hand out. `plan` must outlive it.
std::unique_ptr<CtaWork> work_of(const KernelPlan& plan);

}  // namespace systole::simt
