// SPDX-License-Identifier: Apache-2.0
// What each instruction does once it issues.
#include <algorithm>

#include "models/devices/simt/sm/sm.h"
#include "sim/base/check.h"

namespace systole::simt {
namespace {

/// Of groups that are complete at those times. Answers how many were forgotten.
template <class Groups, class Complete>
std::int64_t forget_complete(Groups& groups, std::int64_t at, const Complete& complete) {
    const auto under_way =
        std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return complete(group) > at; });
    const auto count = under_way - groups.begin();
    groups.erase(groups.begin(), under_way);
    return count;
}

}  // namespace

void Sm::execute(SubCore& core, Warp& warp, const Instruction& next, std::int64_t at) {
    Cta& cta = ctas_[warp.cta];
    const auto latency = [&](const PipeSpec& pipe) {
        return next.amount > 0 ? next.amount : pipe.latency.value();
    };
    switch (next.op) {
        case Op::Integer:
            (spec_.one_pipe ? core.fp32 : core.integer) = at + spec_.integer.interval.value();
            return warp.registers.write(next.writes, at + latency(spec_.integer), Producer::Pipe);
        case Op::Fp32:
            core.fp32 = at + spec_.fp32.interval.value();
            return warp.registers.write(next.writes, at + latency(spec_.fp32), Producer::Pipe);
        case Op::Special:
            (spec_.one_pipe ? core.fp32 : core.special) = at + spec_.special.interval.value();
            return warp.registers.write(next.writes, at + spec_.special.latency.value(), Producer::Pipe);
        case Op::Mma:
        case Op::Fma:
        case Op::GroupMma:
            if (cta.trace.first_mma < 0) cta.trace.first_mma = at;
            return multiply(core, warp, next, at);
        case Op::TensorMma:
            if (cta.trace.first_mma < 0) cta.trace.first_mma = at;
            return multiply_on_all(warp, next, at);
        case Op::TensorCopy:
            return copy_to_tensor(warp, next, at);
        case Op::CommitTensor:
            return arrive(warp.cta, static_cast<std::size_t>(barrier_of(warp, next)),
                          std::max(at, warp.open_mmas) + spec_.barrier_latency.value(), Loss::Dependency);
        case Op::TensorLoad:
            return load_sums(core, warp, next, at);
        case Op::CommitMmas:
            warp.mmas.push_back(warp.open_mmas);
            return;
        case Op::WaitMmas:
            forget_complete(warp.mmas, at, [](std::int64_t end) { return end; });
            return;
        case Op::CommitCopies:
            if (warp.counts_steps) cta.trace.requests.push_back(at);
            if (warp.copies.empty() && warp.step == 0)
                cta.trace.first_data = std::max(cta.trace.first_data, warp.open_copies.ready);
            warp.copies.push_back(warp.open_copies);
            warp.open_copies.missing = 0;
            return;
        case Op::WaitCopies:
            warp.groups_behind +=
                forget_complete(warp.copies, at, [](const CopyGroup& group) { return group.complete(); });
            return;
        case Op::WaitStores:
            warp.reads.clear();
            return;
        case Op::WaitReads:
            forget_complete(warp.reads, at, [](std::int64_t end) { return end; });
            return;
        case Op::SharedLoad:
        case Op::SharedStore:
            return touch_shared(warp, next, at);
        case Op::BulkStore:
        case Op::GlobalStore:
            return store(warp, next, at);
        case Op::GlobalLoad:
            return next.addresses ? load(warp, next, at) : copy(warp, next, at);
        case Op::TableLoad:
            lsu_ = std::max(lsu_, at) + spec_.lsu_interval.value();
            return warp.registers.write(next.writes, lsu_ + next.amount, Producer::Memory);
        case Op::StepLoad:
        case Op::AsyncCopy:
        case Op::BulkCopy:
            return copy(warp, next, at);
        case Op::Arrive:
            return arrive(warp.cta, static_cast<std::size_t>(barrier_of(warp, next)),
                          at + spec_.barrier_latency.value(), Loss::Dependency);
        case Op::Await:
            ++warp.waited[static_cast<std::size_t>(barrier_of(warp, next))];
            return;
    }
}

void Sm::multiply(SubCore& core, Warp& warp, const Instruction& next, std::int64_t at) {
    const std::int64_t begin = std::max(at, core.tensor);
    std::int64_t interval =
        ceil_div(next.op == Op::Mma ? next.amount * spec_.tensor.sync_slower : next.amount, macs_);
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
        warp.open_mmas = sums, warp.mma_begins = begin;
    else if (next.op == Op::Fma)
        core.fp32 = core.tensor,
        warp.registers.write(next.writes, std::max(core.tensor, at + spec_.fp32.latency.value()),
                             Producer::Pipe);
    else
        warp.registers.write(next.writes, sums, Producer::Pipe);
}

// All tensor cores work on its rows; instructions wait for each other in a queue of their own.
void Sm::multiply_on_all(Warp& warp, const Instruction& next, std::int64_t at) {
    std::int64_t begin = at;
    for (const SubCore& core : cores_) begin = std::max(begin, core.tensor);
    const std::int64_t interval = std::max(ceil_div(next.amount, macs_ * spec_.sub_cores),
                                           ceil_div(next.bytes, spec_.shared.bytes_per_cycle.value()));
    for (SubCore& core : cores_) {
        core.time.charge(warp.stalls, begin);
        core.tensor = begin + interval;
        core.time.work(core.tensor);
    }
    warp.stalls.clear();
    warp.open_mmas = begin + interval + spec_.tensor.latency.value();
    CtaTrace& trace = ctas_[warp.cta].trace;
    trace.last_mma_end = std::max(trace.last_mma_end, begin + interval);
}

// What tcgen05.cp and tcgen05.mma of a thread do is done in the order in which they are issued (PTX ISA,
// pipelined tcgen05 instructions).
void Sm::copy_to_tensor(Warp& warp, const Instruction& next, std::int64_t at) {
    std::int64_t begin = at;
    for (const SubCore& core : cores_) begin = std::max(begin, core.tensor);
    const std::int64_t end = through_shared(next.bytes, begin);
    for (SubCore& core : cores_) {
        core.time.charge(warp.stalls, begin);
        core.tensor = end;
    }
    warp.stalls.clear();
    remember(warp.stalls, end, Loss::OnChip);
}

void Sm::load_sums(SubCore& core, Warp& warp, const Instruction& next, std::int64_t at) {
    core.tensor_read = at + ceil_div(next.bytes, spec_.tensor.memory.bytes_per_cycle.value());
    warp.registers.write(next.writes, core.tensor_read - 1 + spec_.tensor.memory.latency.value(),
                         Producer::Shared);
}

std::int64_t Sm::through_shared(std::int64_t bytes, std::int64_t at) {
    shared_ = std::max(shared_, at) + ceil_div(bytes, spec_.shared.bytes_per_cycle.value());
    return shared_;
}

void Sm::touch_shared(Warp& warp, const Instruction& next, std::int64_t at) {
    const std::int64_t begin = std::max(lsu_, at);
    lsu_ = begin + spec_.lsu_interval.value();
    const std::int64_t cycles = ceil_div(next.bytes, spec_.shared.bytes_per_cycle.value());
    const std::int64_t last = through_shared(next.bytes, begin);
    if (next.op == Op::SharedLoad)
        warp.registers.write(next.writes,
                             last - std::min<std::int64_t>(cycles, 1) + spec_.shared.latency.value(),
                             Producer::Shared);
}

void Sm::store(Warp& warp, const Instruction& next, std::int64_t at) {
    const std::int64_t begin = std::max(lsu_, at);
    lsu_ = begin + spec_.lsu_interval.value();
    const std::int64_t leaves = next.op == Op::GlobalStore ? lsu_ : through_shared(next.bytes, at);
    if (next.op == Op::BulkStore) {
        stores_out_ =
            std::max(stores_out_, leaves) + ceil_div(next.bytes, spec_.store_bytes_per_cycle.value());
        warp.reads.push_back(stores_out_);
    }
    const std::int64_t request = requests_++;
    const std::int64_t done =
        accesses_({next.op, next.bytes, leaves, warp.cta, warp.number, warp.stored++, request, warp.role});
    if (next.op == Op::GlobalStore) {
        // The L1 is written through: what is behind a store waits until the SM's port has taken it.
        lsu_ = std::max(lsu_, begin + ceil_div(next.bytes, spec_.store_bytes_per_cycle.value()));
    } else if (done == kLater) {
        fetch_later(warp, next, request);
    } else {
        warp.stores_done = std::max(warp.stores_done, done);
    }
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
    // Its rows leave one by one; those outside the tensor are made up there.
    std::int64_t least = 0;
    if (next.op == Op::BulkCopy && spec_.bulk_copy_bytes_per_cycle > Bytes(0)) {
        leaves = std::max(leaves, bulk_copies_);
        least = bulk_copies_ = leaves + ceil_div(next.bytes, spec_.bulk_copy_bytes_per_cycle.value());
    }
    if (trace.first_request < 0) trace.first_request = leaves;
    const std::int64_t request = requests_++;
    const std::int64_t number = next.op == Op::GlobalLoad ? warp.loaded++ : warp.copied++;
    std::int64_t data =
        accesses_({next.op, next.bytes, leaves, warp.cta, warp.number, number, request, warp.role});
    if (next.op == Op::BulkCopy && next.amount != 0) trace.requests.push_back(leaves);
    if (data == kLater) return fetch_later(warp, next, request, least);
    data = std::max(data, least);
    SYSTOLE_CHECK(data >= leaves, "data of a request at {} are there at {}", leaves, data);
    if (next.op == Op::GlobalLoad) return warp.registers.write(next.writes, data, Producer::Memory);
    if (next.op == Op::StepLoad) {
        // Those of the first step; others leave when products have begun.
        if (trace.first_mma < 0) trace.first_data = std::max(trace.first_data, data);
        return warp.registers.write(next.writes, data, Producer::Memory);
    }
    warp.open_copies.ready = std::max(warp.open_copies.ready, data);
    if (next.op != Op::BulkCopy) return;
    arrive(warp.cta, static_cast<std::size_t>(barrier_of(warp, next)), data, Loss::Memory);
    if (next.amount != 0 && trace.first_data < 0) trace.first_data = warp.open_copies.ready;
}

void Sm::fetch_later(Warp& warp, const Instruction& next, std::int64_t request, std::int64_t least) {
    Fetch fetch;
    fetch.least = least;
    fetch.warp = static_cast<std::size_t>(&warp - warps_.data());
    if (next.op == Op::GlobalLoad || next.op == Op::StepLoad) {
        fetch.registers = next.writes;
        warp.registers.write(next.writes, kNever, Producer::Memory);
    } else if (next.op == Op::BulkStore) {
        fetch.store = true;
        ++warp.stores_under_way;
    } else if (next.op == Op::BulkCopy) {
        fetch.barrier = static_cast<std::size_t>(barrier_of(warp, next));
    } else {
        fetch.group = warp.groups_behind + static_cast<std::int64_t>(warp.copies.size());
        ++warp.open_copies.missing;
    }
    ++ctas_[warp.cta].awaited;
    fetches_.emplace(request, fetch);
}

void Sm::fetched(const Fetch& fetch, std::int64_t at) {
    Warp& warp = warps_[fetch.warp];
    --ctas_[warp.cta].awaited;
    if (fetch.store) {
        --warp.stores_under_way;
        warp.stores_done = std::max(warp.stores_done, at);
        return;
    }
    if (fetch.barrier) return arrive(warp.cta, *fetch.barrier, std::max(at, fetch.least), Loss::Memory);
    if (!fetch.group) return warp.registers.write(fetch.registers, at, Producer::Memory);
    const auto group = static_cast<std::size_t>(*fetch.group - warp.groups_behind);
    CopyGroup& copies = group < warp.copies.size() ? warp.copies[group] : warp.open_copies;
    copies.ready = std::max(copies.ready, at);
    --copies.missing;
}

void Sm::arrive(std::size_t cta, std::size_t number, std::int64_t at, Loss loss) {
    Mbarrier& barrier = ctas_[cta].barriers[number];
    if (at >= barrier.last) barrier.last = at, barrier.loss = loss;
    if (--barrier.missing > 0) return;
    barrier.phases.push_back({barrier.last, barrier.loss});
    barrier.missing = barrier.expected;
    release();
}

bool Sm::leave_body(SubCore& core, Warp& warp, std::int64_t at) {
    const Section& section = (*warp.program)[warp.section];
    warp.index = 0;
    if (section.steps) {
        ++warp.step;
        // Products in tensor memory are issued far ahead of their turn.
        CtaTrace& trace = ctas_[warp.cta].trace;
        const bool ahead = ctas_[warp.cta].program->tensor > Bytes(0);
        if (warp.counts_steps) trace.steps.push_back(ahead ? std::max(at, trace.last_mma_end) : at);
    }
    if (++warp.trip < section.trips) return false;
    warp.trip = 0;
    do ++warp.section;
    while (warp.section < warp.program->size() &&
           ((*warp.program)[warp.section].body.empty() || (*warp.program)[warp.section].trips == 0));
    if (warp.section < warp.program->size()) return false;
    core.time.charge(warp.stalls, at + 1);
    Cta& cta = ctas_[warp.cta];
    if (--cta.warps_left > 0) return true;
    cta.trace.end = at + 1;
    ended_.push_back(warp.cta);
    return true;
}

}  // namespace systole::simt
