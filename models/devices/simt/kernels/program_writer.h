// SPDX-License-Identifier: Apache-2.0
// Writes sections of warp programs for kernels that stream: loads into buffers, instructions for each of a
// thread's elements side by side, reductions over a warp and a CTA.
#pragma once

#include <cstdint>

#include "models/devices/simt/kernels/vector_kernel.h"
#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

/// Registers of a thread, in groups: of loads under way, of values, and others.
constexpr int kLoadGroups = 32, kValueGroups = 24;
constexpr RegisterGroups loaded(std::int64_t load) {
    return RegisterGroups{1} << (load % kLoadGroups);
}
constexpr RegisterGroups value(std::int64_t element) {
    return RegisterGroups{1} << (kLoadGroups + element % kValueGroups);
}
constexpr RegisterGroups kAddress = RegisterGroups{1} << (kLoadGroups + kValueGroups);
constexpr RegisterGroups kSum = RegisterGroups{1} << (kLoadGroups + kValueGroups + 1);
constexpr RegisterGroups kCount = RegisterGroups{1} << (kLoadGroups + kValueGroups + 3);
constexpr RegisterGroups kSquares = RegisterGroups{1} << (kLoadGroups + kValueGroups + 4);
constexpr RegisterGroups kOther = RegisterGroups{1} << (kLoadGroups + kValueGroups + 2);

/// A warp's bytes of so many elements of each thread.
std::int64_t bytes_of_warp(const VectorKernel& kernel, std::int64_t elements, DType dtype);

class SectionWriter {
public:
    explicit SectionWriter(Section& section) : section_(section) {}

    void op(Op op, RegisterGroups reads, RegisterGroups writes, std::int64_t times = 1) {
        for (std::int64_t i = 0; i < times; ++i)
            section_.body.push_back({.op = op, .reads = reads, .writes = writes});
    }
    void load(std::int64_t number, std::int64_t bytes) {
        section_.body.push_back(
            {.op = Op::GlobalLoad, .reads = kAddress, .writes = loaded(number), .bytes = bytes});
    }
    /// What the L1 has.
    void load_again(std::int64_t number, std::int64_t bytes) {
        section_.body.push_back(
            {.op = Op::SharedLoad, .reads = kAddress, .writes = loaded(number), .bytes = bytes});
    }
    /// Into shared memory.
    void leave(RegisterGroups what, std::int64_t bytes) {
        section_.body.push_back({.op = Op::SharedStore, .reads = what | kAddress, .bytes = bytes});
    }
    /// Until all of the CTA's warps are here.
    void wait(int barrier, RegisterGroups what = 0) {
        section_.body.push_back({.op = Op::Arrive, .reads = what, .barrier = barrier});
        section_.body.push_back({.op = Op::Await, .barrier = barrier});
    }
    void store(RegisterGroups what, std::int64_t bytes) {
        section_.body.push_back({.op = Op::GlobalStore, .reads = what | kAddress, .bytes = bytes});
    }
    /// Of `elements` values, one instruction of each behind the other: they do not wait for each other.
    void each(std::int64_t elements, const InstructionMix& mix);
    /// The same, but of one value after the other: code whose branches compilers do not join.
    void one_by_one(std::int64_t elements, const InstructionMix& mix);
    /// Into fp32: values of loads from number `first` on, so many of each.
    void convert(std::int64_t elements, std::int64_t first, std::int64_t of_load, DType from);
    /// All of a thread's values into its sum, by an instruction each.
    void collect(std::int64_t elements, const InstructionMix& mix);
    /// One value into a sum.
    void join(RegisterGroups what, RegisterGroups sum, const InstructionMix& mix);
    /// Welford's sums: a value's count and 1 / count wait for no mean.
    void welford(std::int64_t element, MathLibrary library);
    /// Over `lanes` threads of a warp by halves: `values` numbers are passed, `mix` joins them.
    void shuffle(const VectorKernel& kernel, std::int64_t lanes, int values, const InstructionMix& mix);
    /// Over the CTA's warps, through shared memory, `barrier` twice: all have the result.
    void meet(const VectorKernel& kernel, int values, const InstructionMix& mix, int barrier);
    /// Over so many warps of the CTA, a power of two, by halves through shared memory: sums of `elements`
    /// values of each thread (Reduce.cuh, block_x_reduce and block_y_reduce). The first warp has the result.
    void halve(const VectorKernel& kernel, std::int64_t warps, std::int64_t elements,
               const InstructionMix& mix, int barrier);
    /// By SoftMax.cu of 2023 (blockReduce): each thread leaves its value in shared memory, a lane of the
    /// first warp joins those of each warp, all of which lie in one bank, and the first thread joins what
    /// lanes have. `first`: in that warp. Four barriers: all have the result.
    void meet_in_turn(const VectorKernel& kernel, const InstructionMix& mix, int barrier, bool first);
    /// Where a thread loads or stores, in 64 bits: instructions that wait for each other.
    void address(const InstructionMix& mix) {
        op(Op::Fp32, kAddress, kAddress, mix.fp32);
        op(Op::Integer, kAddress, kAddress, mix.integer);
    }
    /// Instructions on FP32 and integer pipes as a compiler has them, one behind the other: what follows them
    /// issues so many cycles after the first of them, which waits for `reads`.
    void paced(const InstructionMix& mix, std::int64_t cycles, RegisterGroups reads = 0);
    /// Instructions of the special function units, of which at most `chain` wait for each other; what follows
    /// waits for them.
    void special(std::int64_t count, std::int64_t chain = 0);
    void loop() { op(Op::Integer, kAddress, kAddress, 3); }  // address, comparison, branch

private:
    Section& section_;
};

}  // namespace systole::simt
