// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/training/appended_graph.h"

#include <algorithm>

#include "sim/base/text.h"
#include "sim/workload/operator_shapes.h"
#include "sim/workload/parameters.h"
#include "sim/workload/trace_reader.h"

namespace systole {
namespace {

[[noreturn]] void refuse(const NewLayer& layer, const std::string& why) {
    throw UserError(layer.where, fmt::format("{} '{}': {}", op_name(layer.op), layer.name, why));
}

}  // namespace

TensorId AppendedGraph::add(NewLayer layer) {
    if (static_cast<std::int64_t>(graph_.layers.size()) >= kMaxLayers)
        throw UserError(layer.where, fmt::format("more than {} layers, with those of training",
                                                 with_thousands(kMaxLayers)));
    if (const std::vector<std::string> faults = find_faults(layer.op); !faults.empty())
        refuse(layer, faults.front());
    if (!is_storable(layer.output)) refuse(layer, to_string(layer.output) + " has more than 2^56 elements");
    if (std::ranges::max(layer.output) > kMaxInteger)
        refuse(layer, fmt::format("{} has a dimension above {}", to_string(layer.output), kMaxInteger));
    const std::string name = names_.take(layer.name);
    const TensorId output = graph_.tensors.size();
    graph_.tensors.push_back({name, std::move(layer.output), layer.dtype, layer.role});
    graph_.layers.push_back(
        {name, layer.op, std::move(layer.inputs), layer.weights, layer.bias, output, std::move(layer.where)});
    return output;
}

TensorId AppendedGraph::viewed_as(TensorId tensor, const Shape& shape, const std::string& name) {
    const Tensor& base = graph_.tensors[tensor];
    if (base.shape == shape) return tensor;
    if (base.view_of && graph_.tensors[*base.view_of].shape == shape) return *base.view_of;
    graph_.tensors.push_back(
        {names_.take(name), shape, base.dtype, base.role, base.view_of.value_or(tensor)});
    return graph_.tensors.size() - 1;
}

}  // namespace systole
