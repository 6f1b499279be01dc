// SPDX-License-Identifier: Apache-2.0
// Elementwise layers, and how their operands come to lie alike.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/workload/importers/network/movements.h"
#include "sim/workload/importers/network/vectors.h"

namespace systole {
namespace {

Shape without_leading_ones(Shape shape) {
    shape.erase(shape.begin(), std::ranges::find_if(shape, [](std::int64_t extent) { return extent != 1; }));
    return shape.empty() ? Shape{1} : shape;
}

/// Whether a trace can meet `second` again beside `first`: it is the innermost dimensions, or lacks some in a
/// row (docs/formats.md).
bool can_meet(const Shape& second, const Shape& first) {
    const Shape inner = without_leading_ones(second);
    if (inner == Shape{1}) return true;
    if (inner.size() <= first.size() && std::equal(inner.rbegin(), inner.rend(), first.rbegin())) return true;
    if (second.size() != first.size()) return false;
    std::size_t at = 0;
    while (at < first.size() && second[at] == first[at]) ++at;
    while (at < first.size() && second[at] == 1) ++at;
    return std::equal(second.begin() + static_cast<std::ptrdiff_t>(at), second.end(),
                      first.begin() + static_cast<std::ptrdiff_t>(at));
}

/// The shape that both are met again in.
Shape broadcast(const Shape& a, const Shape& b) {
    Shape result(std::max(a.size(), b.size()), 1);
    for (std::size_t i = 1; i <= result.size(); ++i) {
        const std::int64_t x = i <= a.size() ? a[a.size() - i] : 1, y = i <= b.size() ? b[b.size() - i] : 1;
        if (x != y && x != 1 && y != 1)
            throw Unsayable(fmt::format("{} and {} do not go together", to_string(a), to_string(b)));
        result[result.size() - i] = x == 1 ? y : x;
    }
    return result;
}

Value with_rank(Network& network, Value value, std::size_t rank) {
    Shape shape = network.shape(value);
    if (shape.size() >= rank) return value;
    shape.insert(shape.begin(), rank - shape.size(), 1);
    return network.reshape(value, shape);
}

class Pairing {
public:
    Pairing(Network& network, Step step, DType dtype)
        : network_(network), step_(std::move(step)), dtype_(dtype) {}

    /// Expects a to have the shape of both.
    Value with_stored(Value a, const Shape& second);
    Value with(Value a, Value b);

private:
    Value alike(Value a, Value b);
    Value put(Value a, const Shape& first);
    /// The operands' orders of factors: b's where it is not met again, as a's.
    Order order_like(Value a, Value b) const;

    Network& network_;
    Step step_;
    DType dtype_;
};

/// The layer, on a's tensor seen as `first`.
Value Pairing::put(Value a, const Shape& first) {
    step_.in.insert(step_.in.begin(), network_.tensor(a, first));
    if (first == network_.tensor_shape(network_.tensor(a)))
        return network_.make_like(std::move(step_), a, dtype_);
    return network_.make(std::move(step_), first, network_.arrangement(a), dtype_);
}

Value Pairing::with_stored(Value a, const Shape& second) {
    const Shape own = network_.tensor_shape(network_.tensor(a));
    if (network_.is_open(a)) {
        Shape full = second;
        full.insert(full.begin(), own.size() - second.size(), 1);
        const Order last = channels_last(own.size());
        if (can_meet(full, own)) {
            if (can_meet(permuted(full, last), permuted(own, last))) {
                step_.stored = full;
                return put(a, own);
            }
            network_.settle(a);
        } else {
            a = network_.feature_map(a, last);  // per channel
        }
        return with_stored(a, second);
    }
    const Shape held = network_.arrangement(a).held(), met = network_.arrangement(a).met_again(second);
    const Shape inner = without_leading_ones(met);
    if (inner.size() <= own.size() && can_meet(inner, own)) {
        step_.stored = inner;
        return put(a, own);
    }
    if ((!can_meet(met, held) || held.size() > 8) && !network_.arrangement(a).is_row_major()) {
        Order dims(network_.shape(a).size());
        std::iota(dims.begin(), dims.end(), 0);
        return with_stored(network_.moved_to_dims(a, dims), second);
    }
    if (!can_meet(met, held) || held.size() > 8)
        throw Unsayable(fmt::format("a stored {} beside {} is met again in more than one way",
                                    to_string(second), to_string(network_.shape(a))));
    step_.stored = met;
    return put(a, held);
}

Value Pairing::alike(Value a, Value b) {
    const Shape own = network_.tensor_shape(network_.tensor(a));
    const bool same = own == network_.tensor_shape(network_.tensor(b));
    const Shape first = same ? own : network_.arrangement(a).held();
    step_.in = {network_.tensor(b, first)};
    return put(a, first);
}

Order Pairing::order_like(Value a, Value b) const {
    const Arrangement of_a = network_.arrangement(a), of_b = network_.arrangement(b);
    const Shape shape = network_.shape(b);
    struct Place {
        std::size_t in_a, in_b;
    };
    std::vector<Place> places;
    for (std::size_t dim = 0; dim < shape.size(); ++dim) {
        const Order fa = of_a.factors({dim}), fb = of_b.factors({dim});
        for (std::size_t i = 0; i < fb.size(); ++i)
            places.push_back({fa[fa.size() == fb.size() ? i : 0], fb[i]});
    }
    std::ranges::stable_sort(places, {}, &Place::in_a);
    Order order;
    for (const Place& place : places) order.push_back(place.in_b);
    return order;
}

Value Pairing::with(Value a, Value b) {
    if (network_.shape(a) == network_.shape(b)) {
        network_.decide_together(a, b);
        if (network_.is_open(a)) return alike(a, b);
        // What is row-major only because nothing asked otherwise follows the other one.
        if (network_.arrangement(a).is_row_major() && !network_.arrangement(b).is_row_major())
            std::swap(a, b);
    }
    network_.settle(a);
    network_.settle(b);
    std::optional<Arrangement> cut = network_.arrangement(b).cut_like(network_.arrangement(a));
    if (!cut) {
        if (const auto other = network_.arrangement(a).cut_like(network_.arrangement(b))) {
            a = network_.rearranged(a, *other);
            cut = network_.arrangement(b).cut_like(network_.arrangement(a));
        }
    }
    if (!cut) {
        // Cut in ways that do not go together: row-major both.
        Order dims(network_.shape(a).size());
        std::iota(dims.begin(), dims.end(), 0);
        a = network_.moved_to_dims(a, dims), b = network_.moved_to_dims(b, dims);
        a = network_.rearranged(a, Arrangement(network_.shape(a)));
        cut = Arrangement(network_.shape(b));
    }
    b = network_.rearranged(b, *cut);
    b = network_.moved(b, order_like(a, b));
    if (network_.shape(a) == network_.shape(b)) return alike(a, b);
    const Shape held = network_.arrangement(a).held(),
                met = network_.arrangement(a).met_again(network_.shape(b));
    if (!can_meet(met, held) || held.size() > 8) {
        const Value wide = expand(network_, network_.name(b) + "_expanded", b, network_.shape(a));
        return with(a, wide);
    }
    step_.in = {network_.tensor(b, met)};
    return put(a, held);
}

/// What it was before it was met again, if it is met again here anyway.
Value narrowed(Network& network, Value value, Value beside) {
    const std::optional<Value> narrow = network.narrow(value);
    if (!narrow) return value;
    const Shape whole = broadcast(network.shape(value), network.shape(beside));
    return broadcast(network.shape(*narrow), network.shape(beside)) == whole ? *narrow : value;
}

}  // namespace

Value elementwise(Network& network, const std::string& name, std::string_view kind, Value a, Value b) {
    a = narrowed(network, a, b);
    b = narrowed(network, b, a);
    const Shape shape = broadcast(network.shape(a), network.shape(b));
    const bool compares = kind == "compare";
    if (network.is_stored(a) && network.is_stored(b))
        return network.stored(name, shape, compares ? DType::Int8 : network.dtype(a));
    if (with_rank(network, a, shape.size()) != a && network.shape(b) != shape)
        a = with_rank(network, a, shape.size());
    const bool swapped = network.shape(a) != shape || (network.is_stored(a) && network.shape(b) == shape);
    if (swapped) std::swap(a, b);
    if (network.shape(a) != shape || network.is_stored(a)) {
        a = network.active(with_rank(network, a, shape.size()));
        if (network.shape(a) != shape) a = expand(network, network.name(a) + "_expanded", a, shape);
    }
    const DType dtype = network.dtype(a);
    if (network.dtype(b) != dtype) b = convert(network, network.name(b) + "_converted", b, dtype);
    Step step{name, "elementwise"};
    step.keys = fmt::format(", kind: {}", kind);
    step.takes_function = !compares;
    Pairing pairing(network, std::move(step), compares ? DType::Int8 : dtype);
    if (network.is_stored(b)) return pairing.with_stored(a, network.shape(b));
    return pairing.with(a, with_rank(network, b, shape.size()));
}

Value select(Network& network, const std::string& name, Value value, Value condition) {
    condition = narrowed(network, condition, value);
    // First, for a layer has the dtype of the operand that has the whole shape, be it the condition.
    if (network.dtype(condition) != network.dtype(value))
        condition = convert(network, network.name(condition) + "_converted", condition, network.dtype(value));
    return elementwise(network, name, "select", value, condition);
}

}  // namespace systole
