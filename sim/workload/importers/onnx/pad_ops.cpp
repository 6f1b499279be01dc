// SPDX-License-Identifier: Apache-2.0
// Padding: zeros beside pixels wait for the convolution that reads them; all else is joined to what it pads.
#include <fmt/format.h>

#include <algorithm>

#include "sim/workload/importers/network/movements.h"
#include "sim/workload/importers/onnx/ops.h"
#include "sim/workload/parameters.h"

namespace systole {
namespace {

Shape widths_of(Node& node, std::size_t rank) {
    Shape pads = node.integers("pads");
    if (pads.empty()) pads = node.integers("paddings");
    if (pads.empty() && node.has(1)) pads = node.integers(1, "widths");
    if (node.has(3)) {  // of some axes only
        const std::vector<std::int64_t> axes = node.integers(3, "axes");
        Shape all(2 * rank, 0);
        if (pads.size() != 2 * axes.size()) throw Unsayable("it has no widths for every axis");
        for (std::size_t i = 0; i < axes.size(); ++i) {
            const std::size_t axis = Node::checked_axis(axes[i], rank);
            all[axis] = pads[i], all[rank + axis] = pads[axes.size() + i];
        }
        pads = all;
    }
    if (pads.size() != 2 * rank) throw Unsayable("it has no widths for every dimension");
    for (const std::int64_t pad : pads)
        if (pad < -kMaxInteger || pad > kMaxInteger) throw Unsayable("its widths are too large");
    return pads;
}

/// Zeros, in height and width only.
bool can_wait(Node& node, const Shape& pads, std::size_t rank) {
    const Constant* const value = node.has(2) ? node.constant(2) : nullptr;
    const bool zeros = node.text("mode", "constant") == "constant" && node.real("value", 0) == 0 &&
                       (!node.has(2) || (value != nullptr && value->size() == 1 && value->number(0) == 0));
    return zeros && rank >= 3 && pads[0] == 0 && pads[1] == 0 && pads[rank] == 0 && pads[rank + 1] == 0;
}

void wait(Node& node, const Shape& pads, std::size_t rank) {
    const auto half = static_cast<std::ptrdiff_t>(rank);
    Held held = node.held(0);
    const Shape before = held.zeros_before.value_or(Shape(rank - 2, 0)),
                behind = held.zeros_behind.value_or(Shape(rank - 2, 0));
    if (!held.zeros_before) held.value = node.value(0);
    held.source = Held::Source::Made;
    held.constant.reset();
    held.zeros_before = Shape(pads.begin() + 2, pads.begin() + half);
    held.zeros_behind = Shape(pads.begin() + half + 2, pads.end());
    for (std::size_t i = 0; i + 2 < rank; ++i) {
        std::int64_t &front = (*held.zeros_before)[i], &back = (*held.zeros_behind)[i];
        held.shape[i + 2] += front + back;
        // One that cuts may cut pixels behind zeros.
        if ((front < 0 && before[i] != 0) || (back < 0 && behind[i] != 0) || (before[i] < 0 && front != 0) ||
            (behind[i] < 0 && back != 0))
            throw Unsayable("it pads what another Pad cuts, or the other way round");
        front += before[i], back += behind[i];
        if (held.shape[i + 2] < 1) throw Unsayable("nothing is left of it");
    }
    node.put_held(0, std::move(held));
}

}  // namespace

/// What a Pad that could wait makes after all, for those who are no convolution.
Value materialized(Network& network, const std::string& name, Value x, const Shape& before,
                   const Shape& behind) {
    for (std::size_t axis = 0; axis < before.size(); ++axis) {
        if (before[axis] < 0 || behind[axis] < 0) throw Unsayable("its padding is negative, which cuts");
        const std::int64_t whole = network.shape(x)[axis];
        if ((before[axis] + whole - 1) / whole + (behind[axis] + whole - 1) / whole >= 64)
            throw Unsayable("it makes more than 64 times as much");
        std::vector<Value> parts;
        // As many rows as there are at most: a piece of what is padded stands for what is joined to it.
        const auto rows = [&](std::int64_t count) {
            const std::int64_t extent = network.shape(x)[axis];
            for (; count > 0; count -= std::min(count, extent))
                parts.push_back(slice(network, name + "_rows", x, axis, 0, std::min(count, extent)));
        };
        rows(before[axis]);
        parts.push_back(x);
        rows(behind[axis]);
        x = concat(network, name, parts, axis);
    }
    return x;
}

void map_pad(Node& node) {
    const std::size_t rank = node.rank(0);
    const Shape pads = widths_of(node, rank);
    if (std::ranges::all_of(pads, [](std::int64_t pad) { return pad == 0; })) return node.pass(0, 0);
    if (can_wait(node, pads, rank)) return wait(node, pads, rank);
    const auto half = pads.begin() + static_cast<std::ptrdiff_t>(rank);
    node.put(0, materialized(node.network(), node.name(), node.value(0), Shape(pads.begin(), half),
                             Shape(half, pads.end())));
}

}  // namespace systole
