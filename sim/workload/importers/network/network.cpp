// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/network/network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "sim/workload/operator_shapes.h"
#include "sim/workload/parameters.h"

namespace systole {
namespace {

constexpr std::size_t kMostDims = 8;  // of a tensor in a trace

void expect_sayable(const Shape& shape) {
    for (const std::int64_t extent : shape)
        if (extent < 1 || extent > kMaxInteger)
            throw Unsayable(fmt::format("a dimension of {} in {}; a trace has 1 to {}", extent,
                                        to_string(shape), kMaxInteger));
    if (!is_storable(shape)) throw Unsayable(fmt::format("{} has more than 2^56 elements", to_string(shape)));
}

/// Of a tensor; a scalar has one element.
Shape tensor_shape_of(const Shape& held) {
    if (held.empty()) return {1};
    if (held.size() <= kMostDims) return held;
    Shape shape;
    for (const std::int64_t extent : held)
        if (extent > 1) shape.push_back(extent);
    if (shape.size() > kMostDims)
        throw Unsayable(fmt::format("{} has more than {} dimensions", to_string(held), kMostDims));
    return shape.empty() ? Shape{1} : shape;
}

}  // namespace

Order channels_last(std::size_t rank) {
    Order order(rank);
    std::iota(order.begin(), order.end(), 0);
    if (rank > 2) order.erase(order.begin() + 1), order.push_back(1);
    return order;
}

Value Network::add(Record record) {
    record.shape = record.arrangement.shape();
    values_.push_back(std::move(record));
    return {values_.size() - 1};
}

Value Network::input(std::string_view name, const Shape& shape, DType dtype) {
    expect_sayable(shape);
    tensors_.push_back({std::string(name), tensor_shape_of(shape), dtype, {}, {}});
    const Value value = add({std::string(name), Arrangement(shape), dtype, tensors_.size() - 1});
    if (shape.size() >= 3 && shape.size() <= 5) {
        tensors_.back().open = groups_.size();
        groups_.push_back({{tensors_.size() - 1}, {value}});
    }
    return value;
}

Value Network::stored(std::string_view name, const Shape& shape, DType dtype) {
    expect_sayable(shape);
    return add({std::string(name), Arrangement(shape), dtype, {}});
}

Value Network::active(Value value) {
    if (!is_stored(value)) return value;
    const auto known = fed_.find(value.index);
    if (known != fed_.end()) return known->second;
    const Value fed = input(name(value), shape(value), dtype(value));
    fed_.emplace(value.index, fed);
    return fed;
}

bool Network::output(Value value) {
    const Value last = active(value);
    settle(last);
    const Arrangement held = arrangement(last);
    const Order last_order = channels_last(held.rank());
    Order dims(held.rank());
    std::iota(dims.begin(), dims.end(), 0);
    const bool usual = held.is_row_major() || held.is_held(held.factors(last_order));
    const Value ordered = usual ? last : moved_to_dims(last, dims);
    add_output(tensor(ordered));
    return is_output_.contains(tensor(ordered));
}

/// Inputs are there anyway.
void Network::add_output(TensorId tensor) {
    if (tensors_[tensor].step && is_output_.insert(tensor).second) outputs_.push_back(tensor);
}

void Network::keep(Value value) {
    if (is_stored(value) || record(value).pending) return;
    add_output(*record(value).tensor);
}

Value Network::reshape(Value value, const Shape& shape) {
    expect_sayable(shape);
    if (elements(shape) != elements(this->shape(value)))
        throw Unsayable(
            fmt::format("{} has other elements than {}", to_string(shape), to_string(this->shape(value))));
    if (is_stored(value)) return add({name(value), Arrangement(shape), dtype(value), {}});
    if (shape == this->shape(value)) return value;
    settle(value);
    std::optional<Arrangement> held = arrangement(value).reshaped(shape);
    if (!held) {
        Order dims(arrangement(value).rank());
        std::iota(dims.begin(), dims.end(), 0);
        value = moved_to_dims(value, dims);
        held = arrangement(value).reshaped(shape);
        if (!held) throw Unsayable(fmt::format("it is no view of {}", to_string(this->shape(value))));
    }
    return add({name(value), *held, dtype(value), made(value).tensor});
}

Value Network::transpose(Value value, const Order& order) {
    settle(value);
    if (!is_stored(value)) made(value);
    return add({name(value), record(value).arrangement.permuted(order), dtype(value), record(value).tensor});
}

Value Network::moved_to_dims(Value value, const Order& dims) {
    return moved(value, arrangement(value).factors(dims));
}

Value Network::moved(Value value, const Order& factors) {
    settle(value);
    if (is_stored(value) || arrangement(value).is_held(factors)) return value;
    const Arrangement from = arrangement(value);
    const std::optional<Move> move = move_between(from, factors, kMostDims);
    if (!move) throw Unsayable(fmt::format("a transposition of more than {} dimensions", kMostDims));
    const Arrangement to = from.moved(factors);
    const auto key = std::pair(tensor(value), std::pair(move->shape, move->permutation));
    const auto known = moves_.find(key);
    if (known != moves_.end()) return add({name(value), to, dtype(value), known->second});
    Step step{name(value) + "_transposed", "transpose", {tensor(value, move->shape)}};
    step.keys = fmt::format(", permutation: [{}]", fmt::join(move->permutation, ", "));
    const Value made = make(std::move(step), permuted(move->shape, move->permutation), to, dtype(value));
    values_[made.index].name = name(value);
    moves_.emplace(key, tensor(made));
    return made;
}

Value Network::feature_map(Value value, const Order& dims) {
    value = active(value);
    const std::optional<std::size_t> group = tensors_[tensor(value)].open;
    if (group && dims.size() == shape(value).size()) decide(*group, dims == channels_last(dims.size()));
    return moved_to_dims(value, dims);
}

Value Network::rearranged(Value value, const Arrangement& arrangement) {
    return add({name(value), arrangement, dtype(value), made(value).tensor});
}

Value Network::met_again(std::string_view name, Value value, const Shape& shape) {
    expect_sayable(shape);
    const Value wide = add({std::string(name), Arrangement(shape), dtype(value), {}});
    values_[wide.index].narrow = value;
    values_[wide.index].pending = true;
    return wide;
}

const Network::Record& Network::made(Value value) {
    if (values_[value.index].pending) copy_narrow(value);
    return values_[value.index];
}

TensorId Network::tensor(Value value, const Shape& shape) {
    const TensorId base = tensor(value);
    if (tensors_[base].shape == shape) return base;
    settle(value);
    if (tensors_[base].shape == shape) return base;
    const auto known = views_.find({base, shape});
    if (known != views_.end()) return known->second;
    Step step{tensors_[base].name + "_view", "reshape", {base}};
    step.keys = fmt::format(", shape: [{}]", fmt::join(shape, ", "));
    step.out = tensors_.size();
    tensors_.push_back({step.name, shape, tensors_[base].dtype, steps_.size(), {}});
    steps_.push_back(std::move(step));
    views_.emplace(std::pair(base, shape), tensors_.size() - 1);
    return tensors_.size() - 1;
}

Value Network::make(Step step, const Shape& shape, const Arrangement& arrangement, DType dtype) {
    expect_sayable(shape);
    step.out = tensors_.size();
    tensors_.push_back({step.name, shape, dtype, steps_.size(), {}});
    const Value value = add({step.name, arrangement, dtype, step.out});
    steps_.push_back(std::move(step));
    return value;
}

Value Network::make_like(Step step, Value like, DType dtype) {
    const TensorId base = tensor(like);
    const Shape shape = tensors_[base].shape;
    const std::optional<std::size_t> open = tensors_[base].open;
    const Value value = make(std::move(step), shape, arrangement(like), dtype);
    if (!open) return value;
    tensors_.back().open = open;
    groups_[*open].tensors.push_back(tensor(value));
    groups_[*open].values.push_back(value);
    return value;
}

std::optional<Value> Network::converted(Value value, DType to) {
    const auto known = conversions_.find({tensor(value), to});
    if (known == conversions_.end()) return std::nullopt;
    const TensorId made = known->second;
    const Value same = add({tensors_[made].name, arrangement(value), to, made});
    if (const auto open = tensors_[made].open) groups_[*open].values.push_back(same);
    return same;
}

void Network::remember_converted(Value value, Value made) {
    const auto key = std::pair(tensor(value), dtype(made));
    conversions_.emplace(key, tensor(made));
}

bool Network::reaches_output(std::size_t begin, std::size_t end) const {
    const auto first = unread_.begin();
    return std::find(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end),
                     false) != first + static_cast<std::ptrdiff_t>(end);
}

void Network::may_fold(Value made) {
    if (record(made).tensor) steps_[*tensors_[*record(made).tensor].step].folds = true;
}

void Network::write_as(Value made, DType dtype) {
    values_[made.index].dtype = dtype;
    for (TensorId id = *record(made).tensor;; id = steps_[*tensors_[id].step].in[0]) {
        tensors_[id].dtype = dtype;
        if (steps_[*tensors_[id].step].op != "reshape") return;
    }
}

void Network::scale_weights(Value made, std::int64_t group) {
    Step& step = steps_[*tensors_[*record(made).tensor].step];
    step.keys += group > 0 ? fmt::format(", scales: group, group: {}", group) : ", scales: channel";
}

bool Network::is_open(Value value) {
    return record(value).tensor.has_value() && tensors_[tensor(value)].open.has_value();
}

void Network::settle(Value value) {
    if (is_open(value)) decide(*tensors_[*record(value).tensor].open, false);
}

void Network::decide_together(Value one, Value other) {
    if (is_open(one) && is_open(other)) {
        std::size_t into = *tensors_[tensor(one)].open, from = *tensors_[tensor(other)].open;
        if (into == from) return;
        if (groups_[into].values.size() < groups_[from].values.size()) std::swap(into, from);
        for (const TensorId id : groups_[from].tensors)
            tensors_[id].open = into, groups_[into].tensors.push_back(id);
        for (const Value value : groups_[from].values) groups_[into].values.push_back(value);
        groups_[from] = {};
    } else if (is_open(one) != is_open(other)) {
        const Value open = is_open(one) ? one : other, decided = is_open(one) ? other : one;
        const Arrangement held = arrangement(decided);
        const Order last = channels_last(held.rank());
        decide(*tensors_[tensor(open)].open,
               !held.is_row_major() && shape(open).size() == held.rank() && held.is_held(held.factors(last)));
    }
}

void Network::decide(std::size_t group, bool last) {
    for (const TensorId id : groups_[group].tensors) {
        Held& held = tensors_[id];
        held.open.reset();
        if (!last) continue;
        const Order order = channels_last(held.shape.size());
        held.shape = permuted(held.shape, order);
        // One number for all elements has no order.
        if (held.step && steps_[*held.step].stored && steps_[*held.step].stored->size() == order.size())
            steps_[*held.step].stored = permuted(*steps_[*held.step].stored, order);
    }
    if (last)
        for (const Value value : groups_[group].values) {
            Record& record = values_[value.index];
            const Shape shape = record.arrangement.shape();
            record.arrangement = Arrangement(shape, channels_last(shape.size()));
        }
    groups_[group] = {};
}

}  // namespace systole
