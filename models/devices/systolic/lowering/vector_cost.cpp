// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/vector_cost.h"

#include <algorithm>
#include <bit>

namespace systole::systolic {

std::int64_t function_cost(const VectorSpec::Cost& cost, Function function) {
    switch (function) {
        case Function::None:
            return 0;
        case Function::Relu:
        case Function::Relu6:
        case Function::Abs:
        case Function::Neg:
        case Function::Clip:
        case Function::Round:
            return cost.simple;
        case Function::LeakyRelu:    // a product, a maximum
        case Function::HardSigmoid:  // a multiply-add, a clip
            return std::int64_t{2} * cost.simple;
        case Function::HardSwish:  // and a product with the element itself
            return std::int64_t{3} * cost.simple;
        case Function::Sigmoid:
        case Function::Tanh:
        case Function::Gelu:
        case Function::Silu:
        case Function::Exp:
        case Function::Sqrt:
        case Function::Rsqrt:
        case Function::Reciprocal:
        case Function::Log:
        case Function::Erf:
        case Function::Sin:
        case Function::Cos:
        case Function::Elu:
        case Function::Softplus:
        case Function::Mish:
            break;
    }
    return cost.transcendental;
}

std::int64_t slope_cost(const VectorSpec::Cost& cost, Function function) {
    const std::int64_t simple = cost.simple, evaluation = cost.transcendental;
    switch (function) {
        case Function::None:
            return 0;
        case Function::Relu:
        case Function::Relu6:
        case Function::Abs:
        case Function::Neg:
        case Function::Clip:
        case Function::Round:
        case Function::LeakyRelu:
        case Function::HardSigmoid:
            return simple;
        case Function::HardSwish:
            return 3 * simple;
        case Function::Exp:
        case Function::Log:
        case Function::Sin:
        case Function::Softplus:
            return evaluation;
        case Function::Sigmoid:
        case Function::Tanh:
        case Function::Sqrt:
        case Function::Reciprocal:
        case Function::Cos:
        case Function::Elu:
            return evaluation + simple;
        case Function::Silu:
        case Function::Erf:
            return evaluation + 2 * simple;
        case Function::Rsqrt:
            return evaluation + 3 * simple;
        case Function::Gelu:
            return 2 * evaluation + 2 * simple;
        case Function::Mish:
            break;
    }
    return 2 * evaluation + 3 * simple;
}

std::int64_t elementwise_cost(const VectorSpec::Cost& cost, Elementwise::Kind kind) {
    if (kind == Elementwise::Kind::Div) return cost.transcendental + cost.simple;
    if (kind == Elementwise::Kind::Pow) return std::int64_t{2} * cost.transcendental + cost.simple;
    return cost.simple;
}

std::int64_t drain_cost(const VectorSpec& vector, int operations, Function post,
                        std::optional<Function> joined) {
    const std::int64_t simple = vector.cost.simple, function = function_cost(vector.cost, post);
    const std::int64_t behind = joined ? function_cost(vector.cost, *joined) : 0;
    // Conversion and each operation are a stage each.
    if (vector.pipelined_drains) return std::max({simple, function, behind});
    return (1 + operations + (joined ? 1 : 0)) * simple + function + behind;
}

std::int64_t scaling_cost(const VectorSpec::Cost& cost) {
    return std::int64_t{2} * cost.simple;
}

std::int64_t softmax_cost(const VectorSpec::Cost& cost) {
    return 2 * cost.reduce + 2 * cost.simple + cost.transcendental;
}

std::int64_t column_sum_cost(const VectorSpec::Cost& cost, bool products) {
    return products ? cost.mac : cost.reduce;
}

std::int64_t norm_cost(const VectorSpec::Cost& cost, Norm::Kind kind) {
    if (kind == Norm::Kind::Layer) return 2 * cost.reduce + 5 * cost.simple;
    return cost.reduce + 3 * cost.simple;
}

std::int64_t softmax_gradient_cost(const VectorSpec::Cost& cost) {
    return cost.reduce + std::int64_t{3} * cost.simple;
}

std::int64_t norm_gradient_cost(const VectorSpec::Cost& cost, Norm::Kind kind) {
    if (kind == Norm::Kind::Layer) return std::int64_t{4} * cost.reduce + std::int64_t{8} * cost.simple;
    return std::int64_t{2} * cost.reduce + std::int64_t{6} * cost.simple;
}

std::int64_t optimizer_cost(const VectorSpec::Cost& cost, Optimizer::Kind kind) {
    if (kind == Optimizer::Kind::Sgd) return std::int64_t{2} * cost.simple;
    if (kind == Optimizer::Kind::Momentum) return std::int64_t{3} * cost.simple;
    return std::int64_t{9} * cost.simple + std::int64_t{2} * cost.transcendental;
}

std::int64_t rotary_cost(const VectorSpec::Cost& cost) {
    return std::int64_t{3} * cost.simple;
}

std::int64_t top_k_cost(const VectorSpec::Cost& cost, std::int64_t k) {
    return std::bit_width(static_cast<std::uint64_t>(k)) * cost.simple;
}

std::int64_t lstm_cost(const VectorSpec::Cost& cost) {
    return std::int64_t{5} * cost.transcendental + std::int64_t{4} * cost.simple;
}

std::int64_t gru_cost(const VectorSpec::Cost& cost) {
    return std::int64_t{3} * cost.transcendental + std::int64_t{7} * cost.simple;
}

}  // namespace systole::systolic
