// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/epilogue.h"

namespace systole::simt {

FunctionCost cost_of(Function function) {
    switch (function) {
        case Function::None:
            return {0, 0};
        case Function::Relu:
        case Function::Abs:
        case Function::Neg:
            return {1, 0};
        case Function::Relu6:
        case Function::Clip:
        case Function::LeakyRelu:
            return {2, 0};
        case Function::HardSigmoid:
            return {3, 0};  // a multiplication that adds, max, min
        case Function::HardSwish:
            return {4, 0};
        case Function::Round:
        case Function::Rsqrt:
        case Function::Reciprocal:
        case Function::Tanh:
            return {0, 1};
        case Function::Exp:
        case Function::Log:
        case Function::Sqrt:
        case Function::Sin:
        case Function::Cos:
            return {1, 1};  // scaled before or behind
        case Function::Sigmoid:
            return {2, 2};  // 1 / (1 + e^-x)
        case Function::Silu:
            return {3, 2};
        case Function::Gelu:
            return {5, 1};  // its form with tanh
        case Function::Elu:
            return {4, 1};
        case Function::Softplus:
            return {4, 2};
        case Function::Mish:
            return {5, 3};
        case Function::Erf:
            return {12, 1};  // a polynomial, e^x for what is far from zero
    }
    return {};
}

std::int64_t Epilogue::column_bytes() const {
    return (bias ? kBiasBytes : 0) + scale_bits / 8;
}

// The first multiplication, with a scale of all, is no function.
FunctionCost cost_of(const Epilogue& epilogue) {
    const FunctionCost post = cost_of(epilogue.post), then = cost_of(epilogue.then);
    const int others = (epilogue.join ? 1 : 0) + (epilogue.scale_bits > 0 ? 1 : 0);
    return {post.fp32 + then.fp32 + others, post.special + then.special};
}

std::string to_string(const Epilogue& epilogue) {
    std::string text;
    const auto add = [&](std::string_view name) { text.append(", ").append(name); };
    if (epilogue.scale_bits > 0) add("scales");
    if (epilogue.bias) add("bias");
    if (epilogue.post != Function::None) add(to_string(epilogue.post));
    if (epilogue.join) add(elementwise_kinds()[static_cast<std::size_t>(*epilogue.join)]);
    if (epilogue.then != Function::None) add(to_string(epilogue.then));
    return text;
}

}  // namespace systole::simt
