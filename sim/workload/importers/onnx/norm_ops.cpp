// SPDX-License-Identifier: Apache-2.0
// Softmax and normalisations.
#include <numeric>

#include "sim/workload/importers/network/vectors.h"
#include "sim/workload/importers/onnx/ops.h"

namespace systole {
namespace {

Order from(std::size_t begin, std::size_t rank) {
    Order dims(rank - begin);
    std::iota(dims.begin(), dims.end(), begin);
    return dims;
}

/// For each channel, beside values of `rank` dimensions.
Shape by_channel(std::int64_t channels, std::size_t rank) {
    Shape shape(rank - 1, 1);
    shape[0] = channels;
    return shape;
}

/// (x - mean) / deviation over `dims`, layer by layer: where a norm would store other gains than the file's.
Value standardized(Network& network, const std::string& name, Value x, const Order& dims) {
    const Value mean = reduce(network, name + "_mean", "mean", x, dims, true);
    const Value centered = elementwise(network, name + "_centered", "sub", x, mean);
    const Value square = elementwise(network, name + "_square", "mul", centered, centered);
    const Value variance = reduce(network, name + "_variance", "mean", square, dims, true);
    const Value inverse = apply(network, name + "_inverse", "rsqrt", variance);
    return elementwise(network, name + "_scaled", "mul", centered, inverse);
}

}  // namespace

void map_softmax(Node& node) {
    const std::size_t rank = node.rank(0);
    if (rank == 0) throw Unsayable("its input is a single number");
    const bool rows = node.opset() > 0 && node.opset() < 13;
    const std::size_t axis = node.axis("axis", rows ? 1 : -1, rank);
    const Order dims = rows ? from(axis, rank) : Order{axis};
    Value out = softmax(node.network(), node.name(), node.value(0), dims);
    if (node.op() == "LogSoftmax") out = apply(node.network(), node.name() + "_log", "log", out);
    node.put(0, out);
}

/// y = x * scale + shift, of running statistics.
void map_batch_norm(Node& node) {
    if (node.integer("training_mode", 0) != 0) throw Unsayable("it is in training mode");
    if (node.rank(0) < 2) throw Unsayable("its input has no channels");
    node.put(0, batch_norm(node.network(), node.name(), node.value(0), 1));
}

void map_layer_norm(Node& node) {
    const std::size_t rank = node.rank(0);
    const bool rms =
        node.op().find("RMS") != std::string::npos || node.op() == "SimplifiedLayerNormalization";
    if ((node.is_read(1) || node.is_read(2)) && !rms) throw Unsayable("its mean or deviation is read, too");
    const Order dims = from(node.axis("axis", -1, rank), rank);
    node.put(0, normalize(node.network(), node.name(), rms ? "rms" : "layer", node.value(0), dims));
}

/// com.microsoft: the sum of two tensors, and its norm.
void map_skip_norm(Node& node) {
    Network& network = node.network();
    const bool rms = node.op() == "SkipSimplifiedLayerNormalization";
    const std::size_t bias = rms ? 3 : 4;
    if (node.rank(0) == 0) throw Unsayable("its input is a single number");
    Value sum = elementwise(network, node.name() + "_sum", "add", node.value(0), node.value(1));
    if (node.has(bias)) sum = elementwise(network, node.name() + "_bias", "add", sum, node.value(bias));
    node.put(0, normalize(network, node.name(), rms ? "rms" : "layer", sum, {node.rank(0) - 1}));
    if (node.wants(3)) node.put(3, sum);
}

void map_group_norm(Node& node) {
    Network& network = node.network();
    const Shape shape = node.shape(0);
    if (shape.size() < 3) throw Unsayable("its input has no pixels");
    const std::string name = node.name();
    Value x = node.value(0);
    if (node.op() == "InstanceNormalization" || node.op() == "MeanVarianceNormalization") {
        Order dims = from(2, shape.size());
        if (node.op() == "MeanVarianceNormalization") {
            const std::vector<std::int64_t> axes = node.integers("axes");
            dims.clear();
            for (const std::int64_t axis : axes) dims.push_back(Node::checked_axis(axis, shape.size()));
            if (axes.empty()) dims = from(2, shape.size()), dims.insert(dims.begin(), 0);
            return node.put(0, standardized(network, name, x, dims));
        }
        x = standardized(network, name, x, dims);
    } else {
        const std::int64_t groups = node.integer("num_groups", node.integer("groups", 0));
        if (groups < 1 || shape[1] % groups != 0) throw Unsayable("its groups do not divide its channels");
        Shape cut = shape;
        cut[1] = groups;
        cut.insert(cut.begin() + 2, shape[1] / groups);
        x = network.reshape(standardized(network, name, network.reshape(x, cut), from(2, cut.size())), shape);
    }
    const Shape gains = by_channel(shape[1], shape.size());
    const DType dtype = network.dtype(x);
    x = elementwise(network, name + "_gain", "mul", x, network.stored(name + "_gain", gains, dtype));
    node.put(0, elementwise(network, name, "add", x, network.stored(name + "_shift", gains, dtype)));
}

}  // namespace systole
