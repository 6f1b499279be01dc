// SPDX-License-Identifier: Apache-2.0
// Operators that move elements.
#include "sim/workload/importers/network/movements.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sim/base/checked.h"
#include "sim/workload/importers/onnx/infer.h"
#include "sim/workload/importers/onnx/ops.h"

namespace systole {
namespace {

/// A piece of one axis; of small known numbers their piece.
struct Piece {
    std::size_t axis;
    std::int64_t begin, size, step;
};

/// As ONNX reads starts and ends: from the end where negative, no further than there is.
Piece piece_of(std::size_t axis, std::int64_t extent, std::int64_t begin, std::int64_t end,
               std::int64_t step) {
    if (step == 0 || step == std::numeric_limits<std::int64_t>::min()) throw Unsayable("a step of 0");
    const auto bound = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
        return std::clamp(at < 0 ? at + extent : at, low, high);
    };
    if (step > 0) {
        begin = bound(begin, 0, extent), end = bound(end, 0, extent);
        return {axis, begin, end > begin ? (end - begin - 1) / step + 1 : 0, step};
    }
    begin = bound(begin, 0, extent - 1), end = bound(end, -1, extent - 1);
    return {axis, begin, begin > end ? (begin - end - 1) / -step + 1 : 0, step};
}

std::optional<Constant> piece_of_numbers(const Constant& numbers, const Piece& piece) {
    std::vector<std::int64_t> indices;
    if (piece.size > Constant::kMost) return std::nullopt;
    for (std::int64_t i = 0; i < piece.size; ++i) indices.push_back(piece.begin + i * piece.step);
    return taken(numbers, piece.axis, indices, {piece.size});
}

/// The same indices in ascending order: it is the movement that counts.
Piece forwards(const Piece& piece) {
    if (piece.size < 1) throw Unsayable("nothing is left of it");
    if (piece.step > 0) return piece;
    return {piece.axis, piece.begin + (piece.size - 1) * piece.step, piece.size, -piece.step};
}

}  // namespace

void map_gather(Node& node) {
    Network& network = node.network();
    const Shape shape = node.shape(0);
    if (shape.empty()) throw Unsayable("its data are a single number");
    const std::size_t axis = node.axis("axis", 0, shape.size());
    const Constant* const at = node.constant(1);
    const bool one = at != nullptr && !at->real && at->size() == 1;
    if (!one || node.is_stored(0))
        return node.put(0, gather(network, node.name(), node.value(0), node.value(1), axis));
    std::int64_t index = at->whole[0];
    if (index < 0) index += shape[axis];
    if (index < 0 || index >= shape[axis])
        throw Unsayable(fmt::format("index {} of {}", at->whole[0], shape[axis]));
    const Value part = slice(network, node.name(), node.value(0), axis, index, 1);
    Shape result = shape;
    result.erase(result.begin() + static_cast<std::ptrdiff_t>(axis));
    result.insert(result.begin() + static_cast<std::ptrdiff_t>(axis), at->shape.begin(), at->shape.end());
    node.put(0, network.reshape(part, result));
}

/// Each element by an index of its own: rows of one element.
void map_gather_elements(Node& node) {
    Network& network = node.network();
    const Value x = network.active(node.value(0));
    const Value flat = network.reshape(x, {elements(node.shape(0))});
    node.put(0, gather(network, node.name(), flat, node.value(1), 0));
}

void map_concat(Node& node) {
    std::vector<Value> values;
    const std::size_t rank = node.rank(0);
    const std::size_t axis = node.axis("axis", 1, rank);
    Shape first = node.shape(0);
    for (std::size_t i = 0; i < node.inputs(); ++i) {
        Shape shape = node.shape(i);
        if (shape.size() != rank) throw Unsayable("what it joins has different numbers of dimensions");
        if (shape[axis] == 0) continue;
        shape[axis] = first[axis];
        if (shape != first) throw Unsayable("what it joins differs beside the axis, too");
        values.push_back(node.value(i));
    }
    if (values.empty()) throw Unsayable("it joins nothing");
    node.put(0, concat(node.network(), node.name(), values, axis));
}

void map_split(Node& node) {
    const Shape shape = node.shape(0);
    if (shape.empty()) throw Unsayable("its input is a single number");
    const std::size_t axis = node.axis("axis", 0, shape.size());
    std::vector<std::int64_t> sizes = node.integers("split");
    if (sizes.empty() && node.has(1)) sizes = node.integers(1, "sizes");
    const auto parts = static_cast<std::int64_t>(node.outputs());
    if (sizes.empty()) {
        const std::int64_t each = (shape[axis] + parts - 1) / std::max<std::int64_t>(1, parts);
        for (std::int64_t i = 0; i < parts; ++i) sizes.push_back(std::min(each, shape[axis] - i * each));
    }
    if (static_cast<std::int64_t>(sizes.size()) != parts)
        throw Unsayable("it has another number of sizes than outputs");
    std::optional<std::int64_t> all = 0;
    for (const std::int64_t size : sizes) all = all && size >= 1 ? checked_add(*all, size) : std::nullopt;
    if (all != shape[axis]) throw Unsayable("its sizes do not add up to the axis");
    const Constant* const known = node.constant(0);
    const std::optional<Constant> numbers = known != nullptr ? std::optional(*known) : std::nullopt;
    const int type = node.held(0).type;
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < sizes.size(); begin += sizes[i++]) {
        if (!node.wants(i)) continue;
        const std::string name = fmt::format("{}_{}", node.name(), i);
        if (numbers) {
            if (const auto part = piece_of_numbers(*numbers, {axis, begin, sizes[i], 1})) {
                node.put(i, *part, type);
                continue;
            }
        }
        node.put(i, slice(node.network(), name, node.value(0), axis, begin, sizes[i]));
    }
}

void map_slice(Node& node) {
    const bool inputs = node.has(1);
    const auto starts = inputs ? node.integers(1, "starts") : node.integers("starts");
    const auto ends = inputs ? node.integers(2, "ends") : node.integers("ends");
    auto axes = inputs && node.has(3) ? node.integers(3, "axes") : node.integers("axes");
    const auto steps =
        inputs && node.has(4) ? node.integers(4, "steps") : std::vector<std::int64_t>(starts.size(), 1);
    if (axes.empty())
        for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
        throw Unsayable("it has different numbers of starts, ends, axes and steps");
    const Shape shape = node.shape(0);
    const Constant* const known = node.constant(0);
    std::optional<Constant> numbers = known != nullptr ? std::optional(*known) : std::nullopt;
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::size_t axis = Node::checked_axis(axes[i], shape.size());
        pieces.push_back(piece_of(axis, shape[axis], starts[i], ends[i], steps[i]));
        if (numbers) numbers = piece_of_numbers(*numbers, pieces.back());
    }
    if (numbers) return node.put(0, *numbers, node.held(0).type);
    Value x = node.value(0);
    for (const Piece& piece : pieces) {
        const Piece ahead = forwards(piece);
        x = slice(node.network(), node.name(), x, ahead.axis, ahead.begin, ahead.size, ahead.step);
    }
    node.put(0, x);
}

void map_tile(Node& node) {
    const Shape before = node.shape(0);
    const std::vector<std::int64_t> times = node.integers(1, "repeats");
    if (times.size() != before.size()) throw Unsayable("it has no repeat for every dimension");
    Network& network = node.network();
    // Each dimension behind one of 1 that is met again: [n] as [1, n], copied, and seen as one.
    Value x = node.value(0);
    for (std::size_t dim = 0; dim < before.size(); ++dim) {
        if (times[dim] < 1) throw Unsayable("nothing is left of it");
        if (times[dim] == 1) continue;
        Shape shape = network.shape(x), wide = shape;
        const auto at = static_cast<std::ptrdiff_t>(dim);
        shape.insert(shape.begin() + at, 1);
        wide.insert(wide.begin() + at, times[dim]);
        const Value copies = expand(network, node.name(), network.reshape(x, shape), wide);
        const std::optional<std::int64_t> extent = checked_mul(before[dim], times[dim]);
        if (!extent) throw Unsayable("it has more than 2^63 indices");
        Shape all = network.shape(x);
        all[dim] = *extent;
        x = network.reshape(copies, all);
    }
    node.put(0, x);
}

}  // namespace systole
