// SPDX-License-Identifier: Apache-2.0
// Operators that make one number of many, and those that pick the greatest.
#include <algorithm>
#include <map>

#include "sim/workload/importers/network/movements.h"
#include "sim/workload/importers/network/vectors.h"
#include "sim/workload/importers/onnx/infer.h"
#include "sim/workload/importers/onnx/ops.h"

namespace systole {

std::vector<std::int64_t> axes_of(Node& node, std::size_t input) {
    if (node.has_attribute("axes")) return node.integers("axes");
    return node.has(input) ? node.integers(input, "axes") : std::vector<std::int64_t>{};
}

void map_reduce(Node& node) {
    Network& network = node.network();
    const std::size_t rank = node.rank(0);
    Order dims;
    for (const std::int64_t axis : axes_of(node, 1)) dims.push_back(Node::checked_axis(axis, rank));
    std::ranges::sort(dims);
    if (std::ranges::adjacent_find(dims) != dims.end()) throw Unsayable("it names an axis twice");
    if (dims.empty() && node.integer("noop_with_empty_axes", 0) != 0) return node.pass(0, 0);
    if (dims.empty())
        for (std::size_t dim = 0; dim < rank; ++dim) dims.push_back(dim);
    const bool keep = node.integer("keepdims", 1) != 0;
    if (const Constant* const numbers = node.constant(0); numbers != nullptr && dims.size() == rank) {
        const auto result = reduced(node.op(), *numbers, keep ? Shape(rank, 1) : Shape{});
        if (result) return node.put(0, *result, node.held(0).type);
    }
    static const std::map<std::string, std::string, std::less<>> kinds{
        {"ReduceMean", "mean"}, {"ReduceMax", "max"}, {"ReduceMin", "min"}, {"ReduceProd", "product"}};
    const auto kind = kinds.find(node.op());
    const std::string name = node.name(), &op = node.op();
    Value x = node.value(0);
    if (op == "ReduceL1") x = apply(network, name + "_abs", "abs", x);
    if (op == "ReduceL2" || op == "ReduceSumSquare") x = elementwise(network, name + "_square", "mul", x, x);
    if (op == "ReduceLogSumExp") x = apply(network, name + "_exp", "exp", x);
    const bool more = op == "ReduceL2" || op.starts_with("ReduceLog");
    x = reduce(network, more ? name + "_sum" : name, kind == kinds.end() ? "sum" : kind->second, x, dims,
               keep);
    if (op == "ReduceL2") x = apply(network, name, "sqrt", x);
    if (op.starts_with("ReduceLog")) x = apply(network, name, "log", x);
    node.put(0, x);
}

void map_arg(Node& node) {
    const std::size_t rank = node.rank(0);
    if (rank == 0) throw Unsayable("its input is a single number");
    const std::size_t axis = node.axis("axis", 0, rank);
    const Value at = top_k(node.network(), node.name(), node.value(0), axis, 1, true);
    if (node.integer("keepdims", 1) != 0) return node.put(0, at);
    Shape shape = node.shape(0);
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    node.put(0, node.network().reshape(at, shape));
}

void map_top_k(Node& node) {
    const std::size_t rank = node.rank(0);
    if (rank == 0) throw Unsayable("its input is a single number");
    const std::size_t axis = node.axis("axis", -1, rank);
    const std::vector<std::int64_t> k =
        node.has(1) ? node.integers(1, "number of greatest elements") : std::vector{node.integer("k", 0)};
    if (k.size() != 1 || k[0] < 1 || k[0] > node.shape(0)[axis])
        throw Unsayable("it asks for more than there are");
    if (node.is_read(0) || !node.is_read(1))
        node.put(0, top_k(node.network(), node.name(), node.value(0), axis, k[0], false));
    if (node.is_read(1))
        node.put(1, top_k(node.network(), node.name() + "_indices", node.value(0), axis, k[0], true));
}

}  // namespace systole
