// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/steady_steps.h"

#include <algorithm>

namespace systole::simt {
namespace {

/// Of a run, from when all CTAs are in their main loops until the first one leaves it.
struct Window {
    std::int64_t from = 0, until = Sm::kNever;
};

/// When the CTA had issued so many steps and one; Sm::kNever: not yet.
std::int64_t step_of(const Sm& sm, int cta, std::int64_t step) {
    const auto& steps = sm.trace(static_cast<std::size_t>(cta)).steps;
    return step < std::ssize(steps) ? steps[static_cast<std::size_t>(step)] : Sm::kNever;
}

Window steady_window(const Sm& sm, int ctas) {
    Window window;
    for (int cta = 0; cta < ctas; ++cta) {
        window.from = std::max(window.from, step_of(sm, cta, kSteadyWarmUp));
        window.until = std::min(window.until, step_of(sm, cta, kSteadySteps - 2));
    }
    // Where the greedy scheduler lets a CTA run through before another begins there is none.
    if (window.from >= window.until) window.from = 0;
    return window;
}

/// How time in a window goes by: shares of it.
struct Shares {
    double busy = 0;
    LostCycles lost;
};

Shares shares_of(const Sm& sm, const Window& window, int sub_cores) {
    const auto slots = static_cast<double>(sub_cores * (window.until - window.from));
    const LostTime lost = sm.lost(window.from, window.until);
    const auto of = [&](Loss loss) {
        return static_cast<double>(lost[static_cast<std::size_t>(loss)]) / slots;
    };
    return {static_cast<double>(sm.busy(window.from, window.until)) / slots,
            {of(Loss::OnChip), of(Loss::Dependency) + of(Loss::Memory), of(Loss::Vector)}};
}

LostCycles times(double cycles, const LostCycles& share) {
    return {cycles * share.on_chip, cycles * share.dependency, cycles * share.vector};
}

}  // namespace

// What issues from `until` on ends no step before it.
void run_steady(Sm& sm, int ctas) {
    constexpr std::int64_t kSome = 1000;  // cycles between two looks
    while (!sm.finished() && sm.next_issue() < Sm::kNever) {
        const std::int64_t until = steady_window(sm, ctas).until;
        if (sm.next_issue() >= until && sm.accounted() >= until) return;
        sm.advance(sm.next_issue() + kSome);
    }
    sm.run();
}

void take_alone(const Sm& sm, int sub_cores, CtaTiming& timing) {
    const Window window = steady_window(sm, 1);
    const Shares shares = shares_of(sm, window, sub_cores);
    timing.interval_alone = static_cast<double>(window.until - window.from) /
                            static_cast<double>(kSteadySteps - 2 - kSteadyWarmUp);
    timing.busy = timing.interval_alone * shares.busy;
    timing.lost_alone = times(timing.interval_alone, shares.lost);
}

void take_full(const Sm& sm, int sub_cores, CtaTiming& timing) {
    const Shares shares = shares_of(sm, steady_window(sm, timing.resident), sub_cores);
    timing.interval_full = timing.resident * timing.busy / shares.busy;
    timing.lost_full = times(timing.interval_full, shares.lost);
}

}  // namespace systole::simt
