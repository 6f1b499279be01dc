// SPDX-License-Identifier: Apache-2.0
// Elementwise operators: two tensors of one shape, or a second one, read or stored, that is met again for
// every index of dimensions of the first one: of the outer ones, or of some in the middle.
#include <fmt/format.h>

#include <algorithm>

#include "sim/workload/op_readers.h"

namespace systole {
namespace {

/// Whether `shape`, without leading ones, is the innermost dimensions of `of`.
bool is_suffix(Shape shape, const Shape& of) {
    shape.erase(shape.begin(), std::ranges::find_if(shape, [](std::int64_t size) { return size != 1; }));
    return shape.size() <= of.size() && std::equal(shape.rbegin(), shape.rend(), of.rbegin());
}

/// The product of the leading dimensions that `shape` has as `of` does, where those behind them are 1 up to
/// some from which on it has all of them again; nothing for other shapes.
std::optional<std::int64_t> items_of(const Shape& shape, const Shape& of) {
    if (shape.size() != of.size()) return std::nullopt;
    std::size_t at = 0;
    std::int64_t items = 1;
    for (; at < of.size() && shape[at] == of[at]; ++at) items *= of[at];
    while (at < of.size() && shape[at] == 1) ++at;
    const auto rest = static_cast<std::ptrdiff_t>(at);
    if (!std::equal(shape.begin() + rest, shape.end(), of.begin() + rest)) return std::nullopt;
    return items;
}

/// How many tensors the layer names fits what it says about a stored one.
bool expect_operands(LayerText& text, bool stored) {
    const std::size_t wanted = stored ? 1 : 2;
    if (text.operands() == wanted) return true;
    text.keys().fail(fmt::format("reads {} tensor{}{}, not {}{}", wanted, stored ? "" : "s",
                                 stored ? " beside the stored one" : "", text.operands(),
                                 stored ? "" : ": name them with 'in: [a, b]'"),
                     "in");
    return false;
}

}  // namespace

std::optional<LayerMeaning> read_elementwise(LayerText& text) {
    Keys& keys = text.keys();
    Elementwise op;
    op.kind = static_cast<Elementwise::Kind>(keys.choice("kind", elementwise_kinds()));
    op.post = read_post(keys);
    op.stored = keys.has("stored");
    Shape second = op.stored ? keys.integers("stored", 1) : Shape{};
    keys.optional("stored");
    if (!text.sound() || !expect_operands(text, op.stored)) return std::nullopt;
    const Tensor& a = text.operand(0);
    const Tensor b = op.stored ? Tensor{"stored", std::move(second), a.dtype} : text.operand(1);
    const std::optional<std::int64_t> items =
        is_suffix(b.shape, a.shape) ? std::optional<std::int64_t>(1) : items_of(b.shape, a.shape);
    if (!items || a.dtype != b.dtype) {
        keys.fail(
            fmt::format("needs two equal tensors, or a second one like the first but for outer "
                        "dimensions, or some in the middle, that are 1; but '{}' is {} {} and '{}' is {} {}",
                        a.name, to_string(a.dtype), to_string(a.shape), b.name, to_string(b.dtype),
                        to_string(b.shape)),
            "stored");
        return std::nullopt;
    }
    op.elements = elements(a.shape);
    op.items = *items;
    op.times = op.elements / elements(b.shape);
    if ((op.stored || op.times > 1) && bits_of(b.dtype).value() * b.shape.back() % 8 != 0) {
        keys.fail(fmt::format("'{}' {} cannot be met again: its rows of {} end inside a byte", b.name,
                              to_string(b.shape), to_string(b.dtype)),
                  "stored");
        return std::nullopt;
    }
    return LayerMeaning{op, a.shape};
}

}  // namespace systole
