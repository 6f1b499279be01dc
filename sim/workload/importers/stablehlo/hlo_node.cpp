// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.h"
#include "sim/workload/importers/stablehlo/hlo_names.h"
#include "sim/workload/importers/stablehlo/hlo_translator.h"

namespace systole {

std::string HloNode::name() const {
    const std::string_view made = operation_.results.empty()
                                      ? std::string_view()
                                      : std::string_view(operation_.results.front()).substr(1);
    return fmt::format("{}_{}", hlo_name(operation_), made);
}

HloValue& HloNode::held(std::size_t i) {
    if (i >= operands()) throw Unsayable(fmt::format("it has {} operands only", operands()));
    return translator_.find(scope_, operation_.operands[i], operation_);
}

Value HloNode::narrow_value(std::size_t i) {
    HloValue& operand = held(i);
    if (!operand.uniform) return value(i);
    const auto dtype = hlo_dtype(operand.element);
    if (!dtype) throw Unsayable(fmt::format("a trace has no numbers of type {}", excerpt(operand.element)));
    return network().stored(operand.name, Shape(operand.shape.size(), 1), *dtype);
}

const std::vector<std::int64_t>* HloNode::integers(std::size_t i) {
    const HloValue& operand = held(i);
    return operand.constant ? operand.constant->integers() : nullptr;
}

MlirType HloNode::result_type(std::size_t i) const {
    // "select" writes the type of its condition in front: one result has the last type.
    const std::size_t at = operation_.results.size() == 1 ? operation_.types.size() - 1 : i;
    if (operation_.types.empty() || at >= operation_.types.size())
        throw Unsayable("the type of what it makes is not written");
    MlirType type = mlir_type(operation_.types[at]);
    if (!type.tensor) throw Unsayable(fmt::format("it makes {}, no tensor", excerpt(operation_.types[at])));
    if (std::find(type.shape.begin(), type.shape.end(), -1) != type.shape.end())
        throw Unsayable(fmt::format("it makes {}, of no known shape", excerpt(operation_.types[at])));
    return type;
}

bool HloNode::has(std::string_view key) const {
    return mlir_key(translator_.tokens(), operation_, key).has_value();
}

std::vector<std::vector<std::int64_t>> HloNode::lists(std::string_view key) const {
    if (!has(key)) return {};
    auto lists = mlir_numbers(translator_.tokens(), operation_, key);
    if (!lists) throw Unsayable(fmt::format("'{}' is not in whole numbers", key));
    return *std::move(lists);
}

std::vector<std::int64_t> HloNode::numbers(std::string_view key, std::vector<std::int64_t> fallback) const {
    const auto found = lists(key);
    if (found.empty()) return fallback;
    std::vector<std::int64_t> all;
    for (const auto& list : found) all.insert(all.end(), list.begin(), list.end());
    return all;
}

Order HloNode::dims(std::string_view key, std::size_t rank) const {
    Order order;
    for (const std::int64_t dim : numbers(key)) {
        if (dim < 0 || static_cast<std::size_t>(dim) >= rank)
            throw Unsayable(fmt::format("'{}' names dimension {} of {}", key, dim, rank));
        order.push_back(static_cast<std::size_t>(dim));
    }
    return order;
}

std::string_view HloNode::word_among(const std::vector<std::string_view>& words) const {
    const MlirTokens& tokens = translator_.tokens();
    for (std::size_t at = operation_.begin; at < operation_.end; ++at)
        if (tokens[at].kind == MlirToken::Kind::Word &&
            std::find(words.begin(), words.end(), tokens[at].text) != words.end())
            return tokens[at].text;
    return {};
}

Value HloNode::reshaped(Value value, const Shape& shape) {
    // No product of extents of a tensor that exists overflows; the other one is divided out.
    std::int64_t left = elements(network().shape(value));
    for (const std::int64_t extent : shape) {
        if (extent < 1 || left % extent != 0)
            throw Unsayable(fmt::format("{} has other elements than {}", to_string(shape),
                                        to_string(network().shape(value))));
        left /= extent;
    }
    if (left != 1)
        throw Unsayable(fmt::format("{} has fewer elements than {}", to_string(shape),
                                    to_string(network().shape(value))));
    return network().reshape(value, shape);
}

void HloNode::put(HloValue held, std::size_t i) {
    if (i >= operation_.results.size())
        throw Unsayable(fmt::format("it has {} results", operation_.results.size()));
    scope_.names.insert_or_assign(operation_.results[i], std::move(held));
}

void HloNode::put(Value value, std::size_t i) {
    const MlirType type = result_type(i);
    if (network().shape(value) != type.shape)
        throw Unsayable(fmt::format("it makes {}, not {} as written", to_string(network().shape(value)),
                                    to_string(type.shape)));
    HloValue held;
    held.name = network().name(value);
    held.shape = type.shape;
    held.element = type.element;
    held.value = value;
    put(std::move(held), i);
}

void HloNode::put_uniform() {
    const MlirType type = result_type();
    HloValue held;
    if (!operation_.results.empty()) held.name = trace_name_of(operation_.results.front());
    held.shape = type.shape;
    held.element = type.element;
    held.uniform = true;
    put(std::move(held));
}

void HloNode::put_unsaid(std::size_t i) {
    HloValue held;
    held.why = fmt::format("result {} of {} is not in the trace", i, name());
    put(std::move(held), i);
}

void HloNode::pass(std::size_t from, std::size_t i) {
    HloValue passed = held(from);
    const MlirType type = result_type(i);
    passed.element = type.element;
    put(std::move(passed), i);
}

}  // namespace systole
