// SPDX-License-Identifier: Apache-2.0
// What a graph begins with: stored tensors, and inputs with every extent.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/base/error.h"
#include "sim/base/utf8.h"
#include "sim/workload/importers/onnx/infer.h"
#include "sim/workload/importers/onnx/translator.h"
#include "sim/workload/operator_shapes.h"

namespace systole {
namespace {

std::string shown(const std::string& name) {
    return printable(excerpt(name));
}

}  // namespace

void Translator::add_initializers(const onnx::GraphProto& graph, OnnxScope& scope) {
    const auto add = [&](const onnx::TensorProto& tensor) {
        Held held{tensor.name(), Held::Source::Stored, shape_of(tensor), tensor.data_type()};
        for (const std::int64_t extent : held.shape)
            if (extent < 0)
                throw UserError(
                    {file_}, fmt::format("tensor '{}' has a dimension of {}", shown(tensor.name()), extent));
        if (!is_storable(held.shape))
            throw UserError({file_}, fmt::format("tensor '{}' {} has more than 2^56 elements",
                                                 shown(tensor.name()), to_string(held.shape)));
        held.constant = constant_of(tensor);
        scope.names[tensor.name()] = std::move(held);
    };
    for (const onnx::TensorProto& tensor : graph.initializer()) add(tensor);
    for (const onnx::SparseTensorProto& sparse : graph.sparse_initializer()) {
        Held held{sparse.values().name(),
                  Held::Source::Stored,
                  {sparse.dims().begin(), sparse.dims().end()},
                  sparse.values().data_type()};
        if (is_storable(held.shape)) scope.names[held.name] = std::move(held);
    }
}

/// Inputs of the graph, with every extent.
void Translator::bind_inputs() {
    std::map<std::string, std::vector<std::string>> unbound;  // and whose they are
    std::vector<std::string> all;
    for (const onnx::ValueInfoProto& input : model_.graph().input()) {
        const std::string& name = input.name();
        if (top_.names.contains(name)) continue;  // a stored tensor is listed here, too, up to IR version 3
        Held held{name, Held::Source::Input, {}, input.type().tensor_type().elem_type()};
        if (!input.type().has_tensor_type() || !input.type().tensor_type().has_shape()) {
            held.source = Held::Source::Unknown;
            held.why = input.type().has_tensor_type() ? "an input whose shape the file does not say"
                                                      : "an input that is no tensor";
            top_.names[name] = std::move(held);
            continue;
        }
        int at = 0;
        for (const auto& dim : input.type().tensor_type().shape().dim()) {
            const bool named = dim.has_dim_param() && !dim.dim_param().empty();
            const std::string dim_name = named ? dim.dim_param() : fmt::format("{}.{}", name, at);
            ++at;
            const bool fixed = dim.has_dim_value() && dim.dim_value() > 0;
            const auto given = choices_.dims.find(dim_name);
            if (!fixed) all.push_back(dim_name);
            if (fixed) {
                held.shape.push_back(dim.dim_value());
            } else if (given != choices_.dims.end()) {
                held.shape.push_back(given->second);
            } else {
                const std::string said =
                    dim.has_dim_value() ? fmt::format(", {} in the file", dim.dim_value()) : "";
                unbound[dim_name].push_back(fmt::format("'{}'{}", shown(name), said));
            }
        }
        if (!is_storable(held.shape))
            throw UserError({file_}, fmt::format("input '{}' {} has more than 2^56 elements", shown(name),
                                                 to_string(held.shape)));
        top_.names[name] = std::move(held);
    }
    for (const auto& [name, extent] : choices_.dims)
        if (std::ranges::find(all, name) == all.end())
            throw UserError({file_}, fmt::format("--dim {}: no input has a dimension of that name{}",
                                                 shown(name), did_you_mean(name, all)));
    std::vector<std::string> missing;
    for (const auto& [name, whose] : unbound)
        missing.push_back(fmt::format("{} (of {})", shown(name), fmt::join(whose, ", ")));
    if (!unbound.empty())
        throw UserError(
            {file_},
            fmt::format("dimensions without an extent: {}; give each one with --dim, as in --dim '{}=1'",
                        fmt::join(missing, ", "), shown(unbound.begin()->first)));
}

}  // namespace systole
