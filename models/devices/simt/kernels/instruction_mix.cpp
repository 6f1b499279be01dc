// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/instruction_mix.h"

namespace systole::simt {
namespace {

constexpr InstructionMix kOne{1, 0, 0};      // add, multiply
constexpr InstructionMix kCompare{0, 1, 0};  // min, max, select
// |x| chooses: a comparison, nine selections; x squared, seven multiply-adds, 1 - ex2; the sign.
constexpr InstructionMix kErf{9, 11, 1};
// x squared, six multiply-adds; seven, an exponential and what it leaves of 1; the sign, and who takes which.
constexpr InstructionMix kErfOfOcml{21, 9, 1};
// |x| < 0.55 takes a polynomial, others 1 - 2 / (e^2x + 1); a warp has both.
constexpr InstructionMix kTanh{14, 4, 2};
// log(1 + x): a polynomial of eight terms behind a normalisation.
constexpr InstructionMix kLog{11, 5, 0};
// Sine and cosine: reduced by pi/2 in three pieces, then one of two polynomials of four terms.
constexpr InstructionMix kSine{9, 7, 0};

}  // namespace

// Six to scale, round and reduce; SHL; ex2.
// OCML's: log2(e) in two pieces, rounded; exp, ldexp, and selections for what is too large or too small.
InstructionMix exponential(MathLibrary library) {
    if (library == MathLibrary::Ocml) return {6, 6, 1};
    return {6, 1, 1};
}

// rcp, and FCHK in the same pipe; two multiply-adds make the reciprocal exact, five the quotient (twice a
// remainder and what it adds); a branch and where it meets the slow path again.
// ROCm's: rcp between two div_scale, five multiply-adds and a product, div_fmas, div_fixup.
InstructionMix quotient(MathLibrary library) {
    if (library == MathLibrary::Ocml) return {7, 3, 1};
    return {7, 3, 2};
}

// rcp, two multiply-adds; the test for numbers that are not normal, and a branch.
InstructionMix reciprocal(MathLibrary library) {
    if (library == MathLibrary::Ocml) return quotient(library);
    return {2, 3, 1};
}

InstructionMix sine_and_cosine() {
    return {28, 10, 0};
}

// Four dimensions as OffsetCalculator.cuh takes them apart: each a division by multiplication (multiply, add,
// shift) and a remainder, and a multiply-add for each of two pointers.
InstructionMix offsets() {
    return {0, 4 * (4 + 2), 0};
}

InstructionMix mix_of(Function function, MathLibrary library) {
    const InstructionMix erf = library == MathLibrary::Ocml ? kErfOfOcml : kErf;
    switch (function) {
        case Function::None:
            return {};
        case Function::Relu:
        case Function::Abs:
            return kCompare;
        case Function::Neg:
            return kOne;
        case Function::Relu6:
        case Function::Clip:
            return kCompare + kCompare;
        case Function::LeakyRelu:
            return kOne + kCompare + kCompare;
        case Function::HardSigmoid:
            return kOne + kOne + kCompare + kCompare;
        case Function::HardSwish:
            return mix_of(Function::HardSigmoid, library) + kOne;
        case Function::Round:
            return {0, 0, 1};  // FRND
        case Function::Exp:
            return exponential(library);
        case Function::Reciprocal:
            return reciprocal(library);
        case Function::Sqrt:
        case Function::Rsqrt:
            return {5, 3, 1};  // rsqrt, two steps of Newton's, the slow path's test
        case Function::Log:
            return kLog;
        case Function::Sin:
        case Function::Cos:
            return kSine;
        case Function::Erf:
            return erf;
        case Function::Gelu:
            return erf + InstructionMix{4, 0, 0};  // x / 2 (1 + erf(x / sqrt 2))
        case Function::Tanh:
            return kTanh;
        case Function::Sigmoid:  // 1 / (1 + e^-x)
        case Function::Silu:     // x / (1 + e^-x)
            return exponential(library) + kOne + quotient(library);
        case Function::Elu:
            return exponential(library) + kOne + kOne + kCompare + kCompare;
        case Function::Softplus:
            return exponential(library) + kLog + kCompare + kCompare;
        case Function::Mish:
            return mix_of(Function::Softplus, library) + kTanh + kOne;
    }
    return {};
}

InstructionMix mix_of(Elementwise::Kind kind) {
    switch (kind) {
        case Elementwise::Kind::Add:
        case Elementwise::Kind::Sub:
        case Elementwise::Kind::Mul:
            return kOne;
        case Elementwise::Kind::Max:
        case Elementwise::Kind::Min:
        case Elementwise::Kind::Select:
            return kCompare;
        case Elementwise::Kind::Compare:
            return kCompare + kCompare;
        case Elementwise::Kind::Div:
            return quotient();
        case Elementwise::Kind::Pow:
            return kLog + exponential() + InstructionMix{12, 8, 0};  // two-piece products, special cases
    }
    return {};
}

InstructionMix conversion_from(DType dtype) {
    switch (dtype) {
        case DType::Fp32:
        case DType::Int32:
            return {};
        case DType::Fp16:
            return {1, 0, 0};  // HADD2.F32
        case DType::Bf16:
            return {0, 1, 0};  // its bits are moved
        default:
            return {0, 1, 1};  // taken out of a register, I2F
    }
}

// A pair of 16 bits in one instruction; half of one each, counted as one.
InstructionMix conversion_to(DType dtype) {
    switch (dtype) {
        case DType::Fp32:
        case DType::Int32:
            return {};
        case DType::Fp16:
        case DType::Bf16:
            return {0, 1, 0};
        default:
            return {0, 1, 1};
    }
}

}  // namespace systole::simt
