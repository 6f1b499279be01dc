// SPDX-License-Identifier: Apache-2.0
// Operators that work element by element.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "sim/workload/importers/network/movements.h"
#include "sim/workload/importers/network/vectors.h"
#include "sim/workload/importers/onnx/ops.h"

namespace systole {
namespace {

/// A number that is known, alone or several times the same.
std::optional<double> single_number(Node& node, std::size_t i) {
    const Constant* const constant = node.has(i) ? node.constant(i) : nullptr;
    if (constant == nullptr || constant->size() == 0) return std::nullopt;
    for (std::size_t at = 1; at < constant->size(); ++at)
        if (constant->number(at) != constant->number(0)) return std::nullopt;
    return constant->number(0);
}

Value scalar(Node& node, const std::string& what) {
    return node.network().stored(node.name() + what, {}, node.network().dtype(node.value(0)));
}

}  // namespace

void map_pairwise(Node& node) {
    static const std::map<std::string, std::string, std::less<>> kinds{
        {"Add", "add"}, {"Sub", "sub"}, {"Mul", "mul"},  {"Div", "div"},  {"Max", "max"},
        {"Min", "min"}, {"Sum", "add"}, {"Mean", "add"}, {"PRelu", "mul"}};
    const std::string& kind = kinds.find(node.op())->second;
    Value result = node.value(0);
    for (std::size_t i = 1; i < node.inputs(); ++i)
        result = elementwise(node.network(), node.name(), kind, result, node.value(i));
    if (node.op() == "Mean" && node.inputs() > 1)
        result = elementwise(node.network(), node.name() + "_share", "mul", result, scalar(node, "_count"));
    if (node.op() == "PRelu")  // max(x, slope x) for slopes up to 1, and as much work otherwise
        result = elementwise(node.network(), node.name() + "_max", "max", result, node.value(0));
    node.put(0, result);
}

void map_test(Node& node) {
    const bool alone = node.inputs() == 1;  // Not, IsNaN, IsInf
    const Value other = alone ? scalar(node, "_other") : node.value(1);
    node.put(0, elementwise(node.network(), node.name(), "compare", node.value(0), other));
}

void map_function(Node& node) {
    static const std::map<std::string, std::string, std::less<>> functions{{"Relu", "relu"},
                                                                           {"Sigmoid", "sigmoid"},
                                                                           {"Tanh", "tanh"},
                                                                           {"Exp", "exp"},
                                                                           {"Log", "log"},
                                                                           {"Sqrt", "sqrt"},
                                                                           {"Reciprocal", "reciprocal"},
                                                                           {"Erf", "erf"},
                                                                           {"Sin", "sin"},
                                                                           {"Cos", "cos"},
                                                                           {"Abs", "abs"},
                                                                           {"Neg", "neg"},
                                                                           {"Floor", "round"},
                                                                           {"Ceil", "round"},
                                                                           {"Round", "round"},
                                                                           {"LeakyRelu", "leaky_relu"},
                                                                           {"Elu", "elu"},
                                                                           {"Softplus", "softplus"},
                                                                           {"Mish", "mish"},
                                                                           {"HardSigmoid", "hard_sigmoid"},
                                                                           {"HardSwish", "hard_swish"},
                                                                           {"Gelu", "gelu"},
                                                                           {"FastGelu", "gelu"},
                                                                           {"QuickGelu", "silu"},
                                                                           {"Swish", "silu"},
                                                                           {"BiasGelu", "gelu"}};
    Value x = node.value(0);
    if ((node.op() == "FastGelu" || node.op() == "BiasGelu") && node.has(1))
        x = elementwise(node.network(), node.name() + "_bias", "add", x, node.value(1));
    node.put(0, apply(node.network(), node.name(), functions.find(node.op())->second, x));
}

void map_power(Node& node) {
    const std::optional<double> power = single_number(node, 1);
    const Value x = node.value(0);
    Network& network = node.network();
    if (power == 1.0) return node.put(0, x);
    if (power == 2.0) return node.put(0, elementwise(network, node.name(), "mul", x, x));
    if (power == 3.0) {
        const Value square = elementwise(network, node.name() + "_square", "mul", x, x);
        return node.put(0, elementwise(network, node.name(), "mul", square, x));
    }
    if (power == 0.5) return node.put(0, apply(network, node.name(), "sqrt", x));
    if (power == -0.5) return node.put(0, apply(network, node.name(), "rsqrt", x));
    if (power == -1.0) return node.put(0, apply(network, node.name(), "reciprocal", x));
    node.put(0, elementwise(network, node.name(), "pow", x, node.value(1)));
}

void map_clip(Node& node) {
    const bool attributes = node.opset() > 0 && node.opset() < 11;
    std::optional<double> low = single_number(node, 1), high = single_number(node, 2);
    if (attributes && node.has_attribute("min")) low = node.real("min", 0);
    if (attributes && node.has_attribute("max")) high = node.real("max", 0);
    const bool bounded = attributes ? node.has_attribute("max") : node.has(2);
    const char* function = "clip";
    if (low == 0.0 && high == 6.0) function = "relu6";
    if (low == 0.0 && !bounded) function = "relu";
    node.put(0, apply(node.network(), node.name(), function, node.value(0)));
}

void map_where(Node& node) {
    Network& network = node.network();
    const Value condition = node.value(0);
    Value yes = node.value(1), no = node.value(2);
    const auto few = [&](Value value) { return elements(network.shape(value)) == 1; };
    if (network.is_stored(yes) && few(yes)) std::swap(yes, no);
    if (network.is_stored(no) && few(no) && !network.is_stored(yes))
        return node.put(0, select(network, node.name(), yes, condition));
    if (network.is_stored(yes) && network.is_stored(no) && network.is_stored(condition))
        return node.put(0, select(network, node.name(), elementwise(network, "", "add", yes, no), condition));
    const Value kept = select(network, node.name() + "_then", yes, condition),
                other = select(network, node.name() + "_else", no, condition);
    node.put(0, elementwise(network, node.name(), "add", kept, other));
}

void map_cast(Node& node) {
    const int to = node.op() == "CastLike" ? node.held(1).type : static_cast<int>(node.integer("to", 0));
    const std::optional<DType> dtype = dtype_of(to);
    if (!dtype) throw Unsayable("it makes no numbers that a trace has");
    node.put(0, convert(node.network(), node.name(), node.value(0), *dtype));
}

void map_same(Node& node) {
    node.pass(0, 0);
}

void map_scaled_function(Node& node) {
    Network& network = node.network();
    const Value x = node.value(0);
    const std::string name = node.name();
    if (node.op() == "Softsign") {
        const Value size = apply(network, name + "_abs", "abs", x);
        const Value more = elementwise(network, name + "_one", "add", size, scalar(node, "_one"));
        return node.put(0, elementwise(network, name, "div", x, more));
    }
    Value in = x;
    if (node.op() == "Celu") in = elementwise(network, name + "_in", "mul", x, scalar(node, "_alpha"));
    const Value bent = apply(network, name + "_elu", "elu", in);
    node.put(0, elementwise(network, name, "mul", bent, scalar(node, "_scale")));
}

}  // namespace systole
