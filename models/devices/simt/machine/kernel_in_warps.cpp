// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/kernel_in_warps.h"

#include <algorithm>

#include "models/devices/simt/kernels/gemm_program.h"
#include "models/devices/simt/kernels/stream_program.h"
#include "models/devices/simt/machine/times_in_warps.h"
#include "sim/base/check.h"

namespace systole::simt {
namespace {

int places_of(const KernelPlan& plan) {
    if (const auto* gemm = std::get_if<GemmPlan>(&plan)) return gemm->timing.resident;
    return std::get<StreamPlan>(plan).resident;
}

/// A stream kernel's tensor cores stand still: any rate will do.
std::int64_t macs_of(const KernelPlan& plan, const SmSpec& sm) {
    const auto* gemm = std::get_if<GemmPlan>(&plan);
    return gemm ? sm.tensor.macs[static_cast<std::size_t>(gemm->kernel.shape.dtype)].value() : 1;
}

CtaProgram program_of(const KernelPlan& plan, std::int64_t steps, const SmSpec& sm) {
    const auto* gemm = std::get_if<GemmPlan>(&plan);
    if (gemm == nullptr) return stream_program(std::get<StreamPlan>(plan));
    const GemmShape& shape = gemm->kernel.shape;
    const DType out = gemm->kernel.split_k > 1 ? DType::Fp32 : shape.output;
    return gemm_program(gemm->kernel.tile, {shape.dtype, out}, steps, sm);
}

/// Instructions of one of a role's warps, in all of its program or in one step.
std::int64_t count(const WarpProgram& program, bool of_step, Op op, Op other) {
    std::int64_t sum = 0;
    for (const Section& section : program) {
        const auto own = std::count_if(section.body.begin(), section.body.end(),
                                       [&](const Instruction& i) { return i.op == op || i.op == other; });
        if (!of_step)
            sum += own * section.trips;
        else if (section.steps)
            sum = std::max<std::int64_t>(sum, own);
    }
    return sum;
}

/// Portion `index` of `count`, in whole sectors from the blocks' begin.
TileAccess portion_of(const TileAccess& whole, std::int64_t index, std::int64_t count) {
    std::int64_t bytes = 0;
    for (const TileAccess::Block& block : whole.blocks) bytes += block.bytes;
    const std::int64_t sectors = ceil_div(bytes, kSectorBytes);
    const std::int64_t from = sectors * index / count * kSectorBytes;
    const std::int64_t until = std::min(bytes, sectors * (index + 1) / count * kSectorBytes);
    TileAccess portion;
    portion.short_rows = whole.short_rows;
    std::int64_t at = 0;
    for (TileAccess::Block block : whole.blocks) {
        const std::int64_t begin = std::max(from, at), end = std::min(until, at + block.bytes);
        at += block.bytes;
        if (begin >= end) continue;
        block.address += begin - (at - block.bytes);
        block.bytes = end - begin;
        portion.blocks.push_back(block);
    }
    if (bytes > 0)
        portion.bytes_of_sm = static_cast<std::int64_t>(Int128{whole.bytes_of_sm} * until / bytes -
                                                        Int128{whole.bytes_of_sm} * from / bytes);
    return portion;
}

}  // namespace

KernelInWarps::KernelInWarps(const KernelPlan& plan, const CtaWork& work, const SimtSpec& spec, Hertz clock,
                             Ticks start)
    : plan_(plan),
      work_(work),
      spec_(spec),
      clock_(clock),
      start_(start),
      sms_(spec, static_cast<std::size_t>(spec.sm.count), macs_of(plan, spec.sm),
           [this](std::size_t sm, const Sm::Access& access) { return blocks_of(sm, access); }),
      of_sm_(static_cast<std::size_t>(spec.sm.count)),
      answered_(of_sm_.size(), start) {
    for (OfSm& sm : of_sm_) sm.places.resize(static_cast<std::size_t>(places_of(plan)));
    for (const Role& role : program(work.steps(0)).roles) {
        const auto add = [&](bool of_step, Op op, Op other, std::int64_t& all, std::int64_t& warps) {
            const std::int64_t own = count(role.program, of_step, op, other);
            all += own * role.warps;
            if (own > 0) warps += role.warps;
        };
        add(true, Op::AsyncCopy, Op::BulkCopy, portions_.copies, portions_.copying);
        add(false, Op::GlobalLoad, Op::GlobalLoad, portions_.loads, portions_.loading);
        add(false, Op::GlobalStore, Op::BulkStore, portions_.stores, portions_.storing);
    }
}

const CtaProgram& KernelInWarps::program(std::int64_t steps) {
    const auto known = programs_.find(steps);
    if (known != programs_.end()) return known->second;
    return programs_.emplace(steps, program_of(plan_, steps, spec_.sm)).first->second;
}

TileAccess KernelInWarps::blocks_of(std::size_t sm, const Sm::Access& access) const {
    const Cta& cta = of_sm_[sm].ctas[access.cta];
    const auto portion = [&](const TileAccess& whole, std::int64_t number, std::int64_t all,
                             std::int64_t warps) {
        return portion_of(whole, number * warps + access.warp, all);
    };
    switch (access.op) {
        case Op::GlobalStore:
        case Op::BulkStore:
            return portion(work_.writes({cta.number, 1}), access.number, portions_.stores, portions_.storing);
        case Op::GlobalLoad:
            return portion(work_.reads_of_one(cta.number, 0), access.number, portions_.loads,
                           portions_.loading);
        default:
            break;
    }
    const std::int64_t of_warp = portions_.copies / portions_.copying;
    const std::int64_t step = access.number / of_warp;
    if (step >= cta.steps) return {};  // predicated off
    return portion(work_.reads_of_one(cta.number, step), access.number % of_warp, portions_.copies,
                   portions_.copying);
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
    plan_next();
}

/// CTAs that have ended leave their places at their last instruction's end.
void KernelInWarps::free_places(std::int64_t cycle) {
    for (std::size_t number = 0; number < of_sm_.size(); ++number)
        for (Place& place : of_sm_[number].places) {
            if (!place.cta) continue;
            const std::int64_t end = sms_.sm(number).trace(*place.cta).end;
            if (end < 0 || end > cycle) continue;
            place = {std::nullopt, end};
            --left_;
        }
}

// First places of all SMs, in the order of the SMs, then second ones.
void KernelInWarps::dispatch(std::int64_t cycle) {
    for (std::size_t number = 0; next_cta_ < work_.ctas() && number < of_sm_.front().places.size(); ++number)
        for (std::size_t sm = 0; next_cta_ < work_.ctas() && sm < of_sm_.size(); ++sm) {
            Place& place = of_sm_[sm].places[number];
            if (place.cta) continue;
            const std::int64_t steps = work_.steps(next_cta_);
            place.cta = sms_.sm(sm).launch(program(steps), cycle + spec_.launch.cta.value());
            of_sm_[sm].ctas.push_back({next_cta_, cycle, steps});
            macs_ += work_.macs({next_cta_, 1});
            ++next_cta_;
            ++left_;
        }
}

void KernelInWarps::plan_next() {
    next_ = sms_.next();
    for (std::size_t number = 0; number < of_sm_.size(); ++number)
        for (const Place& place : of_sm_[number].places)
            if (place.cta)
                if (const std::int64_t end = sms_.sm(number).trace(*place.cta).end; end >= 0)
                    next_ = std::min(next_, end);
}

void KernelInWarps::answered(std::int64_t number, Ticks now) {
    if (const auto store = stores_.find(number); store != stores_.end()) {
        answered_[store->second] = now;
        stores_.erase(store);
    }
    sms_.answered(number, clock_.at_or_after(now - start_).value());
    plan_next();
}

bool KernelInWarps::finished() const {
    return next_cta_ == work_.ctas() && left_ == 0 && sms_.quiet();
}

KernelAccount KernelInWarps::finish(Ticks end) {
    SYSTOLE_CHECK(finished(), "{} CTAs at {} ps", left_, end.value());
    KernelAccount account;
    Ticks latest(-1);
    for (std::size_t sm = 0; sm < of_sm_.size(); ++sm) {
        std::vector<CtaSpan> ctas;
        for (std::size_t i = 0; i < of_sm_[sm].ctas.size(); ++i) {
            const Sm::CtaTrace& trace = sms_.sm(sm).trace(i);
            ctas.push_back({of_sm_[sm].ctas[i].begin, of_sm_[sm].ctas[i].begin + spec_.launch.cta.value(),
                            trace.first_mma, trace.last_mma_end, trace.end});
        }
        const ClassTimes times = times_in_warps(
            sms_.sm(sm), ctas, std::holds_alternative<StreamPlan>(plan_),
            {spec_.sm.sub_cores, clock_.frequency(), to_fine(answered_[sm] - start_), to_fine(end - start_)});
        for (std::size_t c = 0; c < kSlotClasses; ++c) account.times[c] += times[c];
        if (ctas.empty()) continue;
        ++account.sms;
        if (answered_[sm] <= latest) continue;
        latest = answered_[sm];
        account.last = times;
    }
    account.macs = macs_;
    account.ctas = work_.ctas();
    account.waves = ceil_div(account.ctas, std::int64_t{spec_.sm.count} * places_of(plan_));
    account.groups = spec_.sm.count;
    return account;
}

}  // namespace systole::simt
