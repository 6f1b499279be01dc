// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/network/products.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/workload/importers/network/vectors.h"

namespace systole {
namespace {

Order range(std::size_t begin, std::size_t end) {
    Order order(end - begin);
    std::iota(order.begin(), order.end(), begin);
    return order;
}

Order rest_of(std::size_t rank, const Order& batch, const Order& over) {
    Order rest;
    for (std::size_t dim = 0; dim < rank; ++dim)
        if (std::ranges::find(batch, dim) == batch.end() && std::ranges::find(over, dim) == over.end())
            rest.push_back(dim);
    return rest;
}

Order joined(Order a, const Order& b, const Order& c = {}) {
    a.insert(a.end(), b.begin(), b.end());
    a.insert(a.end(), c.begin(), c.end());
    return a;
}

Shape extents(const Network& network, Value x, const Order& dims) {
    Shape shape;
    for (const std::size_t dim : dims) shape.push_back(network.shape(x)[dim]);
    return shape;
}

Shape joined(Shape a, const Shape& b, const Shape& c = {}) {
    a.insert(a.end(), b.begin(), b.end());
    a.insert(a.end(), c.begin(), c.end());
    return a;
}

/// A tensor of rows of k elements: x's own, if a trace's matmul reads it so.
Shape rows_of(Network& network, Value x, std::int64_t k) {
    Shape own = network.tensor_shape(network.tensor(x));
    if ((own.size() == 2 || own.size() == 3) && own.back() == k) return own;
    return {elements(own) / k, k};
}

Value by_stored(Network& network, const std::string& name, Value a, Value b, const Contraction& dims) {
    const Order rest_a = rest_of(network.shape(a).size(), dims.batch_a, dims.over_a),
                rest_b = rest_of(network.shape(b).size(), dims.batch_b, dims.over_b);
    const Shape columns = extents(network, b, rest_b);
    const std::int64_t n = elements(columns), k = elements(extents(network, a, dims.over_a));
    network.settle(a);
    const Order before = joined(dims.batch_a, rest_a);
    if (!network.arrangement(a).are_last(dims.over_a)) {
        const Arrangement held = network.arrangement(a);
        a = network.moved(a, joined(held.factors_as_held(before), held.factors_as_held(dims.over_a)));
    }
    Shape shape = rows_of(network, a, k);
    Step step{name, "matmul", {network.tensor(a, shape)}};
    step.keys = fmt::format(", n: {}", n);
    if (network.dtype(b) != network.dtype(a)) step.weight_dtype = network.dtype(b);
    step.columns = n;
    step.takes_function = true;
    shape.back() = n;
    Arrangement made = network.arrangement(a).permuted(joined(before, dims.over_a));
    made = made.without(range(before.size(), made.rank()));
    for (const std::int64_t extent : columns) made = made.with_last(extent);
    return network.make(std::move(step), shape, made, network.dtype(a));
}

Value by_active(Network& network, const std::string& name, Value a, Value b, const Contraction& dims) {
    const Order rest_a = rest_of(network.shape(a).size(), dims.batch_a, dims.over_a),
                rest_b = rest_of(network.shape(b).size(), dims.batch_b, dims.over_b);
    if (network.dtype(b) != network.dtype(a))
        b = convert(network, network.name(b) + "_converted", b, network.dtype(a));
    const Shape batch = extents(network, a, dims.batch_a), rows = extents(network, a, rest_a),
                columns = extents(network, b, rest_b);
    const std::int64_t m = elements(rows), n = elements(columns),
                       k = elements(extents(network, a, dims.over_a));
    a = network.moved_to_dims(a, joined(dims.batch_a, rest_a, dims.over_a));
    network.settle(b);
    const Order plain = joined(dims.batch_b, dims.over_b, rest_b),
                turned = joined(dims.batch_b, rest_b, dims.over_b);
    const Arrangement held = network.arrangement(b);
    // What lies innermost stays so.
    const bool transposed = !held.is_held(held.factors(plain)) && held.are_last(dims.over_b);
    b = network.moved_to_dims(b, transposed ? turned : plain);
    const Shape in_front = batch.size() <= 6 ? batch : Shape{elements(batch)};
    const TensorId left = network.tensor(a, joined(in_front, {m}, {k})),
                   right = network.tensor(b, joined(in_front, transposed ? Shape{n, k} : Shape{k, n}));
    Step step{name, "batched_matmul", {left, right}};
    if (transposed) step.keys = ", transpose_b: true";
    return network.make(std::move(step), joined(in_front, {m}, {n}),
                        Arrangement(joined(batch, rows, columns)), network.dtype(a));
}

}  // namespace

Value contract(Network& network, const std::string& name, Value a, Value b, const Contraction& dims) {
    const Order rest_a = rest_of(network.shape(a).size(), dims.batch_a, dims.over_a),
                rest_b = rest_of(network.shape(b).size(), dims.batch_b, dims.over_b);
    const Shape batch = extents(network, a, dims.batch_a);
    if (extents(network, a, dims.over_a) != extents(network, b, dims.over_b) ||
        batch != extents(network, b, dims.batch_b))
        throw Unsayable(fmt::format("{} and {} do not go together", to_string(network.shape(a)),
                                    to_string(network.shape(b))));
    if (network.is_stored(a) && network.is_stored(b))
        return network.stored(name, joined(batch, extents(network, a, rest_a), extents(network, b, rest_b)),
                              network.dtype(a));
    const bool batched = elements(batch) > 1;
    if (network.is_stored(b) && !batched) return by_stored(network, name, a, b, dims);
    if (network.is_stored(a) && !batched) {
        const Value turned =
            by_stored(network, name, b, a, {dims.batch_b, dims.batch_a, dims.over_b, dims.over_a});
        const std::size_t front = batch.size(), middle = front + rest_b.size();
        return network.transpose(
            turned, joined(range(0, front), range(middle, middle + rest_a.size()), range(front, middle)));
    }
    return by_active(network, name, network.active(a), network.active(b), dims);
}

Value matmul(Network& network, const std::string& name, Value a, Value b) {
    const bool row = network.shape(a).size() == 1, column = network.shape(b).size() == 1;
    if (network.shape(a).empty() || network.shape(b).empty())
        throw Unsayable("an operand is a single number");
    if (row) a = network.reshape(a, {1, network.shape(a)[0]});
    if (column) b = network.reshape(b, {network.shape(b)[0], 1});
    const Shape of_a = network.shape(a), of_b = network.shape(b);
    const std::size_t front = std::max(of_a.size(), of_b.size()) - 2;
    // Dimensions in front that only one of them has are rows, or columns.
    Contraction dims;
    Shape kept_a, kept_b, result;
    Order both, only_a, only_b;  // of the result's dimensions in front
    for (std::size_t dim = 0; dim < front; ++dim) {
        const std::int64_t ea = dim + of_a.size() >= front + 2 ? of_a[dim + of_a.size() - front - 2] : 1,
                           eb = dim + of_b.size() >= front + 2 ? of_b[dim + of_b.size() - front - 2] : 1;
        if (ea != eb && ea != 1 && eb != 1)
            throw Unsayable(fmt::format("{} and {} do not go together", to_string(of_a), to_string(of_b)));
        result.push_back(std::max(ea, eb));
        if (ea > 1 && eb > 1)
            both.push_back(dim), dims.batch_a.push_back(kept_a.size()), dims.batch_b.push_back(kept_b.size());
        if (ea > 1 && eb == 1) only_a.push_back(dim);
        if (eb > 1 && ea == 1) only_b.push_back(dim);
        if (ea > 1) kept_a.push_back(ea);
        if (eb > 1) kept_b.push_back(eb);
    }
    dims.over_a = {kept_a.size() + 1};
    dims.over_b = {kept_b.size()};
    a = network.reshape(a, joined(kept_a, {of_a[of_a.size() - 2], of_a.back()}));
    b = network.reshape(b, joined(kept_b, {of_b[of_b.size() - 2], of_b.back()}));
    Value out = contract(network, name, a, b, dims);
    // [both, only_a, m, only_b, n] in the order of the result.
    Order from(front, front + 2), order;
    std::size_t at = 0;
    for (const std::size_t dim : both) from[dim] = at++;
    for (const std::size_t dim : only_a) from[dim] = at++;
    const std::size_t rows = at++;
    for (const std::size_t dim : only_b) from[dim] = at++;
    for (const std::size_t place : from)
        if (place != front + 2) order.push_back(place);
    order.push_back(rows), order.push_back(at);
    if (!std::ranges::is_sorted(order)) out = network.transpose(out, order);
    if (!row) result.push_back(of_a[of_a.size() - 2]);
    if (!column) result.push_back(of_b.back());
    return network.reshape(out, result);
}

}  // namespace systole
