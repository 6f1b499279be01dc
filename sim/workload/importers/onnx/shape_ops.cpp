// SPDX-License-Identifier: Apache-2.0
// Operators that only see elements otherwise.
#include <fmt/format.h>

#include <algorithm>

#include "sim/base/checked.h"
#include "sim/workload/importers/network/movements.h"
#include "sim/workload/importers/onnx/infer.h"
#include "sim/workload/importers/onnx/ops.h"
#include "sim/workload/operator_shapes.h"

namespace systole {
namespace {

/// The same elements under another shape.
void put_reshaped(Node& node, const Shape& shape) {
    for (const std::int64_t extent : shape)
        if (extent < 0) throw Unsayable(fmt::format("it makes {}", to_string(shape)));
    if (!is_storable(shape) || elements(shape) != elements(node.shape(0)))
        throw Unsayable(fmt::format("{} does not hold as many elements as {}", to_string(shape),
                                    to_string(node.shape(0))));
    const Held& held = node.held(0);
    if (held.source == Held::Source::Stored && !held.value) {
        Held result = held;
        result.shape = shape;
        if (result.constant) result.constant->shape = shape;
        return node.put_held(0, std::move(result));
    }
    node.put(0, node.network().reshape(node.value(0), shape));
}

/// The extents of `shape` without those at `axes`, which must be 1; of none all that are 1.
Shape squeezed(const Shape& shape, const std::vector<std::int64_t>& axes) {
    std::vector<bool> gone(shape.size(), false);
    for (const std::int64_t axis : axes) {
        const std::size_t at = Node::checked_axis(axis, shape.size());
        if (shape[at] != 1) throw Unsayable(fmt::format("dimension {} of {} is not 1", at, to_string(shape)));
        gone[at] = true;
    }
    Shape result;
    for (std::size_t dim = 0; dim < shape.size(); ++dim)
        if (axes.empty() ? shape[dim] != 1 : !gone[dim]) result.push_back(shape[dim]);
    return result;
}

}  // namespace

void map_reshape(Node& node) {
    const Shape before = node.shape(0);
    Shape shape = node.has_attribute("shape") ? node.integers("shape") : node.integers(1, "dimensions");
    const bool zeros = node.integer("allowzero", 0) != 0;
    std::optional<std::size_t> open;
    std::optional<std::int64_t> rest = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 0 && !zeros && i < before.size()) shape[i] = before[i];
        if (shape[i] == -1 && !open) {
            open = i;
        } else {
            rest = rest ? checked_mul(*rest, shape[i]) : rest;
        }
    }
    if (open) {
        const std::int64_t all = elements(before);
        if (!rest || *rest < 1 || all % *rest != 0)
            throw Unsayable(fmt::format("{} does not fill {}", to_string(before), to_string(shape)));
        shape[*open] = all / *rest;
    }
    put_reshaped(node, shape);
}

void map_flatten(Node& node) {
    const Shape shape = node.shape(0);
    const auto rank = static_cast<std::int64_t>(shape.size());
    std::int64_t axis = node.integer("axis", 1);
    if (axis < -rank || axis > rank) throw Unsayable(fmt::format("axis {} of {} dimensions", axis, rank));
    if (axis < 0) axis += rank;
    Shape flat = {1, 1};
    for (std::int64_t dim = 0; dim < rank; ++dim)
        flat[dim < axis ? 0 : 1] *= shape[static_cast<std::size_t>(dim)];
    put_reshaped(node, flat);
}

void map_squeeze(Node& node) {
    put_reshaped(node, squeezed(node.shape(0), axes_of(node, 1)));
}

void map_unsqueeze(Node& node) {
    const Shape before = node.shape(0);
    const std::vector<std::int64_t> axes = axes_of(node, 1);
    const std::size_t rank = before.size() + axes.size();
    if (rank > 64) throw Unsayable("it makes more than 64 dimensions");
    std::vector<bool> one(rank, false);
    for (const std::int64_t axis : axes) {
        const std::size_t at = Node::checked_axis(axis, rank);
        if (one[at]) throw Unsayable("it names an axis twice");
        one[at] = true;
    }
    Shape shape;
    for (std::size_t dim = 0, from = 0; dim < rank; ++dim) shape.push_back(one[dim] ? 1 : before[from++]);
    put_reshaped(node, shape);
}

void map_transpose(Node& node) {
    const std::size_t rank = node.rank(0);
    Order order;
    for (const std::int64_t dim : node.integers("perm")) order.push_back(Node::checked_axis(dim, rank));
    if (order.empty())
        for (std::size_t dim = rank; dim-- > 0;) order.push_back(dim);
    Order sorted = order;
    std::ranges::sort(sorted);
    for (std::size_t dim = 0; dim < rank; ++dim)
        if (sorted.size() != rank || sorted[dim] != dim) throw Unsayable("its 'perm' is no permutation");
    node.put(0, node.network().transpose(node.value(0), order));
}

void map_expand(Node& node) {
    const Shape before = node.shape(0), asked = node.integers(1, "dimensions");
    Shape shape(std::max(before.size(), asked.size()), 1);
    for (std::size_t i = 1; i <= shape.size(); ++i) {
        const std::int64_t x = i <= before.size() ? before[before.size() - i] : 1,
                           y = i <= asked.size() ? asked[asked.size() - i] : 1;
        if (y < 1 || (x != y && x != 1 && y != 1))
            throw Unsayable(fmt::format("{} does not become {}", to_string(before), to_string(asked)));
        shape[shape.size() - i] = x == 1 ? y : x;
    }
    if (const Constant* const numbers = node.constant(0)) {
        const auto result = expanded(*numbers, shape);
        if (result) return node.put(0, *result, node.held(0).type);
    }
    node.put(0, expand(node.network(), node.name(), node.value(0), shape));
}

void map_depth(Node& node) {
    Network& network = node.network();
    const Shape s = node.shape(0);
    const std::int64_t block = node.integer("blocksize", 0);
    const bool up = node.op() == "DepthToSpace", dcr = node.text("mode", "DCR") == "DCR";
    const bool fits = s.size() == 4 && block >= 1 && block <= 4096 &&
                      (up ? s[1] % (block * block) == 0 : s[2] % block == 0 && s[3] % block == 0);
    if (!fits) throw Unsayable("its block does not divide its input");
    const Value x = node.value(0);
    if (up) {
        const std::int64_t c = s[1] / (block * block);
        const Shape cut =
            dcr ? Shape{s[0], block, block, c, s[2], s[3]} : Shape{s[0], c, block, block, s[2], s[3]};
        const Order order = dcr ? Order{0, 3, 4, 1, 5, 2} : Order{0, 1, 4, 2, 5, 3};
        const Value turned = network.transpose(network.reshape(x, cut), order);
        return node.put(0, network.reshape(turned, {s[0], c, s[2] * block, s[3] * block}));
    }
    const Value cut = network.reshape(x, {s[0], s[1], s[2] / block, block, s[3] / block, block});
    const Value turned = network.transpose(cut, {0, 3, 5, 1, 2, 4});
    node.put(0, network.reshape(turned, {s[0], s[1] * block * block, s[2] / block, s[3] / block}));
}

}  // namespace systole
