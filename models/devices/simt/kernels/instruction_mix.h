// SPDX-License-Identifier: Apache-2.0
// Instructions of a thread for one element in kernels that stream, by pipe. Such kernels (PyTorch's) call the
// accurate functions of CUDA's mathematical library, where epilogues of products (epilogue.h) have fast ones.
#pragma once

#include <compare>

#include "sim/workload/dtype.h"
#include "sim/workload/operators.h"

namespace systole::simt {

struct InstructionMix {
    int fp32 = 0;     ///< add, multiply, multiply-add
    int integer = 0;  ///< comparisons, min, max, selections, bits of exponents and signs, branches
    int special = 0;  ///< ex2, lg2, rcp, rsqrt, sin, cos

    InstructionMix& operator+=(const InstructionMix& other) {
        fp32 += other.fp32, integer += other.integer, special += other.special;
        return *this;
    }
    friend InstructionMix operator+(InstructionMix a, const InstructionMix& b) { return a += b; }
    friend auto operator<=>(const InstructionMix&, const InstructionMix&) = default;
};

/// Counted in sources and disassembly of CUDA's functions (sm_80): expf scales by log2(e) in two pieces,
/// rounds, ex2, and moves the exponent; a quotient is a reciprocal, two steps of Newton's, and a test for the
/// slow path; erff selects one of two polynomials.
InstructionMix mix_of(Function function);
/// Of two values.
InstructionMix mix_of(Elementwise::Kind kind);
InstructionMix exponential();
InstructionMix quotient();
InstructionMix reciprocal();
/// Of an element that is met or goes anywhere in a tensor.
InstructionMix offsets();
/// Between what is stored and fp32.
InstructionMix conversion_from(DType dtype);
InstructionMix conversion_to(DType dtype);

}  // namespace systole::simt
