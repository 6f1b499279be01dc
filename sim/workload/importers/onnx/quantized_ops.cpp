// SPDX-License-Identifier: Apache-2.0
// Numbers of a few bits with scales, and what is computed on them.
#include <fmt/format.h>

#include "sim/workload/importers/network/convolutions.h"
#include "sim/workload/importers/network/products.h"
#include "sim/workload/importers/network/vectors.h"
#include "sim/workload/importers/onnx/ops.h"

namespace systole {
namespace {

/// The axis of scales; nothing for one scale.
std::optional<std::size_t> scales_axis(Node& node) {
    const std::size_t scales = node.rank(1);
    if (scales == 0 || elements(node.shape(1)) == 1) return std::nullopt;
    if (scales != 1) throw Unsayable("it has a scale for each block of numbers");
    const std::size_t axis = node.axis("axis", 1, node.rank(0));
    if (node.shape(0)[axis] != node.shape(1)[0]) throw Unsayable("its scales are not one for each channel");
    return axis;
}

}  // namespace

void map_quantize(Node& node) {
    int type = node.has(2) ? node.held(2).type : onnx::TensorProto::UINT8;
    type = static_cast<int>(node.integer("output_dtype", type));
    const DType to = dtype_of(type).value_or(DType::Int8);
    node.put(0, scale(node.network(), node.name(), node.value(0), to, scales_axis(node)));
}

/// What is stored is floating-point numbers for who reads it; only weights stay as narrow as they are stored.
void map_dequantize(Node& node) {
    const std::optional<std::size_t> axis = scales_axis(node);
    if (node.is_stored(0)) {
        const Held& stored = node.held(0);
        const std::optional<DType> narrow = dtype_of(stored.type);
        if (!narrow) throw Unsayable("it reads no numbers that a trace has");
        Held held{"", Held::Source::Stored, stored.shape, onnx::TensorProto::FLOAT};
        if (bits_of(*narrow) < bits_of(Network::kFloat)) held.narrow = narrow;
        return node.put_held(0, std::move(held));
    }
    node.put(0, scale(node.network(), node.name(), node.value(0), Network::kFloat, axis));
}

/// The greatest and the least number, the scale between them, and the numbers.
void map_dynamic_quantize(Node& node) {
    Network& network = node.network();
    const Value x = node.value(0);
    Order dims;
    for (std::size_t dim = 0; dim < node.rank(0); ++dim) dims.push_back(dim);
    const std::string name = node.name();
    const Value high = reduce(network, name + "_max", "max", x, dims, false),
                low = reduce(network, name + "_min", "min", x, dims, false);
    const Value width = elementwise(network, name + "_scale", "sub", high, low);
    node.put(0, scale(network, name, x, DType::Int8, std::nullopt));
    node.put(1, width);
    if (node.is_read(2)) node.put(2, convert(network, name + "_zero", low, DType::Int8));
}

void map_quantized_conv(Node& node) {
    const bool linear = node.op() == "QLinearConv";
    const std::size_t weights_at = linear ? 3 : 1;
    if (!node.is_stored(weights_at))
        throw Unsayable("its weights are made by the network; a trace stores them");
    const Shape x = node.shape(0), weights = node.shape(weights_at);
    if (x.size() < 3 || weights.size() != x.size())
        throw Unsayable("its input and weights do not go together");
    const Shape spatial(x.begin() + 2, x.end());
    Filters filters;
    filters.count = weights[0];
    filters.groups = node.integer("group", 1);
    filters.bias = linear && node.has(8);
    if (filters.bias && !node.is_stored(8)) throw Unsayable("its bias is made by the network");
    if (filters.groups < 1 || x[1] % filters.groups != 0 || weights[1] != x[1] / filters.groups)
        throw Unsayable(
            fmt::format("weights {} do not fit the {} channels of its input", to_string(weights), x[1]));
    Windows windows = windows_of(node, kernel_of(node, weights), spatial);
    const Value out = convolve(node.network(), node.name(), padded_input(node, 0, windows),
                               channels_first(x.size()), windows, filters);
    if (!linear) node.network().write_as(out, DType::Int32);
    node.put(0, out);
}

void map_quantized_matmul(Node& node) {
    Network& network = node.network();
    if (node.op() == "MatMulNBits") {
        const std::int64_t k = node.integer("K", 0), n = node.integer("N", 0), bits = node.integer("bits", 4);
        if (k < 1 || n < 1 || (bits != 4 && bits != 8)) throw Unsayable("its weights are of no 4 or 8 bits");
        const Value weights =
            network.stored(node.name() + "_weights", {k, n}, bits == 4 ? DType::Int4 : DType::Int8);
        Value out = matmul(network, node.name(), node.value(0), weights);
        if (!network.is_stored(out)) network.scale_weights(out, node.integer("block_size", 0));
        if (node.has(5)) {
            if (node.shape(5) != Shape{n})
                throw Unsayable(
                    fmt::format("its bias {} is not one number for each column", to_string(node.shape(5))));
            out = elementwise(network, node.name() + "_bias", "add", out, node.value(5));
        }
        return node.put(0, out);
    }
    const bool linear = node.op() == "QLinearMatMul";
    const Value out = matmul(network, node.name(), node.value(0), node.value(linear ? 3 : 1));
    if (!linear && !network.is_stored(out)) network.write_as(out, DType::Int32);
    node.put(0, out);
}

}  // namespace systole
