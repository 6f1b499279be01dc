// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/program_writer.h"

#include <bit>

namespace systole::simt {
namespace {

constexpr std::int64_t kSumBytes = 4;

}  // namespace

std::int64_t bytes_of_warp(const VectorKernel& kernel, std::int64_t elements, DType dtype) {
    return ceil_div(kernel.warp_threads * elements * bits_of(dtype).value(), 8);
}

void SectionWriter::each(std::int64_t elements, const InstructionMix& mix) {
    const auto all = [&](Op pipe, int times) {
        for (int i = 0; i < times; ++i)
            for (std::int64_t element = 0; element < elements; ++element)
                op(pipe, value(element), value(element));
    };
    all(Op::Fp32, mix.fp32);
    all(Op::Special, mix.special);
    all(Op::Integer, mix.integer);
}

void SectionWriter::one_by_one(std::int64_t elements, const InstructionMix& mix) {
    for (std::int64_t element = 0; element < elements; ++element) {
        op(Op::Fp32, value(element), value(element), mix.fp32);
        op(Op::Special, value(element), value(element), mix.special);
        op(Op::Integer, value(element), value(element), mix.integer);
    }
}

void SectionWriter::convert(std::int64_t elements, std::int64_t first, std::int64_t of_load, DType from) {
    const InstructionMix mix = conversion_from(from);
    for (std::int64_t element = 0; element < elements; ++element) {
        const RegisterGroups source = loaded(first + element / of_load), to = value(element);
        op(Op::Special, source, to, mix.special);
        op(Op::Integer, source, to, mix.integer);
        op(Op::Fp32, source, to, mix.fp32);
        // What needs none is moved.
        if (mix == InstructionMix{}) op(Op::Integer, source, to);
    }
}

void SectionWriter::collect(std::int64_t elements, const InstructionMix& mix) {
    for (std::int64_t element = 0; element < elements; ++element) join(value(element), kSum, mix);
}

void SectionWriter::join(RegisterGroups what, RegisterGroups sum, const InstructionMix& mix) {
    op(Op::Special, what | sum, sum, mix.special);
    op(Op::Integer, what | sum, sum, mix.integer);
    op(Op::Fp32, what | sum, sum, mix.fp32);
}

// The difference from the mean, the new mean, the difference from that, and the sum of squares.
void SectionWriter::welford(std::int64_t element, MathLibrary library) {
    const InstructionMix mix = reciprocal(library);
    op(Op::Fp32, kCount, kCount);
    op(Op::Special, kCount, kOther, mix.special);
    op(Op::Integer, kOther, kOther, mix.integer);
    op(Op::Fp32, kOther, kOther, mix.fp32);
    op(Op::Fp32, value(element) | kSum, kSum);
    op(Op::Fp32, kOther | kSum, kSum);
    op(Op::Fp32, value(element) | kSum, value(element));
    op(Op::Fp32, value(element) | kSquares, kSquares);
}

void SectionWriter::shuffle(const VectorKernel& kernel, std::int64_t lanes, int values,
                            const InstructionMix& mix) {
    for (; lanes > 1; lanes /= 2) {
        for (int i = 0; i < values; ++i)
            section_.body.push_back({.op = Op::SharedLoad,
                                     .reads = kSum,
                                     .writes = kOther,
                                     .bytes = kernel.warp_threads * kSumBytes});
        op(Op::Special, kSum | kOther, kSum, mix.special);
        op(Op::Integer, kSum | kOther, kSum, mix.integer);
        op(Op::Fp32, kSum | kOther, kSum, mix.fp32);
    }
}

void SectionWriter::meet(const VectorKernel& kernel, int values, const InstructionMix& mix, int barrier) {
    shuffle(kernel, kernel.warp_threads, values, mix);
    if (kernel.warps == 1) return;
    // One thread of each warp; each warp reads what all have left.
    leave(kSum, values * kSumBytes);
    wait(barrier, kSum);
    section_.body.push_back(
        {.op = Op::SharedLoad, .writes = kSum, .bytes = kernel.warps * values * kSumBytes});
    shuffle(kernel, std::int64_t{1} << (std::bit_width(static_cast<unsigned>(kernel.warps - 1))), values,
            mix);
    wait(barrier, kSum);
}

void SectionWriter::meet_in_turn(const VectorKernel& kernel, const InstructionMix& mix, int barrier,
                                 bool first) {
    const std::int64_t of_warp = kernel.warp_threads * kSumBytes;
    wait(barrier, kSum);
    leave(kSum, of_warp);
    wait(barrier);
    if (first) {
        // Lanes' values are a warp's apart: as many words of one bank as there are warps.
        for (int i = 0; i < kernel.warp_threads; ++i) load_again(i, kernel.warps * of_warp);
        for (int i = 0; i < kernel.warp_threads; ++i) join(loaded(i), kSum, mix);
        leave(kSum, kernel.warps * kSumBytes);
    }
    wait(barrier);
    if (first) {
        for (int i = 0; i < kernel.warps; ++i) load_again(i, kSumBytes);
        for (int i = 0; i < kernel.warps; ++i) join(loaded(i), kSum, mix);
        leave(kSum, kSumBytes);
    }
    wait(barrier);
    section_.body.push_back({.op = Op::SharedLoad, .writes = kSum, .bytes = kSumBytes});
}

// Both pipes' instructions evenly among each other.
void SectionWriter::paced(const InstructionMix& mix, std::int64_t cycles, RegisterGroups reads) {
    const std::int64_t count = mix.fp32 + mix.integer;
    for (std::int64_t i = 0; i < count; ++i) {
        const bool fp32 = (i + 1) * mix.fp32 / count > i * mix.fp32 / count;
        section_.body.push_back({.op = fp32 ? Op::Fp32 : Op::Integer,
                                 .reads = kAddress | (i == 0 ? reads : 0),
                                 .writes = kAddress,
                                 .amount = (i + 1) * cycles / count - i * cycles / count});
    }
}

void SectionWriter::special(std::int64_t count, std::int64_t chain) {
    const std::int64_t side_by_side = chain > 0 ? ceil_div(count, chain) : 1;
    for (std::int64_t i = 0; i < count; ++i)
        op(Op::Special, i % side_by_side == 0 ? kAddress | kOther : 0,
           i % side_by_side == side_by_side - 1 ? kAddress : kOther);
}

void SectionWriter::halve(const VectorKernel& kernel, std::int64_t warps, std::int64_t elements,
                          const InstructionMix& mix, int barrier) {
    const std::int64_t bytes = kernel.warp_threads * elements * kSumBytes;
    for (; warps > 1; warps /= 2) {
        leave(kSum, bytes);
        wait(barrier, kSum);
        load_again(0, bytes);
        op(Op::Integer, loaded(0), value(0));
        collect(elements, mix);
    }
}

}  // namespace systole::simt
