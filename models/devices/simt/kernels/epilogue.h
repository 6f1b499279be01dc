// SPDX-License-Identifier: Apache-2.0
// What a kernel does with its sums before it stores them, besides scaling and converting:
//
//   out = then(post(sum * scale + bias) join other)
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "sim/workload/operators.h"

namespace systole::simt {

struct Epilogue {
    bool bias = false;  ///< a value of 32 bits for each column of the product (row, if it is swapped)
    Function post = Function::None;
    std::optional<Elementwise::Kind> join = {};  ///< with a matrix like the result
    Function then = Function::None;
    /// A factor for each column (row, if it is swapped): scales of weights, bits of each; 0: none.
    int scale_bits = 0;

    /// Values for each column that it reads.
    int columns() const { return (bias ? 1 : 0) + (scale_bits > 0 ? 1 : 0); }
    /// Bytes of these.
    std::int64_t column_bytes() const;
    /// It needs more than the sums.
    bool reads() const { return columns() > 0 || join; }
    friend auto operator<=>(const Epilogue&, const Epilogue&) = default;
};

constexpr std::int64_t kBiasBytes = 4;

/// Instructions of a thread for one element.
struct FunctionCost {
    int fp32 = 0, special = 0;
};

/// As GPUs' libraries compute it in fp32, approximately, with ex2, lg2, rcp, rsqrt, sin, cos and tanh of the
/// special function units (CUDA programming guide, 16.1.2; CUTLASS, epilogue/thread/activation.h).
FunctionCost cost_of(Function function);
/// Of all functions, and of the join.
FunctionCost cost_of(const Epilogue& epilogue);

/// ", bias, gelu, add"; empty if it does nothing.
std::string to_string(const Epilogue& epilogue);

}  // namespace systole::simt
