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
    return op == Op::Integer || op == Op::Fp32 ? Loss::Vector : Loss::OnChip;
}

/// Until at most `left` of the groups are under way.
std::int64_t time_of_wait(const std::vector<std::int64_t>& groups, std::int64_t left) {
    const auto count = static_cast<std::int64_t>(groups.size());
    return count > left ? groups[static_cast<std::size_t>(count - left - 1)] : 0;
}

void forget_complete(std::vector<std::int64_t>& groups, std::int64_t at) {
    const auto under_way = std::find_if(groups.begin(), groups.end(), [&](std::int64_t t) { return t > at; });
    groups.erase(groups.begin(), under_way);
}

}  // namespace

Sm::Sm(const SmSpec& spec, std::int64_t macs_per_cycle, Memory memory)
    : spec_(spec),
      macs_(macs_per_cycle),
      memory_(std::move(memory)),
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
    for (std::size_t role = 0; role < program.roles.size(); ++role)
        for (int i = 0; i < program.roles[role].warps; ++i) {
            SubCore& core = cores_[warps_.size() % cores_.size()];
            core.warps.push_back(warps_.size());
            Warp& warp = warps_.emplace_back();
            warp.cta = ctas_.size() - 1;
            warp.program = &program.roles[role].program;
            warp.counts_steps = i == 0 && static_cast<int>(role) == program.step_role;
            warp.next = at;
            warp.waited.resize(program.barriers.size());
        }
    return ctas_.size() - 1;
}

void Sm::run() {
    for (SubCore& core : cores_) core.earliest = earliest(core);
    std::size_t left = 0;
    for (const Warp& warp : warps_) left += !warp.ended;
    while (left > 0) {
        SubCore& core =
            *std::min_element(cores_.begin(), cores_.end(),
                              [](const SubCore& a, const SubCore& b) { return a.earliest < b.earliest; });
        SYSTOLE_CHECK(core.earliest < kNever, "{} warps wait for each other for ever", left);
        // Others may have made it wait longer since that was computed.
        const std::int64_t at = earliest(core);
        if (at > core.earliest) {
            core.earliest = at;
            continue;
        }
        const std::size_t place = select(core, at);
        Warp& warp = warps_[core.warps[place]];
        issue(core, place, at);
        left -= warp.ended;
        core.earliest = earliest(core);
        // Whoever arrived somewhere may have let others go on.
        if (!released_) continue;
        released_ = false;
        for (SubCore& other : cores_) other.earliest = earliest(other);
    }
}

const Instruction& Sm::instruction(const Warp& warp) {
    return (*warp.program)[warp.section].body[warp.index];
}

int Sm::barrier_of(const Warp& warp, const Instruction& instruction) {
    if (instruction.ring == 0) return instruction.barrier;
    return instruction.barrier + static_cast<int>((warp.step - instruction.lag) % instruction.ring);
}

Sm::Readiness Sm::readiness(const Warp& warp, const SubCore& core) const {
    Readiness ready{warp.next, Loss::Dependency};
    const Instruction& next = instruction(warp);
    const Scoreboard::Wait operands = warp.registers.wait_for(next.reads | next.writes);
    ready.wait(operands.until, loss_of(operands.producer));
    wait_for_others(warp, next, ready);
    wait_for_pipe(next, core, ready);
    return ready;
}

void Sm::wait_for_others(const Warp& warp, const Instruction& next, Readiness& ready) const {
    if (next.op == Op::WaitMmas) ready.wait(time_of_wait(warp.mmas, next.amount), Loss::Dependency);
    if (next.op == Op::WaitCopies) ready.wait(time_of_wait(warp.copies, next.amount), Loss::Memory);
    if (next.op != Op::Await) return;
    const auto index = static_cast<std::size_t>(barrier_of(warp, next));
    const std::vector<Stall>& phases = ctas_[warp.cta].barriers[index].phases;
    const std::size_t phase = warp.waited[index];
    if (phase < phases.size())
        ready.wait(phases[phase].until, phases[phase].loss);
    else
        ready.wait(kNever, Loss::Dependency);
}

void Sm::wait_for_pipe(const Instruction& next, const SubCore& core, Readiness& ready) const {
    switch (next.op) {
        case Op::Integer:
            return ready.wait(core.integer, Loss::Vector);
        case Op::Fp32:
            return ready.wait(core.fp32, Loss::Vector);
        case Op::Mma:
            return ready.wait(core.tensor, Loss::OnChip);
        case Op::SharedLoad:
        case Op::SharedStore:
        case Op::AsyncCopy:
        case Op::BulkStore:
        case Op::GlobalLoad:
        case Op::GlobalStore:
            return ready.wait(std::max(lsu_, shared_) - spec_.lsu_queue.value(), Loss::OnChip);
        default:
            return;
    }
}

std::int64_t Sm::earliest(const SubCore& core) const {
    std::int64_t first = kNever;
    for (const std::size_t number : core.warps)
        if (!warps_[number].ended) first = std::min(first, readiness(warps_[number], core).at);
    return std::max(first, core.issue);
}

std::size_t Sm::select(const SubCore& core, std::int64_t at) const {
    const std::size_t count = core.warps.size();
    const bool greedy = spec_.scheduling == WarpScheduling::GreedyThenOldest;
    const auto is_ready = [&](std::size_t place) {
        const Warp& warp = warps_[core.warps[place]];
        return !warp.ended && readiness(warp, core).at <= at;
    };
    if (greedy && core.last < count && is_ready(core.last)) return core.last;
    const std::size_t first = greedy ? 0 : core.last + 1;
    for (std::size_t i = 0; i < count; ++i)
        if (is_ready((first + i) % count)) return (first + i) % count;
    SYSTOLE_CHECK(false, "no warp is ready at cycle {}", at);
}

void Sm::issue(SubCore& core, std::size_t place, std::int64_t at) {
    Warp& warp = warps_[core.warps[place]];
    const Instruction& next = instruction(warp);
    const Readiness ready = readiness(warp, core);
    remember(warp, ready.at, ready.loss);
    remember(warp, at, Loss::OnChip);  // another warp issued
    core.last = place;
    core.issue = at + 1;
    warp.next = at + 1;
    ++issued_;
    execute(core, warp, next, at);
    remember(warp, at + 1, loss_of(next.op));
    if (++warp.index == (*warp.program)[warp.section].body.size()) end_of_body(core, warp, at);
}

void Sm::remember(Warp& warp, std::int64_t until, Loss loss) {
    if (!warp.stalls.empty() && until <= warp.stalls.back().until) return;
    if (!warp.stalls.empty() && warp.stalls.back().loss == loss)
        warp.stalls.back().until = until;
    else
        warp.stalls.push_back({until, loss});
}

void Sm::execute(SubCore& core, Warp& warp, const Instruction& next, std::int64_t at) {
    Cta& cta = ctas_[warp.cta];
    switch (next.op) {
        case Op::Integer:
            core.integer = at + spec_.integer.interval.value();
            return warp.registers.write(next.writes, at + spec_.integer.latency.value(), Producer::Pipe);
        case Op::Fp32:
            core.fp32 = at + spec_.fp32.interval.value();
            return warp.registers.write(next.writes, at + spec_.fp32.latency.value(), Producer::Pipe);
        case Op::Mma:
        case Op::GroupMma:
            if (cta.trace.first_mma < 0) cta.trace.first_mma = at;
            return multiply(core, warp, next, at);
        case Op::CommitMmas:
            warp.mmas.push_back(warp.open_mmas);
            return;
        case Op::WaitMmas:
            return forget_complete(warp.mmas, at);
        case Op::CommitCopies:
            if (warp.counts_steps) cta.trace.requests.push_back(at);
            if (warp.copies.empty() && warp.step == 0)
                cta.trace.first_data = std::max(cta.trace.first_data, warp.open_copies);
            warp.copies.push_back(warp.open_copies);
            return;
        case Op::WaitCopies:
            return forget_complete(warp.copies, at);
        case Op::SharedLoad:
        case Op::SharedStore:
        case Op::BulkStore:
        case Op::GlobalStore:
            return touch_shared(warp, next, at);
        case Op::AsyncCopy:
        case Op::BulkCopy:
        case Op::GlobalLoad:
            return copy(warp, next, at);
        case Op::Arrive:
            return arrive(warp, next, at + spec_.barrier_latency.value(), Loss::Dependency);
        case Op::Await:
            ++warp.waited[static_cast<std::size_t>(barrier_of(warp, next))];
            return;
    }
}

void Sm::multiply(SubCore& core, Warp& warp, const Instruction& next, std::int64_t at) {
    const std::int64_t begin = std::max(at, core.tensor);
    std::int64_t interval = ceil_div(next.amount, macs_);
    // The sub-cores that a group of warps is on read its operands at the same time.
    if (next.op == Op::GroupMma)
        interval =
            std::max(interval, ceil_div(next.bytes * spec_.sub_cores, spec_.shared.bytes_per_cycle.value()));
    charge_idle(core, warp, begin);
    warp.stalls.clear();
    core.tensor = begin + interval;
    ctas_[warp.cta].trace.last_mma_end = std::max(ctas_[warp.cta].trace.last_mma_end, core.tensor);
    core.pieces.push_back({core.tensor, -1});
    const std::int64_t sums = core.tensor + spec_.tensor.latency.value();
    if (next.op == Op::GroupMma)
        warp.open_mmas = sums;
    else
        warp.registers.write(next.writes, sums, Producer::Pipe);
}

std::int64_t Sm::through_shared(std::int64_t bytes, std::int64_t at) {
    shared_ = std::max(shared_, at) + ceil_div(bytes, spec_.shared.bytes_per_cycle.value());
    return shared_;
}

void Sm::touch_shared(Warp& warp, const Instruction& next, std::int64_t at) {
    lsu_ = std::max(lsu_, at) + spec_.lsu_interval.value();
    if (next.op == Op::GlobalStore) {
        memory_(next.op, next.bytes, lsu_);
        lsu_ += ceil_div(next.bytes, spec_.l1_bytes_per_cycle.value());
        return;
    }
    const std::int64_t cycles = ceil_div(next.bytes, spec_.shared.bytes_per_cycle.value());
    const std::int64_t last = through_shared(next.bytes, at);
    if (next.op == Op::SharedLoad)
        warp.registers.write(next.writes,
                             last - std::min<std::int64_t>(cycles, 1) + spec_.shared.latency.value(),
                             Producer::Shared);
    if (next.op == Op::BulkStore) memory_(next.op, next.bytes, last);
}

void Sm::copy(Warp& warp, const Instruction& next, std::int64_t at) {
    CtaTrace& trace = ctas_[warp.cta].trace;
    std::int64_t leaves = at + spec_.bulk_copy_issue.value();
    if (next.op != Op::BulkCopy) {
        lsu_ = std::max(lsu_, at) +
               std::max(spec_.lsu_interval.value(), ceil_div(next.bytes, spec_.l1_bytes_per_cycle.value()));
        leaves = lsu_;
        if (next.op == Op::AsyncCopy) through_shared(next.bytes, at);
    }
    if (trace.first_request < 0) trace.first_request = leaves;
    const std::int64_t data = memory_(next.op, next.bytes, leaves);
    SYSTOLE_CHECK(data >= leaves, "data of a request at {} are there at {}", leaves, data);
    if (next.op == Op::GlobalLoad) return warp.registers.write(next.writes, data, Producer::Memory);
    warp.open_copies = std::max(warp.open_copies, data);
    if (next.op != Op::BulkCopy) return;
    arrive(warp, next, data, Loss::Memory);
    if (next.amount == 0) return;
    trace.requests.push_back(at);
    if (trace.first_data < 0) trace.first_data = warp.open_copies;
}

void Sm::arrive(Warp& warp, const Instruction& next, std::int64_t at, Loss loss) {
    Mbarrier& barrier = ctas_[warp.cta].barriers[static_cast<std::size_t>(barrier_of(warp, next))];
    if (at >= barrier.last) barrier.last = at, barrier.loss = loss;
    if (--barrier.missing > 0) return;
    barrier.phases.push_back({barrier.last, barrier.loss});
    barrier.missing = barrier.expected;
    released_ = true;
}

void Sm::charge_idle(SubCore& core, Warp& warp, std::int64_t until) {
    for (const Stall& stall : warp.stalls) {
        const std::int64_t end = std::min(stall.until, until);
        if (end > core.covered()) core.pieces.push_back({end, static_cast<std::int8_t>(stall.loss)});
    }
    if (until > core.covered()) core.pieces.push_back({until, static_cast<std::int8_t>(Loss::Dependency)});
}

void Sm::end_of_body(SubCore& core, Warp& warp, std::int64_t at) {
    const Section& section = (*warp.program)[warp.section];
    warp.index = 0;
    if (section.steps) {
        ++warp.step;
        if (warp.counts_steps) ctas_[warp.cta].trace.steps.push_back(at);
    }
    if (++warp.trip < section.trips) return;
    warp.trip = 0;
    do ++warp.section;
    while (warp.section < warp.program->size() &&
           ((*warp.program)[warp.section].body.empty() || (*warp.program)[warp.section].trips == 0));
    if (warp.section < warp.program->size()) return;
    warp.ended = true;
    charge_idle(core, warp, at + 1);
    Cta& cta = ctas_[warp.cta];
    if (--cta.warps_left == 0) cta.trace.end = at + 1;
}

std::int64_t Sm::busy(std::int64_t from, std::int64_t until) const {
    std::int64_t sum = 0;
    for (const SubCore& core : cores_) {
        std::int64_t begin = 0;
        for (const Piece& piece : core.pieces) {
            if (piece.loss < 0)
                sum += std::max<std::int64_t>(0, std::min(piece.end, until) - std::max(begin, from));
            begin = piece.end;
        }
    }
    return sum;
}

LostTime Sm::lost(std::int64_t from, std::int64_t until) const {
    LostTime lost{};
    for (const SubCore& core : cores_) {
        std::int64_t begin = 0;
        for (const Piece& piece : core.pieces) {
            const auto overlap =
                std::max<std::int64_t>(0, std::min(piece.end, until) - std::max(begin, from));
            if (piece.loss >= 0) lost[static_cast<std::size_t>(piece.loss)] += overlap;
            begin = piece.end;
        }
        lost[static_cast<std::size_t>(Loss::Dependency)] +=
            std::max<std::int64_t>(0, until - std::max(begin, from));
    }
    return lost;
}

}  // namespace systole::simt
