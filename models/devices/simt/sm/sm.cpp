// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/sm/sm.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole::simt {
namespace {

/// What a warp that waits for a value waits for.
Loss loss_of(Producer producer) {
    switch (producer) {
        case Producer::Shared:
            return Loss::OnChip;
        case Producer::Memory:
            return Loss::Memory;
        case Producer::Pipe:
            break;
    }
    return Loss::Dependency;
}

/// What a tensor core's time is lost to while a warp issues this.
Loss loss_of(Op op) {
    return op == Op::Integer || op == Op::Fp32 || op == Op::Special ? Loss::Vector : Loss::OnChip;
}

/// Of each of its threads, which its sub-core computes.
bool has_addresses(Op op) {
    switch (op) {
        case Op::SharedLoad:
        case Op::SharedStore:
        case Op::AsyncCopy:
        case Op::GlobalLoad:
        case Op::TableLoad:
        case Op::StepLoad:
        case Op::GlobalStore:
            return true;
        default:
            return false;
    }
}

/// Until at most `left` of the groups, which are complete at those times, are under way.
template <class Groups, class Complete>
std::int64_t time_of_wait(const Groups& groups, std::int64_t left, const Complete& complete) {
    std::int64_t last = 0;
    for (std::size_t i = 0; i + static_cast<std::size_t>(left) < groups.size(); ++i)
        last = std::max(last, complete(groups[i]));
    return last;
}

}  // namespace

Sm::Sm(const SmSpec& spec, std::int64_t macs_per_cycle, Memory memory, Sectors sectors)
    : Sm(spec, macs_per_cycle, Accesses([memory = std::move(memory)](const Access& access) {
             return memory(access.op, access.bytes, access.at);
         }),
         std::move(sectors)) {}

Sm::Sm(const SmSpec& spec, std::int64_t macs_per_cycle, Accesses accesses, Sectors sectors)
    : spec_(spec),
      macs_(macs_per_cycle),
      accesses_(std::move(accesses)),
      sectors_(std::move(sectors)),
      l1_(spec.l1_capacity),
      cores_(static_cast<std::size_t>(spec.sub_cores)) {
    SYSTOLE_CHECK(macs_per_cycle > 0, "tensor cores without a rate");
}

std::size_t Sm::launch(const CtaProgram& program, std::int64_t at) {
    Cta& cta = ctas_.emplace_back();
    cta.program = &program;
    cta.warps_left = program.warps();
    for (const BarrierSpec& spec : program.barriers) {
        Mbarrier& barrier = cta.barriers.emplace_back();
        barrier.expected = barrier.missing = spec.arrivals;
        if (spec.open) barrier.phases.push_back({at, Loss::Dependency});
    }
    std::size_t place = cta.first_warp = take_places(program);
    for (std::size_t role = 0; role < program.roles.size(); ++role)
        for (int i = 0; i < program.roles[role].warps; ++i) {
            Warp& warp = warps_[place++];
            const std::size_t core = warp.core;
            warp = Warp{};
            warp.core = core;
            warp.cta = ctas_.size() - 1;
            warp.number = i;
            warp.role = static_cast<int>(role);
            warp.program = &program.roles[role].program;
            warp.counts_steps = i == 0 && static_cast<int>(role) == program.step_role;
            warp.next = at;
            warp.waited.resize(program.barriers.size());
        }
    left_ += static_cast<std::size_t>(program.warps());
    if (!spec_.l1_apart) l1_.give(program.shared);
    release();
    return ctas_.size() - 1;
}

/// Of the first of its warps; one that has ended, and as many warps, leaves them in the order of age.
std::size_t Sm::take_places(const CtaProgram& program) {
    const auto count = static_cast<std::size_t>(program.warps());
    const auto left = std::find_if(ended_.begin(), ended_.end(), [&](std::size_t cta) {
        return ctas_[cta].awaited == 0 && ctas_[cta].program->warps() == program.warps();
    });
    if (left == ended_.end()) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t core = warps_.size() % cores_.size();
            cores_[core].warps.push_back({warps_.size()});
            warps_.emplace_back().core = core;
        }
        return warps_.size() - count;
    }
    const std::size_t first = ctas_[*left].first_warp;
    ended_.erase(left);
    for (std::size_t number = first; number < first + count; ++number) {
        SubCore& core = cores_[warps_[number].core];
        const auto at = std::find_if(core.warps.begin(), core.warps.end(),
                                     [&](const WarpSlot& slot) { return slot.warp == number; });
        const auto place = static_cast<std::size_t>(at - core.warps.begin());
        core.warps.erase(at);
        core.warps.push_back({number});
        if (core.last == place)
            core.last = ~std::size_t{0};
        else if (core.last != ~std::size_t{0} && core.last > place)
            --core.last;
    }
    return first;
}

void Sm::run() {
    advance(kNever);
    SYSTOLE_CHECK(left_ == 0, "{} warps wait for each other for ever", left_);
}

std::int64_t Sm::next_issue() {
    return left_ > 0 ? first_core().earliest : kNever;
}

Sm::SubCore& Sm::first_core() {
    // Whoever arrived somewhere may have let others go on.
    if (released_)
        for (SubCore& core : cores_) core.earliest = earliest(core);
    released_ = false;
    return *std::min_element(cores_.begin(), cores_.end(),
                             [](const SubCore& a, const SubCore& b) { return a.earliest < b.earliest; });
}

void Sm::advance(std::int64_t until) {
    while (left_ > 0) {
        SubCore& core = first_core();
        if (core.earliest >= until) return;
        // Others may have made it wait longer since that was computed.
        const std::int64_t at = earliest(core);
        if (at > core.earliest) {
            core.earliest = at;
            continue;
        }
        const std::size_t place = select(core, at);
        issue(core, place, at);
        left_ -= core.warps[place].ended;
        core.earliest = earliest(core);
    }
}

const Instruction& Sm::instruction(const Warp& warp) {
    return (*warp.program)[warp.section].body[warp.index];
}

int Sm::barrier_of(const Warp& warp, const Instruction& instruction) {
    if (instruction.ring == 0) return instruction.barrier;
    return instruction.barrier + static_cast<int>((warp.step - instruction.lag) % instruction.ring);
}

void Sm::release() {
    released_ = true;
    ++releases_;
}

Sm::Readiness Sm::readiness(WarpSlot& slot, const SubCore& core) const {
    if (slot.known != releases_) look_again(slot);
    Readiness ready = slot.ready;
    if (slot.through_lsu) ready.wait(std::max(lsu_, shared_) - spec_.lsu_queue.value(), Loss::OnChip);
    if (slot.pipe != nullptr) ready.wait(core.*slot.pipe, slot.pipe_loss);
    return ready;
}

void Sm::look_again(WarpSlot& slot) const {
    const Warp& warp = warps_[slot.warp];
    const Instruction& next = instruction(warp);
    slot.known = releases_;
    slot.pipe = pipe_of(next.op);
    slot.pipe_loss = loss_of(next.op);
    slot.through_lsu = has_addresses(next.op) || next.op == Op::BulkStore;
    slot.ready = {warp.next, Loss::Dependency};
    const Scoreboard::Wait operands = warp.registers.wait_for(next.reads | next.writes);
    slot.ready.wait(operands.until, loss_of(operands.producer));
    wait_for_others(warp, next, slot.ready);
}

void Sm::wait_for_others(const Warp& warp, const Instruction& next, Readiness& ready) const {
    if (next.op == Op::WaitMmas)
        ready.wait(time_of_wait(warp.mmas, next.amount, [](std::int64_t end) { return end; }),
                   Loss::Dependency);
    // One of a warp's products waits for its turn at a time: groups of warps multiply by turns.
    if (next.op == Op::GroupMma) ready.wait(warp.mma_begins, Loss::OnChip);
    if (next.op == Op::WaitCopies)
        ready.wait(
            time_of_wait(warp.copies, next.amount, [](const CopyGroup& group) { return group.complete(); }),
            Loss::Memory);
    if (next.op == Op::WaitReads)
        ready.wait(time_of_wait(warp.reads, next.amount, [](std::int64_t end) { return end; }), Loss::OnChip);
    if (next.op == Op::WaitStores)
        ready.wait(warp.stores_under_way > 0 ? kNever : warp.stores_done, Loss::Memory);
    if (next.op != Op::Await) return;
    const auto index = static_cast<std::size_t>(barrier_of(warp, next));
    const std::vector<Stall>& phases = ctas_[warp.cta].barriers[index].phases;
    const std::size_t phase = warp.waited[index];
    if (phase < phases.size())
        ready.wait(phases[phase].until, phases[phase].loss);
    else
        ready.wait(kNever, Loss::Dependency);
}

std::int64_t Sm::SubCore::*Sm::pipe_of(Op next) const {
    switch (next) {
        case Op::Integer:
            return spec_.one_pipe ? &SubCore::fp32 : &SubCore::integer;
        case Op::Fp32:
        case Op::Fma:
            return &SubCore::fp32;
        case Op::Special:
            return spec_.one_pipe ? &SubCore::fp32 : &SubCore::special;
        case Op::Mma:
            return &SubCore::tensor;
        case Op::TensorLoad:
            return &SubCore::tensor_read;
        default:
            return has_addresses(next) ? &SubCore::addresses : nullptr;
    }
}

std::int64_t Sm::earliest(SubCore& core) const {
    std::int64_t first = kNever;
    for (WarpSlot& slot : core.warps) {
        // Pipes only make it wait longer.
        if (slot.ended || (slot.known == releases_ && slot.ready.at >= first)) continue;
        first = std::min(first, readiness(slot, core).at);
        if (first <= core.issue) return core.issue;
    }
    return first;
}

std::size_t Sm::select(SubCore& core, std::int64_t at) const {
    const std::size_t count = core.warps.size();
    const bool greedy = spec_.scheduling == WarpScheduling::GreedyThenOldest;
    const auto is_ready = [&](std::size_t place) {
        WarpSlot& slot = core.warps[place];
        return !slot.ended && readiness(slot, core).at <= at;
    };
    if (greedy && core.last < count && is_ready(core.last)) return core.last;
    const std::size_t first = greedy ? 0 : core.last + 1;
    for (std::size_t i = 0; i < count; ++i)
        if (is_ready((first + i) % count)) return (first + i) % count;
    SYSTOLE_CHECK(false, "no warp is ready at cycle {}", at);
}

void Sm::issue(SubCore& core, std::size_t place, std::int64_t at) {
    WarpSlot& slot = core.warps[place];
    Warp& warp = warps_[slot.warp];
    const Readiness ready = readiness(slot, core);
    const Instruction& next = instruction(warp);
    slot.known = -1;
    remember(warp.stalls, ready.at, ready.loss);
    remember(warp.stalls, at, Loss::OnChip);  // another warp issued
    core.last = place;
    core.issue = at + 1;
    warp.next = at + spec_.issue_interval.value();
    ++issued_;
    if (has_addresses(next.op)) core.addresses = at + spec_.lsu_interval_of_sub_core.value();
    execute(core, warp, next, at);
    remember(warp.stalls, at + 1, loss_of(next.op));
    if (++warp.index == (*warp.program)[warp.section].body.size()) slot.ended = leave_body(core, warp, at);
}

std::int64_t Sm::busy(std::int64_t from, std::int64_t until) const {
    std::int64_t sum = 0;
    for (const SubCore& core : cores_) sum += core.time.busy(from, until);
    return sum;
}

LostTime Sm::lost(std::int64_t from, std::int64_t until) const {
    LostTime lost{};
    for (const SubCore& core : cores_) core.time.add_lost(from, until, lost);
    return lost;
}

}  // namespace systole::simt
