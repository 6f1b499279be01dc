// SPDX-License-Identifier: Apache-2.0
// Functions applied element by element, as layers have them.
#pragma once

namespace systole {

/// Functions applied element by element, alone (Activation) or behind a producer (its `post`).
enum class Function {
    None,
    Relu,
    Relu6,
    Sigmoid,
    Tanh,
    Gelu,
    Silu,
    Exp,
    Abs,
    Neg,
    Clip,
    Round,
    LeakyRelu,
    HardSigmoid,
    HardSwish,
    Sqrt,
    Rsqrt,
    Reciprocal,
    Log,
    Erf,
    Sin,
    Cos,
    Elu,
    Softplus,
    Mish
};

}  // namespace systole
