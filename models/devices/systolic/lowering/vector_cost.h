// SPDX-License-Identifier: Apache-2.0
// Lane-cycles per element on the vector unit, from its table of costs.
#pragma once

#include <cstdint>
#include <optional>

#include "models/devices/systolic/spec/spec.h"
#include "sim/workload/operators.h"

namespace systole::systolic {

/// Of a function; 0 for none.
std::int64_t function_cost(const VectorSpec::Cost& cost, Function function);
/// Of an operation on two elements: a division is an inverse and a product, a power a logarithm, a product
/// and an exponential.
std::int64_t elementwise_cost(const VectorSpec::Cost& cost, Elementwise::Kind kind);
/// Of draining an accumulator: so many simple operations (bias, scale), function, what joins it (an operation
/// with another tensor, and the function behind that), conversion to the output's type; their sum, or the
/// slowest one.
std::int64_t drain_cost(const VectorSpec& vector, int operations, Function post,
                        std::optional<Function> joined = std::nullopt);
/// A multiplication by a scale and the conversion.
std::int64_t scaling_cost(const VectorSpec::Cost& cost);
/// A row's maximum, then per element subtract and exp, the sum, and a multiplication by its inverse.
std::int64_t softmax_cost(const VectorSpec::Cost& cost);
/// Layer: sum, subtract the mean, square, sum of squares, scale by the inverse deviation, gain, shift.
/// Rms: square, sum, scale, gain.
std::int64_t norm_cost(const VectorSpec::Cost& cost, Norm::Kind kind);

/// Each element times the cosine, its partner times the sine, and their sum.
std::int64_t rotary_cost(const VectorSpec::Cost& cost);
/// Of a heap of the k greatest so far: one comparison on each of its levels.
std::int64_t top_k_cost(const VectorSpec::Cost& cost, std::int64_t k);
/// Three gates and two hyperbolic tangents, c = f c + i g, h = o tanh(c).
std::int64_t lstm_cost(const VectorSpec::Cost& cost);
/// Two gates and a hyperbolic tangent, each of a sum, one with r (U h) in it; then h = n + z (h - n).
std::int64_t gru_cost(const VectorSpec::Cost& cost);

}  // namespace systole::systolic
