// SPDX-License-Identifier: Apache-2.0
// What each instruction does once it issues.
#include <algorithm>

#include "models/devices/simt/sm/sm.h"
#include "sim/base/check.h"

namespace systole::simt {
namespace {

void forget_complete(std::vector<std::int64_t>& groups, std::int64_t at) {
    const auto under_way = std::find_if(groups.begin(), groups.end(), [&](std::int64_t t) { return t > at; });
    groups.erase(groups.begin(), under_way);
}

}  // namespace

void Sm::execute(SubCore& core, Warp& warp, const Instruction& next, std::int64_t at) {
    Cta& cta = ctas_[warp.cta];
    switch (next.op) {
        case Op::Integer:
            core.integer = at + spec_.integer.interval.value();
            return warp.registers.write(next.writes, at + spec_.integer.latency.value(), Producer::Pipe);
        case Op::Fp32:
            core.fp32 = at + spec_.fp32.interval.value();
            return warp.registers.write(next.writes, at + spec_.fp32.latency.value(), Producer::Pipe);
        case Op::Special:
            core.special = at + spec_.special.interval.value();
            return warp.registers.write(next.writes, at + spec_.special.latency.value(), Producer::Pipe);
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
        case Op::GlobalLoad:
            return next.addresses ? load(warp, next, at) : copy(warp, next, at);
        case Op::AsyncCopy:
        case Op::BulkCopy:
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
    core.time.charge(warp.stalls, begin);
    warp.stalls.clear();
    core.tensor = begin + interval;
    ctas_[warp.cta].trace.last_mma_end = std::max(ctas_[warp.cta].trace.last_mma_end, core.tensor);
    core.time.work(core.tensor);
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
    core.time.charge(warp.stalls, at + 1);
    Cta& cta = ctas_[warp.cta];
    if (--cta.warps_left == 0) cta.trace.end = at + 1;
}

}  // namespace systole::simt
