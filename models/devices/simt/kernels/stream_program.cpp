// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/stream_program.h"

#include <algorithm>

#include "models/devices/simt/spec/spec.h"

namespace systole::simt {
namespace {

constexpr std::int64_t kSums = kThreadBytes / 4;                     // of a thread
constexpr std::int64_t kAddresses = 8;                               // instructions behind each other
constexpr std::int64_t kBuffers = 32;                                // registers of loads under way
constexpr RegisterGroups kFirstSum = RegisterGroups{1} << kBuffers;  // as many as kSums
constexpr RegisterGroups kAddress = RegisterGroups{1} << (kBuffers + kSums);

/// Of a warp's load.
std::int64_t row_bytes(const StreamPlan& plan) {
    return plan.warp_threads * kThreadBytes;
}

/// Of each warp: what lies there, shared out among CTAs and their warps.
std::int64_t rows_of(std::int64_t bytes, const StreamPlan& plan) {
    return ceil_div(ceil_div(bytes, plan.ctas), plan.warps * row_bytes(plan));
}

/// What columns have is met again and again: of each CTA, as often as its results do.
std::int64_t column_bytes(const ColumnValues& values, const StreamPlan& plan) {
    return std::min(values.place.bytes.value() * plan.ctas,
                    ceil_div(plan.elements, plan.column_run) * values.value_bytes);
}

RegisterGroups buffer(std::int64_t load) {
    return RegisterGroups{1} << (load % kBuffers);
}

/// All of them, as many at a time as there are buffers; each is added to the sums when its buffer is needed.
void add_up(std::int64_t loads, std::int64_t bytes, Section& section) {
    const auto add = [&](std::int64_t load) {
        for (std::int64_t i = 0; i < kSums; ++i)
            section.body.push_back(
                {.op = Op::Fp32, .reads = buffer(load) | (kFirstSum << i), .writes = kFirstSum << i});
    };
    for (std::int64_t i = 0; i < loads; ++i) {
        if (i >= kBuffers) add(i - kBuffers);
        section.body.push_back(
            {.op = Op::GlobalLoad, .reads = kAddress, .writes = buffer(i), .bytes = bytes});
    }
    for (std::int64_t i = std::max<std::int64_t>(0, loads - kBuffers); i < loads; ++i) add(i);
}

/// Of each of a thread's sums.
void finish(const Epilogue& epilogue, Section& section) {
    const FunctionCost cost = cost_of(epilogue);
    const auto all = [&](Op op, std::int64_t times) {
        for (std::int64_t i = 0; i < times * kSums; ++i)
            section.body.push_back(
                {.op = op, .reads = kFirstSum << (i % kSums), .writes = kFirstSum << (i % kSums)});
    };
    all(Op::Special, cost.special);
    all(Op::Fp32, cost.fp32);
}

}  // namespace

CtaProgram stream_program(const StreamPlan& plan) {
    Section section;
    for (std::int64_t i = 0; i < kAddresses; ++i)
        section.body.push_back({.op = Op::Integer, .reads = kAddress, .writes = kAddress});
    RegisterGroups sums = 0;
    for (std::int64_t i = 0; i < kSums; ++i) sums |= kFirstSum << i;
    // What last CTAs wait for on the L2: the count of the others, and their parts one behind the other.
    const auto wait = [&](Cycles cycles, RegisterGroups reads, RegisterGroups writes) {
        if (plan.of_last_ctas)
            section.body.push_back(
                {.op = Op::TableLoad, .reads = reads, .writes = writes, .amount = cycles.value()});
    };
    wait(plan.prologue, kAddress, kAddress);
    std::int64_t rows = rows_of(plan.from.bytes.value(), plan) + rows_of(plan.other.bytes.value(), plan);
    for (const ColumnValues& values : plan.columns) rows += rows_of(column_bytes(values, plan), plan);
    add_up(rows, row_bytes(plan), section);
    wait(plan.epilogue, sums, sums);
    finish(plan.finish, section);
    for (std::int64_t i = 0; i < rows_of(plan.to.bytes.value(), plan); ++i)
        section.body.push_back({.op = Op::GlobalStore, .reads = sums, .bytes = row_bytes(plan)});
    CtaProgram program;
    program.roles = {{plan.warps, {std::move(section)}}};
    return program;
}

}  // namespace systole::simt
