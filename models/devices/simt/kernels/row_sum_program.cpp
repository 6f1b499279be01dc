// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/row_sum_program.h"

#include <algorithm>

#include "models/devices/simt/kernels/program_writer.h"

namespace systole::simt {
namespace {

// Which row is a thread's, whose place is taken apart (OffsetCalculator.cuh), and pointers.
constexpr int kSetUp = 20 + 12;
constexpr std::int64_t kSumBytes = 4;
constexpr std::int64_t kUnderWay = VectorKernel::kUnderWay;
constexpr int kBarrier = 0;

RegisterGroups sum(std::int64_t number) {
    return value(kUnderWay + number);
}

/// Each of the elements under way has a sum that waits for no other.
void add(const VectorKernel& kernel, SectionWriter& writer) {
    for (std::int64_t i = 0; i < kUnderWay; ++i) writer.join(value(i), sum(i), kernel.of_tap);
}

std::int64_t warps_of_row(const VectorKernel& kernel) {
    return kernel.row_threads / kernel.warp_threads;
}

}  // namespace

Bytes shared_by_sums(const VectorKernel& kernel) {
    return Bytes(warps_of_row(kernel) > 1 ? kernel.threads() * kSumBytes : 0);
}

WarpProgram row_sum_program(const VectorKernel& kernel) {
    Section set_up, round, finish;
    SectionWriter(set_up).op(Op::Integer, kAddress, kAddress, kSetUp);
    round.steps = true;
    round.trips = kernel.trips();
    SectionWriter loads(round), results(finish);
    for (std::int64_t i = 0; i < kernel.loads_of_step(); ++i) {
        loads.op(Op::Integer, kAddress, kAddress, 2);
        loads.load(i, bytes_of_warp(kernel, kernel.vector, kernel.in));
    }
    loads.loop();
    loads.convert(kUnderWay, 0, kernel.vector, kernel.in);
    add(kernel, loads);
    for (std::int64_t i = 1; i < kUnderWay; ++i) results.join(sum(i), sum(0), kernel.of_tap);
    results.op(Op::Integer, sum(0), kSum);
    results.halve(kernel, warps_of_row(kernel), 1, kernel.of_tap, kBarrier);
    results.shuffle(kernel, std::min<std::int64_t>(kernel.row_threads, kernel.warp_threads), 1,
                    kernel.of_tap);
    // Each CTA leaves its sums; the last one adds those of all.
    if (kernel.parts > 1) {
        results.store(kSum, kSumBytes);
        results.load(0, kSumBytes);
        results.convert(1, 0, 1, DType::Fp32);
        results.join(value(0), kSum, kernel.of_tap);
    }
    results.op(Op::Integer, kSum, value(0));
    results.each(1, kernel.work + conversion_to(kernel.out));
    const std::int64_t rows_of_warp = std::max<std::int64_t>(1, kernel.warp_threads / kernel.row_threads);
    results.store(value(0), ceil_div(rows_of_warp * bits_of(kernel.out).value(), 8));
    return {std::move(set_up), std::move(round), std::move(finish)};
}

}  // namespace systole::simt
