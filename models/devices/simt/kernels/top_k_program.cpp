// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/top_k_program.h"

#include <algorithm>
#include <bit>

#include "models/devices/simt/kernels/program_writer.h"
#include "models/devices/simt/kernels/row_rounds.h"
#include "models/devices/simt/kernels/top_k.h"

namespace systole::simt {
namespace {

constexpr int kSetUp = 20 + 12;  // a row's begin in each of three tensors
constexpr int kBarrier = 0;
constexpr std::int64_t kDigits = 4;  // values of a digit of two bits
constexpr std::int64_t kCountBytes = 4, kIndexBytes = 4;
// A number whose bits order as it does: its sign chooses a mask, and whether it is one is asked.
constexpr int kOrdered = 5;
// Agrees with what is known (and, compare), its digit (shift, and); of each value of the digit a comparison,
// a conjunction, a vote and an addition, and POPC, which the special function units' pipe takes.
constexpr int kAgrees = 4, kOfDigit = 4;
// Of four counts: comparisons with one and with what is still to be found, two of the bits that are known.
constexpr int kDecide = 4 * 4 + 4;

/// Rounds of one pass.
class Pass {
public:
    explicit Pass(const VectorKernel& kernel) : rounds_(kernel) {}
    SectionWriter load(bool again) {
        SectionWriter writer = rounds_.load(again);
        writer.op(Op::Integer, loaded(0), value(0));
        writer.op(Op::Integer, value(0), value(0), kOrdered - 1);
        return writer;
    }
    Section take() { return rounds_.take(); }

private:
    RowRounds rounds_;
};

/// Counts are cleared, and all warps know it.
Section clear() {
    Section section;
    SectionWriter writer(section);
    writer.leave(kSum, kDigits * kCountBytes);
    writer.wait(kBarrier);
    return section;
}

Section count(const VectorKernel& kernel, bool again) {
    Pass pass(kernel);
    SectionWriter writer = pass.load(again);
    writer.op(Op::Integer, value(0), value(0), kAgrees);
    for (std::int64_t digit = 0; digit < kDigits; ++digit) {
        writer.op(Op::Integer, value(0), value(1 + digit), kOfDigit - 1);
        writer.op(Op::Special, value(1 + digit), value(1 + digit));
        writer.op(Op::Integer, value(1 + digit), value(8 + digit));
    }
    return pass.take();
}

/// One thread of each warp adds its counts to those in shared memory; all read the sums.
Section decide() {
    Section section;
    SectionWriter writer(section);
    for (std::int64_t digit = 0; digit < kDigits; ++digit) writer.leave(value(8 + digit), kCountBytes);
    writer.wait(kBarrier);
    writer.load_again(0, kDigits * kCountBytes);
    writer.wait(kBarrier, loaded(0));
    writer.op(Op::Integer, loaded(0), kSum);
    writer.op(Op::Integer, kSum, kSum, kDecide - 1);
    return section;
}

Section look(const VectorKernel& kernel) {
    Pass pass(kernel);
    SectionWriter writer = pass.load(true);
    writer.op(Op::Integer, value(0), value(0), 2);
    writer.leave(value(0), 2 * kCountBytes);
    writer.wait(kBarrier);
    writer.load_again(1, 2 * kCountBytes);
    writer.wait(kBarrier, loaded(1));
    return pass.take();
}

/// Where a thread's element goes: behind those of its warp before it, and those of warps before
/// (ScanUtils.cuh, exclusiveBinaryPrefixScan; there one thread adds up what warps have while all wait, here
/// each warp does).
void place(const VectorKernel& kernel, SectionWriter& writer) {
    writer.op(Op::Integer, value(0), value(1), 2);  // a comparison, a vote
    writer.op(Op::Special, value(1), value(1), 2);  // of threads before it, of all
    writer.leave(value(1), kCountBytes);
    writer.wait(kBarrier);
    writer.load_again(1, kernel.warps * kCountBytes);
    writer.op(Op::Integer, loaded(1), kSum);
    writer.op(Op::Integer, kSum, kSum, kernel.warps);
    writer.wait(kBarrier, kSum);
    writer.wait(kBarrier, kSum);
}

/// Of all that is stored, a warp's part in a round.
std::int64_t stored_bytes(const VectorKernel& kernel, std::int64_t bits) {
    const std::int64_t of_warp = ceil_div(kernel.k, kernel.warps * kernel.trips());
    return ceil_div(std::min<std::int64_t>(of_warp, kernel.warp_threads) * bits, 8);
}

Section gather(const VectorKernel& kernel) {
    Pass pass(kernel);
    SectionWriter writer = pass.load(true);
    place(kernel, writer);
    writer.op(Op::Integer, kSum, kAddress, 4);
    writer.store(value(0), stored_bytes(kernel, bits_of(kernel.in).value()));
    writer.store(kAddress, stored_bytes(kernel, kIndexBytes * 8));
    return pass.take();
}

/// Compares two elements, and exchanges them with where they stood, if the first is the lesser: of some of a
/// warp's threads always.
void compare(const VectorKernel& kernel, SectionWriter& writer) {
    const std::int64_t key = bytes_of_warp(kernel, 1, kernel.in);
    const std::int64_t index = kernel.warp_threads * kIndexBytes, valid = kernel.warp_threads;
    for (int side = 0; side < 2; ++side) {
        writer.load_again(3 * side, key);
        writer.load_again(3 * side + 1, index);
        writer.load_again(3 * side + 2, valid);
    }
    // Both are there, which is greater, and in which direction this pair goes.
    writer.op(Op::Integer, loaded(0) | loaded(2) | loaded(3) | loaded(5), kSum, 6);
    for (int side = 0; side < 2; ++side) {
        writer.leave(kSum | loaded(3 * side), key);
        writer.leave(kSum | loaded(3 * side + 1), index);
        writer.leave(kSum | loaded(3 * side + 2), valid);
    }
}

/// Of elements of a row that is filled up.
std::int64_t pairs_of_thread(const VectorKernel& kernel) {
    return sorted_of(kernel.cols) / 2 / kernel.row_threads;
}

}  // namespace

Bytes shared_by_counts(const VectorKernel& kernel) {
    return Bytes(std::max<std::int64_t>(kernel.warps, kDigits) * kCountBytes);
}

WarpProgram top_k_program(const VectorKernel& kernel) {
    Section set_up;
    SectionWriter(set_up).op(Op::Integer, kAddress, kAddress, kSetUp);
    WarpProgram program{std::move(set_up)};
    for (std::int64_t digit = 0; digit < kernel.digits; ++digit) {
        program.push_back(clear());
        program.push_back(count(kernel, digit > 0));
        program.push_back(decide());
    }
    if (kernel.unique) program.push_back(look(kernel));
    program.push_back(gather(kernel));
    program.push_back(gather(kernel));
    return program;
}

Bytes shared_by_sorted(const VectorKernel& kernel) {
    const std::int64_t of_row =
        sorted_of(kernel.cols) * (ceil_div(bits_of(kernel.in).value(), 8) + kIndexBytes + 1);
    return Bytes(kernel.rows_of_cta() * of_row);
}

WarpProgram sort_program(const VectorKernel& kernel) {
    Section set_up, load, steps, finish;
    SectionWriter(set_up).op(Op::Integer, kAddress, kAddress, kSetUp);
    load.steps = true;
    const std::int64_t all = sorted_of(kernel.cols), pairs = pairs_of_thread(kernel);
    // Threads without an element bring and store nothing.
    const auto bytes = [&](std::int64_t bits) {
        return ceil_div(ceil_div(kernel.warp_threads * pairs * kernel.cols, all) * bits, 8);
    };
    const std::int64_t key = bytes(bits_of(kernel.in).value()), index = bytes(kIndexBytes * 8);
    SectionWriter loads(load), stores(finish);
    for (int side = 0; side < 2; ++side) {
        loads.load(2 * side, key);
        loads.load(2 * side + 1, index);
    }
    for (int side = 0; side < 2; ++side) {
        loads.leave(loaded(2 * side), key);
        loads.leave(loaded(2 * side + 1), index);
        loads.leave(loaded(2 * side), kernel.warp_threads);
    }
    // Pairs of 2, of 4 and 2, of 8, 4 and 2, …
    const auto powers = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(all)) - 1);
    steps.trips = powers * (powers + 1) / 2;
    SectionWriter step(steps);
    const bool of_warp = kernel.row_threads <= kernel.warp_threads;
    if (!of_warp) step.wait(kBarrier);
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
        step.op(Op::Integer, kAddress, kAddress, 6);  // where the pair stands
        compare(kernel, step);
    }
    step.loop();
    if (!of_warp) stores.wait(kBarrier);
    for (int side = 0; side < 2; ++side) {
        stores.load_again(2 * side, key);
        stores.load_again(2 * side + 1, index);
        stores.store(loaded(2 * side), key);
        stores.store(loaded(2 * side + 1), index);
    }
    return {std::move(set_up), std::move(load), std::move(steps), std::move(finish)};
}

}  // namespace systole::simt
