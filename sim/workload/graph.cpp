// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace systole {

const std::string& whole_name(const Layer& layer) {
    return layer.slice ? layer.slice->whole : layer.name;
}

const std::string& whole_name(const Tensor& tensor) {
    return tensor.slice ? tensor.slice->whole : tensor.name;
}

std::string op_name(const Layer& layer) {
    std::string own(op_name(layer.op));
    if (!layer.joined) return own;
    return fmt::format("{} + {}", own, elementwise_kinds()[static_cast<std::size_t>(layer.joined->kind)]);
}

std::string to_string(const Shape& shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::int64_t elements(const Shape& shape) {
    std::int64_t product = 1;
    for (const std::int64_t dimension : shape) product *= dimension;
    return product;
}

Bytes stored_bytes(const Tensor& tensor) {
    const std::int64_t row = tensor.shape.back();
    if (!tensor.format.packed()) return row_bytes(tensor.dtype, row) * (elements(tensor.shape) / row);
    return row_bytes(bits_per_weight(tensor.dtype, tensor.format), elements(tensor.shape));
}

Macs total_macs(const Graph& graph) {
    Macs total;
    for (const Layer& layer : graph.layers) total += macs(layer.op);
    return total;
}

}  // namespace systole
