// SPDX-License-Identifier: Apache-2.0
// Operators that only move elements: tensors joined along an axis, and pieces of one.
#include <fmt/format.h>

#include "sim/workload/op_readers.h"

namespace systole {
namespace {

std::int64_t product(const Shape& shape, std::size_t begin, std::size_t end) {
    std::int64_t result = 1;
    for (std::size_t d = begin; d < end; ++d) result *= shape[d];
    return result;
}

/// Whether the first `count` elements of a row end inside a byte.
bool cuts_byte(const Tensor& tensor, std::int64_t count) {
    return bits_of(tensor.dtype).value() * count % 8 != 0;
}

bool alike_but_for(std::size_t axis, const Tensor& a, const Tensor& b) {
    if (a.dtype != b.dtype || a.shape.size() != b.shape.size()) return false;
    for (std::size_t d = 0; d < a.shape.size(); ++d)
        if (d != axis && a.shape[d] != b.shape[d]) return false;
    return true;
}

/// Whether every tensor can stand behind the first; records a mistake if not.
bool can_join(LayerText& text, std::size_t axis) {
    const Tensor& first = text.operand(0);
    const bool in_rows = axis + 1 == first.shape.size();
    for (std::size_t i = 0; i < text.operands(); ++i) {
        const Tensor& next = text.operand(i);
        if (!alike_but_for(axis, first, next)) {
            text.keys().fail(
                fmt::format("needs tensors that differ in axis {} only, but '{}' is {} {} and "
                            "'{}' is {} {}",
                            axis, first.name, to_string(first.dtype), to_string(first.shape), next.name,
                            to_string(next.dtype), to_string(next.shape)));
            return false;
        }
        if (in_rows && i + 1 < text.operands() && cuts_byte(next, next.shape[axis])) {
            text.keys().fail(fmt::format("nothing can stand behind '{}' {}: its rows of {} end inside a byte",
                                         next.name, to_string(next.shape), to_string(next.dtype)));
            return false;
        }
    }
    return true;
}

/// `begin` and `size`, or an equal part: what they select of `in` indices. Nothing after a mistake.
struct Selection {
    std::int64_t begin = 0, size = 1;
};
std::optional<Selection> read_selection(LayerText& text, std::optional<std::int64_t> in) {
    Keys& keys = text.keys();
    const auto begin = keys.integer_if_given("begin", 0), size = keys.integer_if_given("size", 1),
               parts = keys.integer_if_given("parts", 1), part = keys.integer_if_given("part", 0);
    if (!parts && !size && !begin)
        keys.fail("'size' is missing: expected 'begin' and 'size', or 'parts' and 'part'");
    if ((parts || part) && (size || begin))
        keys.fail("'parts' and 'part' say it all; give them, or 'begin' and 'size'", size ? "size" : "begin");
    if (parts.has_value() != part.has_value()) keys.required(parts ? "part" : "parts", "an integer");
    if (!in || !text.sound()) return std::nullopt;
    if (!parts) {
        const std::int64_t first = begin.value_or(0);
        if (first < *in && size.value_or(1) <= *in - first)
            return Selection{first, size.value_or(*in - first)};
        keys.fail(fmt::format("{} from {} on reach beyond the axis of {}", size.value_or(1), first, *in),
                  size ? "size" : "begin");
    } else if (*in % *parts != 0) {
        keys.fail(fmt::format("{} parts do not divide the axis of {}", *parts, *in), "parts");
    } else if (*part >= *parts) {
        keys.fail(fmt::format("'part' must be 0 … {}, not {}", *parts - 1, *part), "part");
    } else {
        return Selection{*in / *parts * *part, *in / *parts};
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::size_t> read_axis(LayerText& text) {
    const std::optional<std::int64_t> given = text.keys().integer_if_given("axis", 0);
    if (!text.sound()) return std::nullopt;
    const auto rank = static_cast<std::int64_t>(text.shape(0).size());
    const std::int64_t axis = given.value_or(rank - 1);
    if (axis < rank) return static_cast<std::size_t>(axis);
    text.keys().fail(fmt::format("'axis' must be 0 … {}, a dimension of '{}' {}, not {}", rank - 1,
                                 text.operand(0).name, to_string(text.shape(0)), axis),
                     "axis");
    return std::nullopt;
}

std::optional<LayerMeaning> read_concat(LayerText& text) {
    const std::optional<std::size_t> axis = read_axis(text);
    if (!axis || !can_join(text, *axis)) return std::nullopt;
    Shape output = text.shape(0);
    Concat op{product(output, 0, *axis), product(output, *axis + 1, output.size()), {}};
    output[*axis] = 0;
    for (std::size_t i = 0; i < text.operands(); ++i) {
        op.sizes.push_back(text.shape(i)[*axis]);
        output[*axis] += op.sizes.back();
        if (output[*axis] <= kMaxInteger) continue;
        text.keys().fail(fmt::format("axis {} would have more than {} indices", *axis, kMaxInteger));
        return std::nullopt;
    }
    return LayerMeaning{op, output};
}

std::optional<LayerMeaning> read_slice(LayerText& text) {
    const std::optional<std::size_t> axis = read_axis(text);
    const auto selected =
        read_selection(text, axis ? std::optional(text.shape(0)[*axis]) : std::optional<std::int64_t>());
    if (!selected) return std::nullopt;
    Shape output = text.shape(0);
    const Slice op{product(output, 0, *axis), product(output, *axis + 1, output.size()), output[*axis],
                   selected->begin, selected->size};
    output[*axis] = op.size;
    return LayerMeaning{op, output};
}

}  // namespace systole
