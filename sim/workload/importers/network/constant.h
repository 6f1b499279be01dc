// SPDX-License-Identifier: Apache-2.0
// Small tensors whose numbers are known: what shapes, axes and conditions are computed from.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/workload/graph.h"

namespace systole {

/// Numbers of a tensor, row-major. Whole ones are exact; the others have what a double has.
struct Constant {
    /// Elements: larger ones are only stored. Of ONNX so are 64-bit ones above 2,048 (wire_scan.h).
    static constexpr std::int64_t kMost = 4096;

    Shape shape;
    bool real = false;
    std::vector<std::int64_t> whole = {};
    std::vector<double> reals = {};

    std::size_t size() const { return real ? reals.size() : whole.size(); }
    double number(std::size_t i) const { return real ? reals[i] : static_cast<double>(whole[i]); }
    /// Whole numbers; nothing if they are others.
    const std::vector<std::int64_t>* integers() const { return real ? nullptr : &whole; }
};

Constant whole_numbers(const Shape& shape, std::vector<std::int64_t> numbers);
Constant list_of(std::vector<std::int64_t> numbers);

// Each answers nothing where the result is too large, or would be no number.

/// `op` as ONNX calls it: Add, Sub, Mul, Div, Mod, Pow, Min, Max, Equal, Less, LessOrEqual, Greater,
/// GreaterOrEqual, And, Or, Xor; with broadcasting. What Mod leaves has the divisor's sign, what Rem does the
/// dividend's.
std::optional<Constant> combine(std::string_view op, const Constant& a, const Constant& b);
/// Neg, Abs, Floor, Ceil, Round, Sqrt, Not, Identity, Reciprocal, Exp, Log.
std::optional<Constant> apply_to(std::string_view op, const Constant& a);
std::optional<Constant> where(const Constant& condition, const Constant& a, const Constant& b);
std::optional<Constant> expanded(const Constant& a, const Shape& shape);
/// By the indices of one axis, each in 0 … extent - 1 or counted from the end.
std::optional<Constant> taken(const Constant& a, std::size_t axis, const std::vector<std::int64_t>& indices,
                              const Shape& index_shape);
std::optional<Constant> joined(const std::vector<Constant>& parts, std::size_t axis);
/// ReduceSum, ReduceProd, ReduceMin, ReduceMax, of all elements.
std::optional<Constant> reduced(std::string_view op, const Constant& a, const Shape& shape);
Constant converted(const Constant& a, bool real);
/// All the same.
std::optional<Constant> filled(const Shape& shape, const Constant& value);

}  // namespace systole
