// SPDX-License-Identifier: Apache-2.0
// Rows that indices say, and the greatest.
#include <fmt/format.h>

#include <algorithm>

#include "sim/workload/importers/network/movements.h"
#include "sim/workload/importers/stablehlo/hlo_meanings.h"

namespace systole {
namespace {

/// The indices without their dimension of one index each.
Value plain_indices(HloNode& node, std::size_t vector_dim) {
    Shape shape = node.shape(1);
    if (vector_dim == shape.size()) return node.value(1);
    if (vector_dim > shape.size() || shape[vector_dim] != 1)
        throw Unsayable("it looks up by several indices at once");
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(vector_dim));
    return node.reshaped(node.value(1), shape);
}

}  // namespace

/// Whole slices along one dimension, as embeddings and jnp.take are.
void hlo_gather(HloNode& node) {
    const Shape table = node.shape(0), out = node.result_shape();
    const Order starts = node.dims("start_index_map", table.size());
    const Order collapsed = node.dims("collapsed_slice_dims", table.size());
    const Order offsets = node.dims("offset_dims", out.size());
    const Shape sizes = node.numbers("slice_sizes");
    const auto vector_dim = node.numbers("index_vector_dim", {0});
    if (!node.numbers("operand_batching_dims").empty()) throw Unsayable("each index has a table of its own");
    if (starts.size() != 1 || collapsed != starts || sizes.size() != table.size() || vector_dim.size() != 1)
        throw Unsayable("it looks up something else than whole rows along one dimension");
    const std::size_t axis = starts[0];
    for (std::size_t i = 0; i < table.size(); ++i)
        if (sizes[i] != (i == axis ? 1 : table[i]))
            throw Unsayable("it looks up something else than whole rows along one dimension");
    const Value indices = plain_indices(node, static_cast<std::size_t>(vector_dim[0]));
    const Value table_value = node.value(0);
    node.translator().store(node.held(0));
    const Value rows = gather(node.network(), node.name(), table_value, indices, axis);
    // There the dimensions of the indices stand in the place of the axis; here the others do in `offsets`.
    Order once = offsets;
    std::ranges::sort(once);
    if (std::ranges::adjacent_find(once) != once.end() || offsets.size() + 1 != table.size() ||
        node.network().shape(rows).size() != out.size())
        throw Unsayable("its 'offset_dims' do not fit what it makes");
    const std::size_t looked_up = out.size() - offsets.size();
    Order order(out.size());
    std::size_t next_index = axis, next_rest = 0;
    for (std::size_t dim = 0; dim < out.size(); ++dim) {
        const bool rest = std::ranges::find(offsets, dim) != offsets.end();
        if (!rest) {
            order[dim] = next_index++;
            continue;
        }
        order[dim] = next_rest < axis ? next_rest : next_rest + looked_up;
        ++next_rest;
    }
    node.put(node.network().transpose(rows, order));
}

/// chlo.top_k(%0, k = 5): values and indices along the last dimension.
void hlo_top_k(HloNode& node) {
    const Shape shape = node.shape(0);
    const auto k = node.numbers("k");
    if (k.size() != 1 || shape.empty() || k[0] < 1 || k[0] > shape.back())
        throw Unsayable("it has no k that fits");
    for (std::size_t i = 0; i < std::min<std::size_t>(2, node.operation().results.size()); ++i)
        node.put(top_k(node.network(), node.name() + (i == 0 ? "" : "_indices"), node.value(0),
                       shape.size() - 1, k[0], i == 1),
                 i);
}

}  // namespace systole
