// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/window_program.h"

#include "models/devices/simt/kernels/program_writer.h"

namespace systole::simt {
namespace {

// Image, row, column and channel out of a result's number: three divisions of at most 20 instructions each (CUDA
// programming guide, arithmetic instructions: integer division); bounds of the window, pointers.
constexpr int kDivisions = 3, kOfDivision = 20, kBounds = 12;

std::int64_t bytes_of_warp(DType dtype) {
    return ceil_div(kWarpThreads * bits_of(dtype).value(), 8);
}

}  // namespace

// Loops are written out where they are specialized for kernels of 3 x 3 (DepthwiseConv2d.cu), and a row of any is
// taken to be: its loads leave together.
WarpProgram window_program(const VectorKernel& kernel) {
    const ConvGather& windows = *kernel.windows;
    Section set_up, row, finish;
    SectionWriter(set_up).op(Op::Integer, kAddress, kAddress, kDivisions * kOfDivision + kBounds);
    row.steps = true;
    row.trips = windows.kernel_h;
    SectionWriter taps(row), results(finish);
    const std::int64_t bytes = bytes_of_warp(kernel.in);
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
    results.store(value(0), bytes_of_warp(kernel.out));
    return {std::move(set_up), std::move(row), std::move(finish)};
}

}  // namespace systole::simt
