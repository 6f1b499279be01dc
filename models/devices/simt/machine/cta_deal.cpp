// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/cta_deal.h"

#include <algorithm>
#include <iterator>

#include "sim/base/check.h"

namespace systole::simt {

CtaDeal::CtaDeal(std::int64_t ctas, std::int64_t dies, bool neighbours)
    : of_die_(static_cast<std::size_t>(dies)), left_(ctas) {
    const std::int64_t even = ctas / dies, over = ctas % dies;
    for (std::int64_t die = 0; die < dies; ++die) {
        OfDie& own = of_die_[static_cast<std::size_t>(die)];
        const bool one_more = die < over;
        own.left = even + (one_more ? 1 : 0);
        if (!neighbours) {
            if (own.left > 0) own.runs.push_back({die, own.left, dies});
            continue;
        }
        if (even > 0) own.runs.push_back({die * even, even});
        if (one_more) own.runs.push_back({even * dies + die, 1});
    }
}

bool neighbours_on_die(const KernelPlan& plan, const KernelsSpec& kernels) {
    return kernels.neighbours_on_die && std::holds_alternative<GemmPlan>(plan);
}

void CtaDeal::take(std::int64_t die, std::int64_t count) {
    OfDie& own = of_die_[static_cast<std::size_t>(die)];
    SYSTOLE_CHECK(!own.runs.empty() && 0 < count && count <= own.runs.front().count, "{} CTAs of {}", count,
                  own.left);
    CtaRange& run = own.runs.front();
    run.first += count * run.stride;
    run.count -= count;
    if (run.count == 0) own.runs.pop_front();
    own.left -= count;
    left_ -= count;
}

void CtaDeal::leave_out(std::int64_t count) {
    const std::int64_t dies = std::ssize(of_die_);
    SYSTOLE_CHECK(count % dies == 0, "{} CTAs of {} dies", count, dies);
    for (std::int64_t die = 0; die < dies; ++die) {
        SYSTOLE_CHECK(count / dies < left(die), "all {} CTAs of a die", left(die));
        for (std::int64_t out = count / dies; out > 0;) {
            const std::int64_t some = std::min(out, next(die).count);
            take(die, some);
            out -= some;
        }
    }
}

}  // namespace systole::simt
