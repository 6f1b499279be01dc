// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/window_program.h"

#include <algorithm>

#include "models/devices/simt/kernels/program_writer.h"

namespace systole::simt {
namespace {

// Image, row, column and channel out of a result's number: three divisions of at most 20 instructions each
// (CUDA programming guide, arithmetic instructions: integer division), but where a CTA's place and a thread's
// in it say so (DilatedMaxPool2d.cu: max_pool_forward_nhwc); bounds of the window, pointers.
constexpr int kDivisions = 3, kOfDivision = 20, kBounds = 12;
// Of a row that is longer, compilers load no more together (assumed).
constexpr std::int64_t kMostTogether = 16;
constexpr int kBarrier = 0;

WarpProgram of_maps(const VectorKernel& kernel) {
    Section set_up, round, finish;
    SectionWriter(set_up).op(Op::Integer, kAddress, kAddress, kOfDivision + kBounds);
    round.steps = true;
    round.trips = kernel.trips();
    SectionWriter taps(round), results(finish);
    for (std::int64_t tap = 0; tap < VectorKernel::kUnderWay; ++tap) {
        taps.op(Op::Integer, kAddress, kAddress, 2);
        taps.load(tap, bytes_of_warp(kernel, kernel.vector, kernel.in));
    }
    taps.loop();
    for (std::int64_t tap = 0; tap < VectorKernel::kUnderWay; ++tap) {
        taps.convert(kernel.vector, tap, kernel.vector, kernel.in);
        taps.collect(kernel.vector, kernel.of_tap);
    }
    results.halve(kernel, kernel.sharing, kernel.vector, kernel.of_tap, kBarrier);
    // Each CTA leaves its sums; the last one adds those of all.
    if (kernel.parts > 1) {
        results.store(kSum, bytes_of_warp(kernel, kernel.vector, DType::Fp32));
        results.load(0, bytes_of_warp(kernel, kernel.vector, DType::Fp32));
        results.convert(kernel.vector, 0, kernel.vector, DType::Fp32);
        results.collect(kernel.vector, kernel.of_tap);
    }
    results.op(Op::Integer, kSum, value(0));
    results.each(kernel.vector, kernel.work + conversion_to(kernel.out));
    results.store(value(0), bytes_of_warp(kernel, kernel.vector, kernel.out));
    return {std::move(set_up), std::move(round), std::move(finish)};
}

}  // namespace

std::int64_t window_values(const VectorKernel& kernel) {
    if (kernel.sharing > 1) return kernel.vector * VectorKernel::kUnderWay;
    return std::min(kernel.windows->kernel_w, kMostTogether) * (kernel.weighted ? 2 : 1);
}

// Loops are written out where they are specialized for kernels of 3 x 3 (DepthwiseConv2d.cu), and a row of
// any is taken to be: its loads leave together.
WarpProgram window_program(const VectorKernel& kernel) {
    if (kernel.sharing > 1) return of_maps(kernel);
    const ConvGather& windows = *kernel.windows;
    Section set_up, row, finish;
    const int divisions = kernel.by_place ? 0 : kDivisions;
    SectionWriter(set_up).op(Op::Integer, kAddress, kAddress, divisions * kOfDivision + kBounds);
    row.steps = true;
    row.trips = windows.kernel_h;
    SectionWriter taps(row), results(finish);
    const std::int64_t bytes = bytes_of_warp(kernel, 1, kernel.in);
    for (std::int64_t tap = 0; tap < windows.kernel_w; ++tap) {
        taps.op(Op::Integer, kAddress, kAddress, 2);  // within the map, and where
        if (tap < kernel.new_taps())
            taps.load(tap, bytes);
        else
            taps.load_again(tap, bytes);
        if (kernel.weighted) taps.load_again(windows.kernel_w + tap, bytes);
    }
    taps.loop();
    for (std::int64_t tap = 0; tap < windows.kernel_w; ++tap) {
        taps.convert(1, tap, 1, kernel.in);
        if (kernel.weighted) taps.op(Op::Integer, loaded(windows.kernel_w + tap), kOther);
        taps.collect(1, kernel.of_tap);
    }
    if (kernel.biased) results.load_again(0, bytes);
    results.op(Op::Integer, kSum, value(0));
    results.each(1, kernel.work + conversion_to(kernel.out));
    results.store(value(0), bytes_of_warp(kernel, 1, kernel.out));
    return {std::move(set_up), std::move(row), std::move(finish)};
}

}  // namespace systole::simt
