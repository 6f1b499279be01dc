// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/network/constant.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "sim/base/checked.h"
#include "sim/workload/operator_shapes.h"

namespace systole {
namespace {

bool is_small(const Shape& shape) {
    if (std::ranges::any_of(shape, [](std::int64_t extent) { return extent < 0; })) return false;
    return is_storable(shape) && elements(shape) <= Constant::kMost;
}

Constant empty_like(const Shape& shape, bool real) {
    Constant result{shape, real};
    const auto count = static_cast<std::size_t>(elements(shape));
    if (real)
        result.reals.resize(count);
    else
        result.whole.resize(count);
    return result;
}

std::optional<Shape> together(const Shape& a, const Shape& b) {
    Shape shape(std::max(a.size(), b.size()), 1);
    for (std::size_t i = 1; i <= shape.size(); ++i) {
        const std::int64_t x = i <= a.size() ? a[a.size() - i] : 1, y = i <= b.size() ? b[b.size() - i] : 1;
        if (x != y && x != 1 && y != 1) return std::nullopt;
        shape[shape.size() - i] = x == 1 ? y : x;
    }
    return is_small(shape) ? std::optional(shape) : std::nullopt;
}

/// Where element `number` of `shape` is in a tensor that is met again in it.
std::size_t place_in(const Shape& own, const Shape& shape, std::size_t number) {
    std::size_t place = 0, pitch = 1;
    for (std::size_t i = 1; i <= shape.size(); ++i) {
        const auto extent = static_cast<std::size_t>(shape[shape.size() - i]);
        if (i <= own.size() && own[own.size() - i] > 1) {
            place += number % extent * pitch;
            pitch *= extent;
        }
        number /= extent;
    }
    return place;
}

std::optional<std::int64_t> whole_result(std::string_view op, std::int64_t a, std::int64_t b) {
    if (op == "Add") return checked_add(a, b);
    if (op == "Sub") return b == std::numeric_limits<std::int64_t>::min() ? std::nullopt : checked_add(a, -b);
    if (op == "Mul") return checked_mul(a, b);
    const bool divides = b != 0 && !(b == -1 && a == std::numeric_limits<std::int64_t>::min());
    if (op == "Div") return divides ? std::optional(a / b) : std::nullopt;
    if (op == "Rem") return divides ? std::optional(a % b) : std::nullopt;
    if (op == "Mod") {
        if (!divides) return std::nullopt;
        const std::int64_t rest = a % b;
        return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    if (op == "Min") return std::min(a, b);
    if (op == "Max") return std::max(a, b);
    if (op == "Pow") {
        const double power = std::pow(static_cast<double>(a), static_cast<double>(b));
        if (b < 0 || std::abs(power) > 1e15) return std::nullopt;
        return static_cast<std::int64_t>(power);
    }
    return std::nullopt;
}

std::optional<double> real_result(std::string_view op, double a, double b) {
    static const std::map<std::string, double (*)(double, double), std::less<>> known{
        {"Add", [](double x, double y) { return x + y; }},
        {"Sub", [](double x, double y) { return x - y; }},
        {"Mul", [](double x, double y) { return x * y; }},
        {"Div", [](double x, double y) { return x / y; }},
        {"Mod", [](double x, double y) { return std::fmod(x, y); }},
        {"Rem", [](double x, double y) { return std::fmod(x, y); }},
        {"Pow", [](double x, double y) { return std::pow(x, y); }},
        {"Min", [](double x, double y) { return std::min(x, y); }},
        {"Max", [](double x, double y) { return std::max(x, y); }}};
    const auto found = known.find(op);
    return found == known.end() ? std::nullopt : std::optional(found->second(a, b));
}

template <class Number>
std::optional<bool> test(std::string_view op, Number a, Number b) {
    if (op == "Equal") return a == b;
    if (op == "Less") return a < b;
    if (op == "LessOrEqual") return a <= b;
    if (op == "Greater") return a > b;
    if (op == "GreaterOrEqual") return a >= b;
    if (op == "And") return a != 0 && b != 0;
    if (op == "Or") return a != 0 || b != 0;
    if (op == "Xor") return (a != 0) != (b != 0);
    return std::nullopt;
}

}  // namespace

Constant whole_numbers(const Shape& shape, std::vector<std::int64_t> numbers) {
    return {shape, false, std::move(numbers), {}};
}

Constant list_of(std::vector<std::int64_t> numbers) {
    const auto count = static_cast<std::int64_t>(numbers.size());
    return {{count}, false, std::move(numbers), {}};
}

std::optional<Constant> combine(std::string_view op, const Constant& a, const Constant& b) {
    const std::optional<Shape> shape = together(a.shape, b.shape);
    if (!shape) return std::nullopt;
    const bool tests = test(op, 0, 0).has_value(), real = !tests && (a.real || b.real);
    Constant result = empty_like(*shape, real);
    for (std::size_t i = 0; i < result.size(); ++i) {
        const std::size_t x = place_in(a.shape, *shape, i), y = place_in(b.shape, *shape, i);
        if (tests) {
            // Not every whole number is a double.
            const bool whole = !a.real && !b.real;
            result.whole[i] =
                *(whole ? test(op, a.whole[x], b.whole[y]) : test(op, a.number(x), b.number(y))) ? 1 : 0;
        } else if (real) {
            const auto number = real_result(op, a.number(x), b.number(y));
            if (!number) return std::nullopt;
            result.reals[i] = *number;
        } else {
            const auto number = whole_result(op, a.whole[x], b.whole[y]);
            if (!number) return std::nullopt;
            result.whole[i] = *number;
        }
    }
    return result;
}

std::optional<Constant> apply_to(std::string_view op, const Constant& a) {
    static const std::map<std::string, double (*)(double), std::less<>> known{
        {"Floor", [](double x) { return std::floor(x); }},
        {"Ceil", [](double x) { return std::ceil(x); }},
        {"Round", [](double x) { return std::nearbyint(x); }},
        {"Sqrt", [](double x) { return std::sqrt(x); }},
        {"Neg", [](double x) { return -x; }},
        {"Abs", [](double x) { return std::abs(x); }},
        {"Reciprocal", [](double x) { return 1 / x; }},
        {"Exp", [](double x) { return std::exp(x); }},
        {"Log", [](double x) { return std::log(x); }}};
    if (op == "Identity") return a;
    Constant result = a;
    if (op == "Not") {
        if (a.real) return std::nullopt;
        for (std::int64_t& number : result.whole) number = number == 0 ? 1 : 0;
        return result;
    }
    const auto found = known.find(op);
    if (found == known.end()) return std::nullopt;
    for (double& number : result.reals) number = found->second(number);
    for (std::int64_t& number : result.whole) {
        if (op != "Neg" && op != "Abs") return std::nullopt;
        if (number == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
        number = op == "Neg" || number < 0 ? -number : number;
    }
    return result;
}

std::optional<Constant> where(const Constant& condition, const Constant& a, const Constant& b) {
    const std::optional<Shape> first = together(condition.shape, a.shape);
    const std::optional<Shape> shape = first ? together(*first, b.shape) : first;
    if (!shape || a.real != b.real) return std::nullopt;
    Constant result = empty_like(*shape, a.real);
    for (std::size_t i = 0; i < result.size(); ++i) {
        const bool yes = condition.number(place_in(condition.shape, *shape, i)) != 0;
        const Constant& from = yes ? a : b;
        const std::size_t at = place_in(from.shape, *shape, i);
        if (a.real)
            result.reals[i] = from.reals[at];
        else
            result.whole[i] = from.whole[at];
    }
    return result;
}

std::optional<Constant> expanded(const Constant& a, const Shape& shape) {
    const std::optional<Shape> whole = together(a.shape, shape);
    if (!whole) return std::nullopt;
    Constant result = empty_like(*whole, a.real);
    for (std::size_t i = 0; i < result.size(); ++i) {
        const std::size_t at = place_in(a.shape, *whole, i);
        if (a.real)
            result.reals[i] = a.reals[at];
        else
            result.whole[i] = a.whole[at];
    }
    return result;
}

std::optional<Constant> taken(const Constant& a, std::size_t axis, const std::vector<std::int64_t>& indices,
                              const Shape& index_shape) {
    Shape shape(a.shape.begin(), a.shape.begin() + static_cast<std::ptrdiff_t>(axis));
    shape.insert(shape.end(), index_shape.begin(), index_shape.end());
    shape.insert(shape.end(), a.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, a.shape.end());
    if (!is_small(shape)) return std::nullopt;
    std::int64_t outer = 1, inner = 1;
    for (std::size_t dim = 0; dim < a.shape.size(); ++dim)
        if (dim != axis) (dim < axis ? outer : inner) *= a.shape[dim];
    Constant result{shape, a.real};
    for (std::int64_t o = 0; o < outer; ++o)
        for (std::int64_t index : indices) {
            if (index < 0) index += a.shape[axis];
            if (index < 0 || index >= a.shape[axis]) return std::nullopt;
            for (std::int64_t i = 0; i < inner; ++i) {
                const auto at = static_cast<std::size_t>((o * a.shape[axis] + index) * inner + i);
                if (a.real)
                    result.reals.push_back(a.reals[at]);
                else
                    result.whole.push_back(a.whole[at]);
            }
        }
    return result;
}

std::optional<Constant> joined(const std::vector<Constant>& parts, std::size_t axis) {
    Shape shape = parts[0].shape;
    shape[axis] = 0;
    for (const Constant& part : parts) {
        if (part.shape.size() != shape.size() || part.real != parts[0].real) return std::nullopt;
        shape[axis] += part.shape[axis];
    }
    if (!is_small(shape)) return std::nullopt;
    std::int64_t outer = 1;
    for (std::size_t dim = 0; dim < axis; ++dim) outer *= shape[dim];
    Constant result{shape, parts[0].real};
    for (std::int64_t o = 0; o < outer; ++o)
        for (const Constant& part : parts) {
            const auto row = static_cast<std::ptrdiff_t>(part.size() / static_cast<std::size_t>(outer));
            const std::ptrdiff_t begin = o * row;
            if (part.real)
                result.reals.insert(result.reals.end(), part.reals.begin() + begin,
                                    part.reals.begin() + begin + row);
            else
                result.whole.insert(result.whole.end(), part.whole.begin() + begin,
                                    part.whole.begin() + begin + row);
        }
    if (static_cast<std::int64_t>(result.size()) != elements(shape)) return std::nullopt;
    return result;
}

std::optional<Constant> reduced(std::string_view op, const Constant& a, const Shape& shape) {
    if (a.size() == 0) return std::nullopt;
    static const std::map<std::string, std::string, std::less<>> known{
        {"ReduceSum", "Add"}, {"ReduceProd", "Mul"}, {"ReduceMin", "Min"}, {"ReduceMax", "Max"}};
    const auto found = known.find(op);
    if (found == known.end()) return std::nullopt;
    const auto element = [&](std::size_t i) {
        return a.real ? Constant{{}, true, {}, {a.reals[i]}} : Constant{{}, false, {a.whole[i]}, {}};
    };
    std::optional<Constant> result = element(0);
    for (std::size_t i = 1; i < a.size() && result; ++i) result = combine(found->second, *result, element(i));
    if (result) result->shape = shape;
    return result;
}

Constant converted(const Constant& a, bool real) {
    if (a.real == real) return a;
    Constant result{a.shape, real};
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (real)
            result.reals.push_back(a.number(i));
        else
            result.whole.push_back(std::abs(a.reals[i]) < 9e18 ? static_cast<std::int64_t>(a.reals[i]) : 0);
    }
    return result;
}

std::optional<Constant> filled(const Shape& shape, const Constant& value) {
    if (!is_small(shape) || value.size() != 1) return std::nullopt;
    Constant result = empty_like(shape, value.real);
    std::ranges::fill(result.reals, value.real ? value.reals[0] : 0);
    std::ranges::fill(result.whole, value.real ? 0 : value.whole[0]);
    return result;
}

}  // namespace systole
