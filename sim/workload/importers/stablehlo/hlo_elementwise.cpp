// SPDX-License-Identifier: Apache-2.0
// Operations of one element each.
#include <array>
#include <utility>

#include "sim/workload/importers/network/vectors.h"
#include "sim/workload/importers/stablehlo/hlo_meanings.h"
#include "sim/workload/importers/stablehlo/hlo_names.h"

namespace systole {
namespace {

using Name = std::pair<std::string_view, std::string_view>;

constexpr std::array<Name, 16> kFunctions = {{{"abs", "abs"},
                                              {"ceil", "round"},
                                              {"cosine", "cos"},
                                              {"erf", "erf"},
                                              {"exponential", "exp"},
                                              {"floor", "round"},
                                              {"log", "log"},
                                              {"logistic", "sigmoid"},
                                              {"negate", "neg"},
                                              {"round_nearest_afz", "round"},
                                              {"round_nearest_even", "round"},
                                              {"rsqrt", "rsqrt"},
                                              {"sine", "sin"},
                                              {"sqrt", "sqrt"},
                                              {"tanh", "tanh"},
                                              {"mhlo.erf", "erf"}}};

constexpr std::array<Name, 10> kBinary = {{{"add", "add"},
                                           {"and", "min"},
                                           {"compare", "compare"},
                                           {"divide", "div"},
                                           {"maximum", "max"},
                                           {"minimum", "min"},
                                           {"multiply", "mul"},
                                           {"or", "max"},
                                           {"power", "pow"},
                                           {"subtract", "sub"}}};

template <std::size_t N>
std::string_view ours(const std::array<Name, N>& names, std::string_view theirs) {
    for (const auto& [name, kind] : names)
        if (name == theirs) return kind;
    return "";
}

bool is_number(const HloValue& held, double number) {
    return held.uniform && held.number == number;
}

/// One number of the type of operand `like`, met again.
Value number_like(HloNode& node, std::size_t like, const char* name) {
    const Value x = node.value(like);
    return node.network().stored(name, Shape(node.network().shape(x).size(), 1), node.network().dtype(x));
}

}  // namespace

std::string_view hlo_function(std::string_view name) {
    return ours(kFunctions, name);
}

std::string_view hlo_kind(std::string_view name) {
    return ours(kBinary, name);
}

void hlo_unary(HloNode& node) {
    const std::string_view function = hlo_function(hlo_name(node.operation()));
    if (node.held(0).uniform) return node.put_uniform();
    node.put(apply(node.network(), node.name(), function, node.value(0)));
}

/// A sum that is divided by how many were summed.
bool is_mean(HloNode& node) {
    const HloValue& sum = node.held(0);
    if (!sum.sum_of || !node.held(1).number) return false;
    double count = 1;
    for (const std::size_t dim : sum.sum_of->second)
        count *= static_cast<double>(node.network().shape(sum.sum_of->first)[dim]);
    return *node.held(1).number == count;
}

/// A square or a cube is products.
Value whole_power(HloNode& node, bool cube) {
    const Value x = node.value(0);
    const std::string name = node.name();
    const Value square = elementwise(node.network(), cube ? name + "_square" : name, "mul", x, x);
    return cube ? elementwise(node.network(), name, "mul", square, x) : square;
}

void hlo_binary(HloNode& node) {
    const std::string_view name = hlo_name(node.operation());
    if (node.held(0).uniform && node.held(1).uniform) return node.put_uniform();
    // Bits of numbers other than of truth are worth no minimum.
    if ((name == "and" || name == "or") && node.result_type().element != "i1")
        throw Unsayable("a trace has no operations on bits");
    const bool zero_first = is_number(node.held(0), 0), zero_second = is_number(node.held(1), 0);
    if (name == "maximum" && (zero_first || zero_second))
        return node.put(apply(node.network(), node.name(), "relu", node.value(zero_first ? 1 : 0)));
    // x + 0 and x * 1 are x; the others do not change places.
    const double nothing = name == "multiply" ? 1 : 0;
    if (name == "multiply" || name == "add")
        for (const std::size_t i : {0, 1})
            if (is_number(node.held(i), nothing)) return node.pass(1 - i);
    if (name == "divide" && is_mean(node)) {
        const auto [x, dims] = *node.held(0).sum_of;
        return node.put(reduce(node.network(), node.name(), "mean", x, dims, false));
    }
    if (name == "power" && (is_number(node.held(1), 2) || is_number(node.held(1), 3)))
        return node.put(whole_power(node, is_number(node.held(1), 3)));
    node.put(
        elementwise(node.network(), node.name(), hlo_kind(name), node.narrow_value(0), node.narrow_value(1)));
}

/// e^x - 1 and log(1 + x), as two layers.
void hlo_minus_one(HloNode& node) {
    const Value power = apply(node.network(), node.name() + "_power", "exp", node.value(0));
    node.put(elementwise(node.network(), node.name(), "sub", power, number_like(node, 0, "one")));
}

void hlo_log_plus_one(HloNode& node) {
    const Value sum =
        elementwise(node.network(), node.name() + "_sum", "add", node.value(0), number_like(node, 0, "one"));
    node.put(apply(node.network(), node.name(), "log", sum));
}

/// Not of a truth: compared with what is none.
void hlo_not(HloNode& node) {
    if (node.result_type().element != "i1") throw Unsayable("a trace has no operations on bits");
    node.put(elementwise(node.network(), node.name(), "compare", node.value(0), number_like(node, 0, "no")));
}

void hlo_xor(HloNode& node) {
    if (node.result_type().element != "i1") throw Unsayable("a trace has no operations on bits");
    node.put(elementwise(node.network(), node.name(), "compare", node.narrow_value(0), node.narrow_value(1)));
}

/// clamp(low, x, high).
void hlo_clamp(HloNode& node) {
    if (!node.held(0).uniform || !node.held(2).uniform) {
        const Value above =
            elementwise(node.network(), node.name() + "_low", "max", node.value(1), node.narrow_value(0));
        return node.put(elementwise(node.network(), node.name(), "min", above, node.narrow_value(2)));
    }
    const bool relu6 = is_number(node.held(0), 0) && is_number(node.held(2), 6);
    node.put(apply(node.network(), node.name(), relu6 ? "relu6" : "clip", node.value(1)));
}

/// select(condition, yes, no). A trace takes a tensor where another says so, and a number elsewhere; of two
/// tensors that is one of each, and their sum.
void hlo_select(HloNode& node) {
    Network& network = node.network();
    const Value condition = node.narrow_value(0);
    if (node.held(1).uniform && node.held(2).uniform)
        return node.put(
            select(network, node.name(),
                   convert(network, node.name() + "_numbers", node.value(0), network.dtype(node.value(1))),
                   condition));
    for (const std::size_t i : {1, 2})
        if (node.held(3 - i).uniform) return node.put(select(network, node.name(), node.value(i), condition));
    const Value yes = select(network, node.name() + "_yes", node.value(1), condition);
    const Value no = select(network, node.name() + "_no", node.value(2), condition);
    node.put(elementwise(network, node.name(), "add", yes, no));
}

void hlo_convert(HloNode& node) {
    HloValue& from = node.held(0);
    const auto to = hlo_dtype(node.result_type().element), own = hlo_dtype(from.element);
    if (!to) throw Unsayable("a trace has no numbers of that type");
    if (own == to || from.uniform) return node.pass(0);
    if (node.network().is_stored(node.value(0)))
        return node.put(node.network().stored(from.name, from.shape, *to));
    node.put(convert(node.network(), node.name(), node.value(0), *to));
}

void hlo_batch_norm_inference(HloNode& node) {
    const Value x = node.value(0);
    const Order feature = node.dims("feature_index", node.network().shape(x).size());
    if (feature.size() != 1) throw Unsayable("it has no feature_index");
    node.put(batch_norm(node.network(), node.name(), x, feature[0]));
}

/// Its first result; mean and variance are not in a trace.
void hlo_batch_norm_training(HloNode& node) {
    Network& network = node.network();
    const Value x = node.value(0);
    const std::size_t rank = network.shape(x).size();
    const Order feature = node.dims("feature_index", rank);
    if (feature.size() != 1) throw Unsayable("it has no feature_index");
    Order others;
    for (std::size_t dim = 0; dim < rank; ++dim)
        if (dim != feature[0]) others.push_back(dim);
    Value result = normalize(network, node.name(), "layer", x, others);
    for (const std::size_t i : {1, 2}) {
        const bool idle = is_number(node.held(i), i == 1 ? 1 : 0);
        if (idle) continue;
        Shape row(rank, 1);
        row[feature[0]] = network.shape(x)[feature[0]];
        const Value numbers = node.reshaped(node.value(i), row);
        result = elementwise(network, node.name() + (i == 1 ? "_scaled" : "_shifted"), i == 1 ? "mul" : "add",
                             result, numbers);
    }
    node.put(result);
    for (const std::size_t i : {1, 2}) node.put_unsaid(i);
}

}  // namespace systole
