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
/// Of a function's slope, as gradients meet it (1 where it is a constant). With y = f(x), and a multiply-add
/// as one simple operation: sigmoid y - y y, tanh 1 - y y, exp y, silu s + x (s - s s) with s the sigmoid,
/// gelu c(x) + x d(x) of the normal distribution and its density (an evaluation each, and x x), mish
/// t + x s (1 - t t) with t = tanh(softplus(x)), erf a scaled exp(-x x), sqrt half an inverse root, rsqrt
/// -y y y / 2, reciprocal -y y, log an inverse, sin and cos each other, elu y + 1 or 1, softplus the sigmoid;
/// of pieces of lines a comparison, or the line itself and two of them.
std::int64_t slope_cost(const VectorSpec::Cost& cost, Function function);
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
/// y (g - sum of g y): product, sum, difference, product.
std::int64_t softmax_gradient_cost(const VectorSpec::Cost& cost);
/// With h = g w and r the inverse deviation, Rms: r h - x (r r r / cols) (sum of h x). First x x, h, h x and
/// two sums; then h again, its product with r, a multiply-add. Layer: the same of x less its mean, which is
/// another sum, less the mean of h, which is one more and goes with the multiply-add; the mean of x is
/// subtracted in either pass.
std::int64_t norm_gradient_cost(const VectorSpec::Cost& cost, Norm::Kind kind);

/// Of an element of a column: added up, or multiplied and added.
std::int64_t column_sum_cost(const VectorSpec::Cost& cost, bool products);

/// Of a weight. With a multiply-add as one simple operation, the learning rate in it, and a conversion to the
/// type of the weights at the end: Sgd: w - a g. Momentum: m = b m + g, w - a m. Adam (Kingma and Ba,
/// "Adam", 2015, in the order of their section 2, which takes the corrections of bias into the step's a, with
/// weights decaying as in Loshchilov and Hutter, "Decoupled weight decay regularization", 2019): m + b (g -
/// m) and v + c (g g - v), two operations each; a root, + e, an inverse and a product; decay; update.
std::int64_t optimizer_cost(const VectorSpec::Cost& cost, Optimizer::Kind kind);
/// Each element times the cosine, its partner times the sine, and their sum.
std::int64_t rotary_cost(const VectorSpec::Cost& cost);
/// Of a heap of the k greatest so far: one comparison on each of its levels.
std::int64_t top_k_cost(const VectorSpec::Cost& cost, std::int64_t k);
/// Three gates and two hyperbolic tangents, c = f c + i g, h = o tanh(c).
std::int64_t lstm_cost(const VectorSpec::Cost& cost);
/// Two gates and a hyperbolic tangent, each of a sum, one with r (U h) in it; then h = n + z (h - n).
std::int64_t gru_cost(const VectorSpec::Cost& cost);

}  // namespace systole::systolic
