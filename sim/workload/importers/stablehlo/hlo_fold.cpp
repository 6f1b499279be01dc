// SPDX-License-Identifier: Apache-2.0
// Whole numbers that follow from whole numbers: counters of loops, indices, conditions.
#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "sim/workload/importers/stablehlo/hlo_names.h"
#include "sim/workload/importers/stablehlo/hlo_translator.h"

namespace systole {
namespace {

using Name = std::pair<std::string_view, std::string_view>;

/// What Constant's functions call it; "" of others.
template <std::size_t N>
std::string_view called(const std::array<Name, N>& names, std::string_view name) {
    for (const auto& [ours, theirs] : names)
        if (ours == name) return theirs;
    return "";
}

constexpr std::array<Name, 10> kFoldedBinary = {{{"add", "Add"},
                                                 {"subtract", "Sub"},
                                                 {"multiply", "Mul"},
                                                 {"divide", "Div"},
                                                 {"remainder", "Rem"},
                                                 {"minimum", "Min"},
                                                 {"maximum", "Max"},
                                                 {"and", "And"},
                                                 {"or", "Or"},
                                                 {"xor", "Xor"}}};
constexpr std::array<Name, 2> kUnary = {{{"negate", "Neg"}, {"abs", "Abs"}}};
constexpr std::array<Name, 6> kDirections = {{{"EQ", "Equal"},
                                              {"NE", "Equal"},
                                              {"LT", "Less"},
                                              {"LE", "LessOrEqual"},
                                              {"GT", "Greater"},
                                              {"GE", "GreaterOrEqual"}}};

std::int64_t elements_of(const Shape& shape) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) {
        if (extent < 1 || count > Constant::kMost) return Constant::kMost + 1;
        count *= extent;
    }
    return count;
}

std::optional<Constant> iota(HloNode& node) {
    const Shape shape = node.result_shape();
    const auto dim = node.dims("dim", shape.size());
    if (dim.size() != 1 || elements_of(shape) > Constant::kMost) return std::nullopt;
    Shape row(shape.size(), 1);
    row[dim[0]] = shape[dim[0]];
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(shape[dim[0]]));
    std::iota(numbers.begin(), numbers.end(), 0);
    return expanded(whole_numbers(row, std::move(numbers)), shape);
}

std::optional<Constant> broadcast(HloNode& node, const Constant& from) {
    const Shape shape = node.result_shape();
    const Order dims = node.dims("dims", shape.size());
    if (elements_of(shape) > Constant::kMost || dims.size() != from.shape.size() ||
        !std::ranges::is_sorted(dims))
        return std::nullopt;
    Shape row(shape.size(), 1);
    for (std::size_t i = 0; i < dims.size(); ++i) row[dims[i]] = from.shape[i];
    return expanded(whole_numbers(row, from.whole), shape);
}

/// From `begins` on, as many along each axis as `shape` says.
std::optional<Constant> part(const Constant& from, const std::vector<std::int64_t>& begins,
                             const Shape& shape) {
    Constant result = from;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        std::vector<std::int64_t> indices(static_cast<std::size_t>(shape[axis]));
        // As dynamic_slice moves windows that reach beyond the end.
        std::iota(indices.begin(), indices.end(),
                  std::clamp<std::int64_t>(begins[axis], 0, from.shape[axis] - shape[axis]));
        const auto next = taken(result, axis, indices, {shape[axis]});
        if (!next) return std::nullopt;
        result = *next;
    }
    return result;
}

std::optional<Constant> dynamic_part(HloNode& node, const Constant& from) {
    const Shape shape = node.result_shape();
    std::vector<std::int64_t> begins;
    for (std::size_t i = 1; i < node.operands(); ++i) {
        const auto* const begin = node.integers(i);
        if (!begin || begin->size() != 1) return std::nullopt;
        begins.push_back((*begin)[0]);
    }
    if (begins.size() != from.shape.size() || shape.size() != from.shape.size()) return std::nullopt;
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (shape[i] > from.shape[i]) return std::nullopt;
    return part(from, begins, shape);
}

/// 1 where there is 0, and the other way round.
Constant negated(Constant truth) {
    for (std::int64_t& each : truth.whole) each = each == 0 ? 1 : 0;
    return truth;
}

std::optional<Constant> compared(HloNode& node, const Constant& a, const Constant& b) {
    const std::string_view direction = node.word_among({"EQ", "NE", "LT", "LE", "GT", "GE"});
    if (direction.empty()) return std::nullopt;
    const auto truth = combine(called(kDirections, direction), a, b);
    return truth && direction == "NE" ? std::optional(negated(*truth)) : truth;
}

std::optional<Constant> folded_unary(HloNode& node, std::string_view name, const Constant& a) {
    if (const std::string_view op = called(kUnary, name); !op.empty()) return apply_to(op, a);
    if (name == "not") return negated(a);
    if (name == "convert" || name == "optimization_barrier") return a;
    if (name == "reshape") return whole_numbers(node.result_shape(), a.whole);
    if (name == "broadcast_in_dim") return broadcast(node, a);
    return std::nullopt;
}

}  // namespace

std::optional<Constant> hlo_folded(HloNode& node, std::string_view name) {
    if (node.operation().results.size() != 1 || node.operation().types.empty()) return std::nullopt;
    const MlirType type = mlir_type(node.operation().types.back());
    // A bit wide: "not" of others is another thing.
    const auto bits = integer_bits(type.element);
    if (!bits || !type.tensor || elements_of(type.shape) > Constant::kMost) return std::nullopt;
    if (name == "iota") return iota(node);
    std::vector<const Constant*> known;
    for (std::size_t i = 0; i < node.operands(); ++i) {
        const HloValue& held = node.held(i);
        if (!held.constant || held.constant->real) return std::nullopt;
        known.push_back(&*held.constant);
    }
    if (known.empty() || (name == "not" && *bits != 1)) return std::nullopt;
    if (name == "dynamic_slice") return dynamic_part(node, *known[0]);
    if (known.size() == 1) return folded_unary(node, name, *known[0]);
    if (known.size() == 3 && name == "select") return where(*known[0], *known[1], *known[2]);
    if (known.size() != 2) return std::nullopt;
    if (name == "compare") return compared(node, *known[0], *known[1]);
    const std::string_view op = called(kFoldedBinary, name);
    const bool logical = name == "and" || name == "or" || name == "xor";
    if (op.empty() || (logical && *bits != 1)) return std::nullopt;
    return combine(op, *known[0], *known[1]);
}

}  // namespace systole
