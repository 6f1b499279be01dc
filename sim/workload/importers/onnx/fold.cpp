// SPDX-License-Identifier: Apache-2.0
// Nodes whose results follow from numbers that are known: shapes, axes, conditions.
#include <algorithm>
#include <array>
#include <cmath>

#include "sim/base/checked.h"
#include "sim/workload/importers/onnx/infer.h"
#include "sim/workload/importers/onnx/node.h"
#include "sim/workload/operator_shapes.h"

namespace systole {
namespace {

using T = onnx::TensorProto;

bool fold_constant(Node& node) {
    const onnx::AttributeProto* value = node.attribute("value");
    if (value != nullptr && value->has_t()) {
        Held held{"", Held::Source::Stored, shape_of(value->t()), value->t().data_type()};
        if (std::ranges::any_of(held.shape, [](std::int64_t extent) { return extent < 0; }) ||
            !is_storable(held.shape))
            throw Unsayable("its tensor has a shape that cannot be");
        held.constant = constant_of(value->t());
        node.put_held(0, std::move(held));
        return true;
    }
    if ((value = node.attribute("value_int")) != nullptr)
        node.put(0, whole_numbers({}, {value->i()}), T::INT64);
    else if ((value = node.attribute("value_ints")) != nullptr)
        node.put(0, list_of({value->ints().begin(), value->ints().end()}), T::INT64);
    else if ((value = node.attribute("value_float")) != nullptr)
        node.put(0, Constant{{}, true, {}, {static_cast<double>(value->f())}}, T::FLOAT);
    else if ((value = node.attribute("value_floats")) != nullptr)
        node.put(0,
                 Constant{{value->floats_size()}, true, {}, {value->floats().begin(), value->floats().end()}},
                 T::FLOAT);
    else
        throw Unsayable("a constant that holds no numbers");
    return true;
}

bool fold_shape(Node& node) {
    const Shape& shape = node.shape(0);
    if (node.op() == "Size") {
        node.put(0, whole_numbers({}, {elements(shape)}), T::INT64);
        return true;
    }
    const auto rank = static_cast<std::int64_t>(shape.size());
    const auto bound = [&](std::int64_t at) {
        return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    const std::int64_t begin = bound(node.integer("start", 0)), end = bound(node.integer("end", rank));
    if (begin >= end) {
        node.put(0, list_of({}), T::INT64);
        return true;
    }
    node.put(0, list_of({shape.begin() + begin, shape.begin() + end}), T::INT64);
    return true;
}

bool fold_range(Node& node) {
    const Constant *begin = node.constant(0), *end = node.constant(1), *step = node.constant(2);
    if (begin == nullptr || end == nullptr || step == nullptr) return false;
    if (begin->size() != 1 || end->size() != 1 || step->size() != 1 || step->number(0) == 0) return false;
    const double count = std::ceil((end->number(0) - begin->number(0)) / step->number(0));
    if (!(count >= 0 && count <= static_cast<double>(Constant::kMost))) return false;
    Constant result{{static_cast<std::int64_t>(count)}, begin->real};
    std::optional<std::int64_t> next = begin->real ? 0 : begin->whole[0];
    for (std::int64_t i = 0; i < result.shape[0]; ++i) {
        if (!next) return false;
        if (begin->real)
            result.reals.push_back(begin->number(0) + static_cast<double>(i) * step->number(0));
        else
            result.whole.push_back(*next), next = checked_add(*next, converted(*step, false).whole[0]);
    }
    node.put(0, std::move(result), node.held(0).type);
    return true;
}

bool fold_filled(Node& node) {
    if (node.constant(0) == nullptr) return false;
    const Shape shape = node.integers(0, "sizes");
    const onnx::AttributeProto* const value = node.attribute("value");
    std::optional<Constant> one = Constant{{}, true, {}, {0.0}};
    int type = T::FLOAT;
    if (value != nullptr && value->has_t()) one = constant_of(value->t()), type = value->t().data_type();
    if (std::ranges::any_of(shape, [](std::int64_t extent) { return extent < 0; }) || !is_storable(shape))
        throw Unsayable("its sizes cannot be");
    Held held{"", Held::Source::Stored, shape, type};
    if (one) held.constant = filled(shape, *one);
    node.put_held(0, std::move(held));
    return true;
}

/// Axes of Squeeze, Unsqueeze and reductions: an attribute up to opset 12, then an input.
bool fold_view(Node& node, const Constant& x) {
    Constant result = x;
    if (node.op() == "Transpose") {
        const auto nontrivial =
            std::ranges::count_if(x.shape, [](std::int64_t extent) { return extent > 1; });
        if (nontrivial > 1) return false;
        std::vector<std::int64_t> perm = node.integers("perm");
        if (perm.empty())
            for (std::size_t dim = x.shape.size(); dim-- > 0;) perm.push_back(static_cast<std::int64_t>(dim));
        if (perm.size() != x.shape.size()) return false;
        for (std::size_t dim = 0; dim < perm.size(); ++dim)
            result.shape[dim] = x.shape[Node::checked_axis(perm[dim], perm.size())];
        node.put(0, std::move(result), node.held(0).type);
        return true;
    }
    return false;
}

bool fold_cast(Node& node, const Constant& x) {
    const auto to = static_cast<int>(node.integer("to", T::FLOAT));
    const bool real = to == T::FLOAT || to == T::DOUBLE || to == T::FLOAT16 || to == T::BFLOAT16;
    Constant result = converted(x, real);
    if (to == T::BOOL)
        for (std::size_t i = 0; i < result.size(); ++i) result.whole[i] = x.number(i) != 0 ? 1 : 0;
    node.put(0, std::move(result), to);
    return true;
}

bool fold_gather(Node& node) {
    const Constant *data = node.constant(0), *indices = node.constant(1);
    if (data == nullptr || indices == nullptr || indices->real) return false;
    const auto result =
        taken(*data, node.axis("axis", 0, data->shape.size()), indices->whole, indices->shape);
    if (!result) return false;
    node.put(0, *result, node.held(0).type);
    return true;
}

bool fold_concat(Node& node) {
    std::vector<Constant> parts;
    for (std::size_t i = 0; i < node.inputs(); ++i) {
        if (node.constant(i) == nullptr) return false;
        parts.push_back(*node.constant(i));
    }
    if (parts.empty() || parts[0].shape.empty()) return false;
    const auto result = joined(parts, node.axis("axis", 0, parts[0].shape.size()));
    if (!result) return false;
    node.put(0, *result, node.held(0).type);
    return true;
}

bool put_if(Node& node, const std::optional<Constant>& result, int type) {
    if (!result) return false;
    node.put(0, *result, type);
    return true;
}

bool fold_elements(Node& node) {
    static constexpr std::array<std::string_view, 16> kTwo = {"Add",
                                                              "Sub",
                                                              "Mul",
                                                              "Div",
                                                              "Mod",
                                                              "Pow",
                                                              "Min",
                                                              "Max",
                                                              "Equal",
                                                              "Less",
                                                              "LessOrEqual",
                                                              "Greater",
                                                              "GreaterOrEqual",
                                                              "And",
                                                              "Or",
                                                              "Xor"};
    const bool two = std::ranges::find(kTwo, std::string_view(node.op())) != kTwo.end();
    for (std::size_t i = 0; i < node.inputs(); ++i)
        if (!node.has(i) || node.constant(i) == nullptr) return false;
    const int type = node.held(0).type;
    if (two && node.inputs() == 2) {
        const bool tests = !combine(node.op(), whole_numbers({}, {1}), whole_numbers({}, {1}))->real &&
                           node.op() != "Add" && node.op() != "Sub" && node.op() != "Mul" &&
                           node.op() != "Div" && node.op() != "Mod" && node.op() != "Pow" &&
                           node.op() != "Min" && node.op() != "Max";
        const bool as_in_c = node.op() == "Mod" && node.integer("fmod", 0) != 0;
        return put_if(node, combine(as_in_c ? "Rem" : node.op(), *node.constant(0), *node.constant(1)),
                      tests ? T::BOOL : type);
    }
    if (node.op() == "Where" && node.inputs() == 3)
        return put_if(node, where(*node.constant(0), *node.constant(1), *node.constant(2)),
                      node.held(1).type);
    if (node.inputs() == 1) return put_if(node, apply_to(node.op(), *node.constant(0)), type);
    return false;
}

}  // namespace

bool fold(Node& node) {
    const std::string& op = node.op();
    if (!node.proto().domain().empty() && node.proto().domain() != "ai.onnx") return false;
    if (op == "Constant") return fold_constant(node);
    if (op == "Shape" || op == "Size") return fold_shape(node);
    if (op == "ConstantOfShape") return fold_filled(node);
    if (op == "Range" && node.inputs() == 3) return fold_range(node);
    if (op == "Gather" && node.inputs() == 2) return fold_gather(node);
    if (op == "Concat" && node.inputs() > 0) return fold_concat(node);
    if (node.inputs() == 0 || !node.has(0)) return false;
    const Constant* const x = node.constant(0);
    if (x == nullptr) return false;
    if (op == "Cast") return fold_cast(node, *x);
    if (op == "Transpose") return fold_view(node, *x);
    return fold_elements(node);
}

}  // namespace systole
