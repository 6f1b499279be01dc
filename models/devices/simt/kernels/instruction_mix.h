// SPDX-License-Identifier: Apache-2.0
// Instructions of a thread for one element in kernels that stream, by pipe. Such kernels (PyTorch's) call the
// accurate functions of CUDA's mathematical library, where epilogues of products (epilogue.h) have fast ones.
#pragma once

#include <compare>
#include <cstdint>

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

/// Whose functions kernels call: CUDA's, or those of ROCm's device libraries.
enum class MathLibrary : std::uint8_t { Cuda, Ocml };

/// Counted in sources and disassembly of CUDA's functions (sm_80): expf scales by log2(e) in two pieces,
/// rounds, ex2, and moves the exponent; a quotient is a reciprocal, two steps of Newton's, and a test for the
/// slow path; erff selects one of two polynomials. Of ROCm's, those that differ much are counted apart: a
/// quotient (and so a reciprocal) is eleven instructions, correctly rounded as hipcc does without being asked
/// (LLVM, SIISelLowering.cpp, LowerFDIV32), an exponential thirteen (LLVM, AMDGPUISelLowering.cpp,
/// lowerFEXP); erf has both of its polynomials, of 6 and 7 terms, and an exponential (OCML, erfF.cl, as
/// remembered).
InstructionMix mix_of(Function function, MathLibrary library = MathLibrary::Cuda);
/// Of two values.
InstructionMix mix_of(Elementwise::Kind kind);
InstructionMix exponential(MathLibrary library = MathLibrary::Cuda);
InstructionMix quotient(MathLibrary library = MathLibrary::Cuda);
InstructionMix reciprocal(MathLibrary library = MathLibrary::Cuda);
/// cosf and sinf of one angle: a range reduction, two polynomials, a choice.
InstructionMix sine_and_cosine();
/// Of an element that is met or goes anywhere in a tensor.
InstructionMix offsets();
/// Between what is stored and fp32.
InstructionMix conversion_from(DType dtype);
InstructionMix conversion_to(DType dtype);

}  // namespace systole::simt
