// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/network/movements.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/workload/importers/network/vectors.h"

namespace systole {
namespace {

Order all_dims(std::size_t rank) {
    Order dims(rank);
    std::iota(dims.begin(), dims.end(), 0);
    return dims;
}

/// With dimension `axis` a single factor.
Value whole(Network& network, Value x, std::size_t axis) {
    network.settle(x);
    if (network.arrangement(x).factors({axis}).size() == 1) return x;
    const Shape shape = network.shape(x);
    std::optional<Arrangement> held = network.arrangement(x).reshaped(shape);
    if (held && held->factors({axis}).size() == 1) return network.rearranged(x, *held);
    x = network.moved_to_dims(x, all_dims(shape.size()));
    return network.rearranged(x, Arrangement(shape));
}

/// With the axis first, or last.
Order axis_first(std::size_t rank, std::size_t axis) {
    Order order = all_dims(rank);
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(axis));
    order.insert(order.begin(), axis);
    return order;
}

Value indices_of(Network& network, Value indices) {
    indices = network.active(indices);
    return convert(network, network.name(indices) + "_converted", indices, DType::Int32);
}

/// Of tensors that are joined all other extents are alike.
void expect_beside(const Shape& first, Shape next, std::size_t axis) {
    const Shape own = next;
    if (next.size() == first.size()) next[axis] = first[axis];
    if (next != first)
        throw Unsayable(fmt::format("{} and {} are not joined along dimension {}", to_string(first),
                                    to_string(own), axis));
}

Value embedding(Network& network, const std::string& name, const Shape& table, Value indices, DType dtype) {
    indices = indices_of(network, indices);
    network.settle(indices);
    const std::int64_t width = elements(table) / table[0];
    const Arrangement at = network.arrangement(indices);
    Step step{name, "embedding", {network.tensor(indices)}};
    step.keys = fmt::format(", vocabulary: {}, width: {}, dtype: {}", table[0], width,
                            dtype == Network::kFloat ? "dtype" : to_string(dtype));
    Shape shape = network.tensor_shape(step.in[0]);
    shape.push_back(width);
    Shape wide = network.shape(indices);
    wide.push_back(width);
    const Value rows = network.make(std::move(step), shape, at.with_last(width), dtype);
    wide.pop_back();
    wide.insert(wide.end(), table.begin() + 1, table.end());
    return network.reshape(rows, wide);
}

}  // namespace

Value concat(Network& network, const std::string& name, std::vector<Value> values, std::size_t axis) {
    Shape shape = network.shape(values[0]);
    if (axis >= shape.size()) throw Unsayable(fmt::format("{} has no dimension {}", to_string(shape), axis));
    for (const Value value : values) expect_beside(shape, network.shape(value), axis);
    shape[axis] = 0;
    bool all_stored = true;
    for (const Value value : values) {
        shape[axis] += network.shape(value)[axis];
        all_stored = all_stored && network.is_stored(value);
    }
    const DType dtype = network.dtype(values[0]);
    if (all_stored) return network.stored(name, shape, dtype);
    if (values.size() == 1) return values[0];
    // The order of the first one that has been decided upon.
    Value like = values[0];
    for (Value& value : values) value = network.active(value);
    for (const Value value : values)
        if (!network.is_open(value)) {
            like = value;
            break;
        }
    for (Value& value : values)
        if (network.is_open(value) && value != like) network.decide_together(like, value);
    like = whole(network, network.active(like), axis);
    const Arrangement held = network.arrangement(like);
    Step step{name, "concat"};
    for (Value value : values) {
        if (network.dtype(value) != dtype)
            value = convert(network, network.name(value) + "_converted", value, dtype);
        value = whole(network, value, axis);
        std::optional<Arrangement> cut = network.arrangement(value).cut_like(held);
        if (!cut) {
            value = network.moved_to_dims(value, all_dims(shape.size()));
            cut = Arrangement(network.shape(value)).cut_like(held);
            if (!cut) throw Unsayable("what it joins is cut in ways that do not go together");
        }
        value = network.rearranged(value, *cut);
        // Factors of all are numbered alike from dimension to dimension.
        const Order from = network.arrangement(value).factors(all_dims(shape.size())),
                    there = held.factors(all_dims(shape.size()));
        Order order(from.size());
        for (std::size_t i = 0; i < from.size(); ++i) order[there[i]] = from[i];
        value = network.moved(value, order);
        Shape own = held.held();
        own[held.factors({axis})[0]] = network.shape(value)[axis];
        step.in.push_back(network.tensor(value, own));
    }
    const std::size_t place = held.factors({axis})[0];
    step.keys = fmt::format(", axis: {}", place);
    const Arrangement made = held.resized(axis, shape[axis]);
    return network.make(std::move(step), made.held(), made, dtype);
}

Value slice(Network& network, const std::string& name, Value x, std::size_t axis, std::int64_t begin,
            std::int64_t size, std::int64_t step) {
    Shape shape = network.shape(x);
    const std::int64_t extent = shape[axis];
    shape[axis] = size;
    if (network.is_stored(x)) return network.stored(name, shape, network.dtype(x));
    if (size == extent) return x;
    if (size == 1) step = 1;
    if (step > 1) {
        if (extent % step != 0) throw Unsayable(fmt::format("takes every {} of {} indices", step, extent));
        Shape cut = network.shape(x);
        cut[axis] = extent / step;
        cut.insert(cut.begin() + static_cast<std::ptrdiff_t>(axis) + 1, step);
        x = slice(network, name, network.reshape(x, cut), axis + 1, begin % step, 1);
        cut.erase(cut.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
        return slice(network, name, network.reshape(x, cut), axis, begin / step, size);
    }
    x = whole(network, x, axis);
    const Arrangement held = network.arrangement(x);
    const std::size_t place = held.factors({axis})[0];
    Step made{name, "slice", {network.tensor(x, held.held())}};
    made.keys = fmt::format(", axis: {}, begin: {}, size: {}", place, begin, size);
    const Arrangement result = held.resized(axis, size);
    return network.make(std::move(made), result.held(), result, network.dtype(x));
}

Value expand(Network& network, const std::string& name, Value x, const Shape& shape) {
    Shape full = network.shape(x);
    full.insert(full.begin(), shape.size() - full.size(), 1);
    if (full == shape) return network.reshape(x, full);
    if (network.is_stored(x)) {
        const Value wide = network.stored(name, shape, network.dtype(x));
        network.set_narrow(wide, x);
        return wide;
    }
    return network.met_again(name, network.reshape(x, full), shape);
}

Value gather(Network& network, const std::string& name, Value table, Value indices, std::size_t axis) {
    const Shape shape = network.shape(table), at = network.shape(indices);
    const Order first = axis_first(shape.size(), axis);
    Value rows = network.transpose(table, first);
    const Shape turned = network.shape(rows);
    Value found = rows;
    if (network.is_stored(table) && network.is_stored(indices)) {
        Shape result = at;
        result.insert(result.end(), turned.begin() + 1, turned.end());
        found = network.stored(name, result, network.dtype(table));
    } else if (network.is_stored(table)) {
        found = embedding(network, name, turned, indices, network.dtype(table));
    } else {
        indices = indices_of(network, indices);
        network.settle(indices);
        const std::int64_t width = elements(turned) / turned[0];
        rows = network.moved_to_dims(rows, all_dims(turned.size()));
        Step step{name, "gather", {network.tensor(rows, {turned[0], width}), network.tensor(indices)}};
        Shape made = network.tensor_shape(step.in[1]);
        made.push_back(width);
        const Arrangement held = network.arrangement(indices).with_last(width);
        found = network.make(std::move(step), made, held, network.dtype(table));
        Shape wide = at;
        wide.insert(wide.end(), turned.begin() + 1, turned.end());
        found = network.reshape(found, wide);
    }
    // The dimensions of the indices to where the axis was.
    Order back;
    for (std::size_t dim = 0; dim < axis; ++dim) back.push_back(at.size() + dim);
    for (std::size_t dim = 0; dim < at.size(); ++dim) back.push_back(dim);
    for (std::size_t dim = axis; dim + 1 < shape.size(); ++dim) back.push_back(at.size() + dim);
    return network.transpose(found, back);
}

Value top_k(Network& network, const std::string& name, Value x, std::size_t axis, std::int64_t k,
            bool indices) {
    Shape shape = network.shape(x);
    const std::int64_t cols = shape[axis];
    shape[axis] = k;
    const DType dtype = indices ? DType::Int32 : network.dtype(x);
    if (network.is_stored(x)) return network.stored(name, shape, dtype);
    Order order = all_dims(shape.size());
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(axis));
    order.push_back(axis);
    x = network.moved_to_dims(whole(network, x, axis), order);
    const std::int64_t rows = elements(network.shape(x)) / cols;
    Step step{name, "top_k", {network.tensor(x, {rows, cols})}};
    step.keys = fmt::format(", k: {}{}", k, indices ? ", result: indices" : "");
    const Arrangement held = network.arrangement(x).resized(axis, k);
    return network.make(std::move(step), {rows, k}, held, dtype);
}

}  // namespace systole
