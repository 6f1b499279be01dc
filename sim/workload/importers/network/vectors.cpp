// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/network/vectors.h"

#include <fmt/format.h>

#include <algorithm>

namespace systole {
namespace {

std::int64_t product(const Network& network, Value x, const Order& dims) {
    std::int64_t result = 1;
    for (const std::size_t dim : dims) result *= network.shape(x)[dim];
    return result;
}

Order others(std::size_t rank, const Order& dims) {
    Order rest;
    for (std::size_t dim = 0; dim < rank; ++dim)
        if (std::ranges::find(dims, dim) == dims.end()) rest.push_back(dim);
    return rest;
}

/// With the factors of `dims` last, in whatever order they are.
Value with_last(Network& network, Value x, const Order& dims) {
    network.settle(x);
    const Arrangement held = network.arrangement(x);
    if (held.are_last(dims)) return x;
    Order factors = held.factors_as_held(others(held.rank(), dims));
    const Order last = held.factors_as_held(dims);
    factors.insert(factors.end(), last.begin(), last.end());
    return network.moved(x, factors);
}

/// A shape of x's tensor whose rows are `cols` elements: its own, if it is such.
Shape in_rows(Network& network, Value x, std::int64_t cols) {
    Shape own = network.tensor_shape(network.tensor(x));
    if (own.back() == cols) return own;
    return {elements(own) / cols, cols};
}

/// A layer that makes rows of rows.
Value by_rows(Network& network, Step step, Value x, const Order& dims) {
    if (network.is_stored(x)) return network.stored(step.name, network.shape(x), network.dtype(x));
    x = with_last(network, x, dims);
    const Shape shape = in_rows(network, x, product(network, x, dims));
    step.in = {network.tensor(x, shape)};
    return network.make(std::move(step), shape, network.arrangement(x), network.dtype(x));
}

/// Whether the factors of dims lie side by side.
bool in_a_row(const Arrangement& held, const Order& dims) {
    const Order wanted = held.factors_as_held(dims);
    std::size_t begin = 0, end = 0;
    bool any = false;
    for (const std::size_t factor : wanted) {
        if (held.held()[factor] == 1) continue;
        if (!any) begin = factor;
        end = factor, any = true;
    }
    for (std::size_t factor = begin; any && factor < end; ++factor)
        if (held.held()[factor] > 1 && std::ranges::find(wanted, factor) == wanted.end()) return false;
    return true;
}

Value without(Network& network, Value x, const Order& dims) {
    Shape shape;
    for (const std::size_t dim : others(network.shape(x).size(), dims))
        shape.push_back(network.shape(x)[dim]);
    return network.reshape(x, shape);
}

/// Over dimensions with others behind them: a pool over all of them, as one of a feature map would be.
Value pooled(Network& network, Step step, Value x, std::string_view kind, const Order& dims) {
    const Arrangement held = network.arrangement(x);
    const std::int64_t over = product(network, x, dims);
    Order factors = held.factors_as_held(dims);
    std::erase_if(factors, [&](std::size_t factor) { return held.held()[factor] == 1; });
    std::int64_t inner = 1;
    for (std::size_t factor = factors.back() + 1; factor < held.held().size(); ++factor)
        inner *= held.held()[factor];
    const std::int64_t all = elements(network.shape(x));
    const bool two = factors.size() == 2;  // height and width
    const Shape shape = {all / over / inner, two ? held.held()[factors[0]] : over,
                         two ? held.held()[factors[1]] : 1, inner};
    step.op = "pool";
    step.keys = fmt::format(", kind: {}, global: true", kind == "mean" ? "average" : "max");
    step.in = {network.tensor(x, shape)};
    Arrangement result = held;
    for (const std::size_t dim : dims) result = result.resized(dim, 1);
    return network.make(std::move(step), {shape[0], 1, 1, inner}, result, network.dtype(x));
}

}  // namespace

Value apply(Network& network, const std::string& name, std::string_view function, Value x) {
    if (network.is_stored(x)) return network.stored(name, network.shape(x), network.dtype(x));
    Step step{name, "activation", {network.tensor(x)}};
    step.function = function;
    return network.make_like(std::move(step), x, network.dtype(x));
}

Value convert(Network& network, const std::string& name, Value x, DType to) {
    const DType from = network.dtype(x);
    if (from == to) return x;
    if (network.is_stored(x)) return network.stored(name, network.shape(x), to);
    if (const auto known = network.converted(x, to)) return *known;
    Step step{name, "elementwise", {network.tensor(x)}};
    if (is_floating(from) && !is_floating(to)) step.op = "quantize";
    if (!is_floating(from) && is_floating(to)) step.op = "dequantize";
    if (step.op == "elementwise") step.keys = ", kind: mul", step.stored = Shape{1};
    const Value made = network.make_like(std::move(step), x, to);
    network.remember_converted(x, made);
    return made;
}

Value scale(Network& network, const std::string& name, Value x, DType to, std::optional<std::size_t> axis) {
    if (network.is_stored(x)) return network.stored(name, network.shape(x), to);
    Step step{name, is_floating(to) ? "dequantize" : "quantize"};
    if (is_floating(network.dtype(x)) == is_floating(to))
        throw Unsayable("it is quantized from and to numbers of one kind");
    if (!axis) {
        step.in = {network.tensor(x)};
        return network.make_like(std::move(step), x, to);
    }
    step.keys = ", scales: channel, scale_dtype: dtype";
    x = with_last(network, x, {*axis});
    const Shape shape = in_rows(network, x, network.shape(x)[*axis]);
    step.in = {network.tensor(x, shape)};
    return network.make(std::move(step), shape, network.arrangement(x), to);
}

Value softmax(Network& network, const std::string& name, Value x, const Order& dims) {
    return by_rows(network, {name, "softmax"}, x, dims);
}

Value normalize(Network& network, const std::string& name, std::string_view kind, Value x,
                const Order& dims) {
    Step step{name, "norm"};
    step.keys = fmt::format(", kind: {}", kind);
    return by_rows(network, std::move(step), x, dims);
}

Value batch_norm(Network& network, const std::string& name, Value x, std::size_t channel) {
    Shape row(network.shape(x).size(), 1);
    row[channel] = network.shape(x)[channel];
    const Value scaled = elementwise(network, name + "_scale", "mul", x,
                                     network.stored(name + "_factor", row, network.dtype(x)));
    network.may_fold(scaled);
    const Value out =
        elementwise(network, name, "add", scaled, network.stored(name + "_shift", row, network.dtype(x)));
    network.may_fold(out);
    return out;
}

Value reduce(Network& network, const std::string& name, std::string_view kind, Value x, const Order& dims,
             bool keep) {
    Shape shape = network.shape(x);
    for (const std::size_t dim : dims) shape[dim] = 1;
    Value result = x;
    if (network.is_stored(x)) {
        result = network.stored(name, shape, network.dtype(x));
    } else if (product(network, x, dims) > 1) {
        // Channels of a feature map stay in their places; of three dimensions the last one is more often
        // that of a sequence's tokens.
        const bool spatial =
            shape.size() >= 4 && std::ranges::none_of(dims, [](std::size_t d) { return d < 2; });
        if (spatial && network.is_open(x)) x = network.feature_map(x, channels_last(shape.size()));
        network.settle(x);
        const Arrangement held = network.arrangement(x);
        if ((kind == "mean" || kind == "max") && !held.are_last(dims) && in_a_row(held, dims)) {
            result = pooled(network, {name, ""}, x, kind, dims);
        } else {
            x = with_last(network, x, dims);
            Shape rows = in_rows(network, x, product(network, x, dims));
            Step step{name, "reduce", {network.tensor(x, rows)}};
            step.keys = fmt::format(", kind: {}", kind);
            Arrangement made = network.arrangement(x);
            for (const std::size_t dim : dims) made = made.resized(dim, 1);
            rows.back() = 1;
            result = network.make(std::move(step), rows, made, network.dtype(x));
        }
    }
    return keep ? result : without(network, result, dims);
}

}  // namespace systole
