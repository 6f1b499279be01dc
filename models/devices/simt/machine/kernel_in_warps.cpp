// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/kernel_in_warps.h"

#include <algorithm>
#include <cmath>

#include "models/devices/simt/machine/cta_program.h"
#include "models/devices/simt/machine/times_in_warps.h"
#include "sim/base/check.h"

namespace systole::simt {
namespace {

int places_of(const KernelPlan& plan) {
    if (const auto* gemm = std::get_if<GemmPlan>(&plan)) return gemm->timing.resident;
    if (const auto* vector = std::get_if<VectorPlan>(&plan)) return vector->timing.resident;
    if (const auto* attention = std::get_if<AttentionPlan>(&plan)) return attention->timing.resident;
    return std::get<StreamPlan>(plan).resident;
}

CtaKind kind_of(const KernelPlan& plan) {
    if (std::holds_alternative<VectorPlan>(plan)) return CtaKind::Fp32;
    if (const auto* attention = std::get_if<AttentionPlan>(&plan))
        return attention->kernel.tile.design == AttentionDesign::Threads ? CtaKind::Fp32 : CtaKind::Tensor;
    const auto* gemm = std::get_if<GemmPlan>(&plan);
    if (gemm == nullptr) return CtaKind::Stream;
    return gemm->kernel.on_tensor_cores() ? CtaKind::Tensor : CtaKind::Fp32;
}

/// Other kernels' tensor cores stand still: any rate will do.
std::int64_t macs_of(const KernelPlan& plan, const SmSpec& sm) {
    const auto* gemm = std::get_if<GemmPlan>(&plan);
    if (const auto* attention = std::get_if<AttentionPlan>(&plan))
        return sm.tensor.macs[static_cast<std::size_t>(attention->kernel.dtype)].value();
    if (gemm != nullptr) return sm.macs(gemm->kernel.shape.dtype);
    const auto* vector = std::get_if<VectorPlan>(&plan);
    return vector != nullptr && vector->macs_per_cycle > 0 ? vector->macs_per_cycle / sm.sub_cores : 1;
}

bool stores_hold(const KernelPlan& plan) {
    const auto* vector = std::get_if<VectorPlan>(&plan);
    return vector == nullptr || !vector->kernel.rounds_as_ctas();
}

/// As many CTAs as the chip holds, if they are persistent.
std::int64_t grid_of(const KernelPlan& plan, std::int64_t ctas, const SmSpec& sm, std::size_t sms) {
    const auto* gemm = std::get_if<GemmPlan>(&plan);
    const auto* attention = std::get_if<AttentionPlan>(&plan);
    const bool persistent = gemm != nullptr ? gemm->kernel.tile.persistent
                                            : attention != nullptr && by_groups(attention->kernel.tile, sm);
    return persistent ? std::min(ctas, static_cast<std::int64_t>(sms) * places_of(plan)) : ctas;
}

std::optional<AttentionPortions> attention_portions(const KernelPlan& plan, const SmSpec& sm) {
    const auto* attention = std::get_if<AttentionPlan>(&plan);
    if (attention == nullptr) return std::nullopt;
    return AttentionPortions(*attention, cta_program(plan, {{2, 0}}, sm),
                             warps_of_rows(attention->kernel.tile, attention->kernel.dtype, sm.warp_threads));
}

std::optional<CtaPortions> other_portions(const KernelPlan& plan, const CtaWork& work, const SmSpec& sm) {
    if (std::holds_alternative<AttentionPlan>(plan)) return std::nullopt;
    return CtaPortions(plan, work, cta_program(plan, {{0, 0}}, sm));
}

}  // namespace

KernelInWarps::KernelInWarps(const KernelPlan& plan, const CtaWork& work, const SimtSpec& spec, Hertz clock,
                             Ticks start)
    : plan_(plan),
      work_(work),
      spec_(spec),
      clock_(clock),
      start_(start),
      attention_(attention_portions(plan, spec.sm)),
      portions_(other_portions(plan, work, spec.sm)),
      sms_(spec, static_cast<std::size_t>(spec.sm.for_clusters(work.cluster())), macs_of(plan, spec.sm),
           [this](std::size_t sm, const Sm::Access& access) {
               const std::vector<std::int64_t>& tiles = of_sm_[sm].ctas[access.cta].tiles;
               return attention_ ? attention_->of(tiles, access) : portions_->of(tiles, access);
           }),
      of_sm_(static_cast<std::size_t>(spec.sm.for_clusters(work.cluster()))),
      answered_(of_sm_.size(), start),
      stores_hold_(stores_hold(plan)),
      grid_(grid_of(plan, work.ctas(), spec.sm, of_sm_.size())),
      deal_(grid_, spec.chiplets.count, neighbours_on_die(plan, spec.kernels)),
      interval_(cycles_between_ctas(plan, spec)),
      handed_(static_cast<std::size_t>(spec.chiplets.count)) {
    for (OfSm& sm : of_sm_) sm.places.resize(static_cast<std::size_t>(places_of(plan)));
}

// Attention's CTAs take the next tile of all when they are through with one: those whose first tile was the
// shortest come first. Turns to and fro stand for that.
std::vector<std::int64_t> KernelInWarps::tiles_of(std::int64_t cta) const {
    std::vector<std::int64_t> tiles;
    for (std::int64_t turn = 0; turn * grid_ < work_.ctas(); ++turn) {
        const bool back = attention_ && turn % 2 == 1;
        const std::int64_t tile = turn * grid_ + (back ? grid_ - 1 - cta : cta);
        if (tile < work_.ctas()) tiles.push_back(tile);
    }
    return tiles;
}

const CtaProgram& KernelInWarps::program(const std::vector<std::int64_t>& tiles) {
    const auto* attention = std::get_if<AttentionPlan>(&plan_);
    const auto masked = [&](std::int64_t tile) {
        return attention ? masked_steps_of(attention->kernel, place_of(attention->kernel, tile)) : 0;
    };
    std::vector<std::array<std::int64_t, 2>> steps;
    for (const std::int64_t tile : tiles) steps.push_back({work_.steps(tile), masked(tile)});
    const auto known = programs_.find(steps);
    if (known != programs_.end()) return known->second;
    return programs_.emplace(steps, cta_program(plan_, steps, spec_.sm)).first->second;
}

Ticks KernelInWarps::next_event() const {
    return next_ < Sm::kNever ? start_ + clock_.edge(Cycles(next_)) : Ticks::max();
}

void KernelInWarps::advance(Ticks now, std::vector<Access>& accesses) {
    const std::int64_t cycle = cycle_of(now);
    leaving_.clear();
    free_places(cycle);
    dispatch(cycle);
    sms_.advance(cycle, leaving_);
    for (SmsInWarps::Leaving& leaving : leaving_) {
        if (leaving.write) stores_.emplace(leaving.number, static_cast<std::size_t>(leaving.tiles.sm));
        accesses.push_back({leaving.number, leaving.write, std::move(leaving.tiles)});
    }
    plan_next(cycle);
}

/// CTAs that have ended leave their places when all that they stored is answered.
void KernelInWarps::free_places(std::int64_t cycle) {
    for (std::size_t number = 0; number < of_sm_.size(); ++number)
        for (Place& place : of_sm_[number].places) {
            if (!place.cta) continue;
            const std::int64_t end = sms_.sm(number).trace(*place.cta).end;
            if (end < 0 || end > cycle || holds(number, place)) continue;
            of_sm_[number].ctas[*place.cta].left = std::max(end, cycle - 1);
            place = {std::nullopt, end};
            --left_;
        }
}

std::int64_t KernelInWarps::die_of(std::size_t sm) const {
    return static_cast<std::int64_t>(sm) * spec_.chiplets.count / static_cast<std::int64_t>(of_sm_.size());
}

// First places of all SMs, in the order of the SMs, then second ones; of a cluster's SMs at once.
void KernelInWarps::dispatch(std::int64_t cycle) {
    const auto cluster = static_cast<std::size_t>(work_.cluster());
    for (std::size_t number = 0; deal_.left() > 0 && number < of_sm_.front().places.size(); ++number)
        for (std::size_t sm = 0; deal_.left() > 0 && sm < of_sm_.size(); sm += cluster) {
            if (deal_.left(die_of(sm)) == 0) continue;
            const auto first = of_sm_.begin() + static_cast<std::ptrdiff_t>(sm);
            if (std::any_of(first, first + static_cast<std::ptrdiff_t>(cluster),
                            [&](const OfSm& one) { return one.places[number].cta.has_value(); }))
                continue;
            for (std::size_t i = sm; i < sm + cluster; ++i) start(i, of_sm_[i].places[number], cycle);
        }
}

/// The cycle in which a die's work distributor, which has one CTA after the other, has handed one over.
std::int64_t KernelInWarps::hand_over(std::int64_t die, std::int64_t cycle) {
    double& last = handed_[static_cast<std::size_t>(die)];
    last = std::max(last, static_cast<double>(cycle)) + interval_;
    return static_cast<std::int64_t>(std::ceil(last));
}

void KernelInWarps::start(std::size_t sm, Place& place, std::int64_t cycle) {
    const std::vector<std::int64_t> tiles = tiles_of(deal_.next(die_of(sm)).first);
    const std::int64_t first = hand_over(die_of(sm), cycle) + spec_.launch.cta.value();
    place.cta = sms_.sm(sm).launch(program(tiles), first);
    of_sm_[sm].ctas.push_back({tiles, cycle, first});
    for (const std::int64_t tile : tiles) {
        macs_ += work_.macs({tile, 1});
        steps_ += work_.steps(tile);
    }
    deal_.take(die_of(sm), 1);
    ++left_;
}

bool KernelInWarps::holds(std::size_t sm, const Place& place) const {
    return stores_hold_ && sms_.storing(sm, *place.cta);
}

void KernelInWarps::plan_next(std::int64_t cycle) {
    next_ = sms_.next();
    for (std::size_t number = 0; number < of_sm_.size(); ++number)
        for (const Place& place : of_sm_[number].places)
            if (place.cta)
                if (const std::int64_t end = sms_.sm(number).trace(*place.cta).end;
                    end >= 0 && !holds(number, place))
                    next_ = std::min(next_, std::max(end, cycle));
}

void KernelInWarps::answered(std::int64_t number, Ticks now) {
    if (const auto store = stores_.find(number); store != stores_.end()) {
        answered_[store->second] = now;
        stores_.erase(store);
    }
    const std::int64_t cycle = clock_.at_or_after(now - start_).value();
    sms_.answered(number, cycle);
    plan_next(cycle);
}

bool KernelInWarps::finished() const {
    return deal_.left() == 0 && left_ == 0 && sms_.quiet();
}

KernelAccount KernelInWarps::finish(Ticks end) {
    SYSTOLE_CHECK(finished(), "{} CTAs at {} ps", left_, end.value());
    KernelAccount account;
    Ticks latest(-1);
    for (std::size_t sm = 0; sm < of_sm_.size(); ++sm) {
        std::vector<CtaSpan> ctas;
        std::int64_t macs = 0;
        for (std::size_t i = 0; i < of_sm_[sm].ctas.size(); ++i) {
            const Sm::CtaTrace& trace = sms_.sm(sm).trace(i);
            if (kind_of(plan_) == CtaKind::Fp32) macs += work_.macs({of_sm_[sm].ctas[i].tiles.front(), 1});
            ctas.push_back({of_sm_[sm].ctas[i].begin, of_sm_[sm].ctas[i].first, trace.first_mma,
                            trace.last_mma_end, trace.end, of_sm_[sm].ctas[i].left});
        }
        const ClassTimes times = times_in_warps(
            sms_.sm(sm), ctas, kind_of(plan_),
            {spec_.sm.sub_cores, clock_.frequency(), to_fine(answered_[sm] - start_), to_fine(end - start_),
             fine_cycles(static_cast<double>(macs) /
                             static_cast<double>(macs_of(plan_, spec_.sm) * spec_.sm.sub_cores),
                         clock_.frequency())});
        for (std::size_t c = 0; c < kSlotClasses; ++c) account.times[c] += times[c];
        if (keeps_histories_)
            account.histories.push_back({static_cast<std::int64_t>(sm), 1, {{to_fine(end), times}}});
        if (ctas.empty()) continue;
        ++account.sms;
        if (answered_[sm] <= latest) continue;
        latest = answered_[sm];
        account.last = times;
    }
    const auto sms = static_cast<std::int64_t>(of_sm_.size());
    account.times[static_cast<std::size_t>(SlotClass::Tail)] +=
        Int128{to_fine(end - start_).value()} * (spec_.sm.count - sms);
    if (keeps_histories_ && sms < spec_.sm.count) {
        ClassTimes idle{};
        idle[static_cast<std::size_t>(SlotClass::Tail)] = to_fine(end - start_).value();
        account.histories.push_back({sms, spec_.sm.count - sms, {{to_fine(end), idle}}});
    }
    account.cluster = work_.cluster();
    account.macs = macs_;
    account.ctas = work_.ctas();
    account.steps = steps_;
    account.waves = ceil_div(account.ctas, sms * places_of(plan_));
    account.groups = sms;
    return account;
}

}  // namespace systole::simt
