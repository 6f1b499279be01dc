// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "sim/app/describe.h"
#include "sim/base/text.h"

namespace systole::app {
namespace {

using Json = nlohmann::ordered_json;

/// "[1, 56, 56, 64] int8".
std::string shape_text(const Tensor& tensor) {
    return fmt::format("[{}] {}", fmt::join(tensor.shape, ", "), to_string(tensor.dtype));
}

std::string inputs_text(const Graph& graph, const Layer& layer) {
    std::string text;
    for (const TensorId id : layer.inputs)
        if (graph.tensors[id].role != TensorRole::Weights)
            text += (text.empty() ? "" : " + ") + shape_text(graph.tensors[id]);
    return text;
}

/// The stored weights of a layer: its own, or what it is given as an input and takes apart.
std::optional<TensorId> weights_of(const Graph& graph, const Layer& layer) {
    if (layer.weights) return layer.weights;
    for (const TensorId id : layer.inputs)
        if (graph.tensors[id].role == TensorRole::Weights) return id;
    return std::nullopt;
}

Bytes weight_bytes(const Graph& graph, const Layer& layer) {
    Bytes bytes;
    if (const auto weights = weights_of(graph, layer)) bytes += stored_bytes(graph.tensors[*weights]);
    if (layer.bias) bytes += stored_bytes(graph.tensors[*layer.bias]);
    if (layer.scales) bytes += stored_bytes(graph.tensors[*layer.scales]);
    return bytes;
}

Bytes weight_bytes(const Graph& graph) {
    Bytes bytes;
    for (const Layer& layer : graph.layers) bytes += weight_bytes(graph, layer);
    return bytes;
}

std::string parameters_text(const config::YamlNode& document) {
    const config::YamlNode* const params = document.find("params");
    if (!params || params->entries.empty()) return "no parameters\n";
    TextTable table;
    table.column("parameter", TextTable::Align::Left);
    table.column("default", TextTable::Align::Left);
    for (const config::YamlEntry& entry : params->entries)
        table.row({"workload." + entry.key, entry.value.scalar});
    return table.str();
}

Json tensor_json(const Tensor& tensor) {
    return {{"name", tensor.name}, {"shape", tensor.shape}, {"dtype", to_string(tensor.dtype)}};
}

Json layer_json(const Graph& graph, const Layer& layer) {
    Json inputs = Json::array();
    for (const TensorId id : layer.inputs)
        if (graph.tensors[id].role != TensorRole::Weights) inputs.push_back(tensor_json(graph.tensors[id]));
    Json json = {{"name", layer.name},
                 {"op", op_name(layer)},
                 {"inputs", std::move(inputs)},
                 {"output", tensor_json(graph.tensors[layer.output])}};
    const std::optional<TensorId> weights = weights_of(graph, layer);
    json["weights"] = weights ? tensor_json(graph.tensors[*weights]) : Json();
    json["macs"] = macs(layer.op).value();
    json["weight_bytes"] = weight_bytes(graph, layer).value();
    return json;
}

}  // namespace

std::string trace_text(const config::YamlNode& document, const Graph& graph) {
    using Align = TextTable::Align;
    TextTable table;
    for (const char* const header : {"layer", "op", "in", "out"}) table.column(header, Align::Left);
    table.column("MACs", Align::Right);
    table.column("weights", Align::Left);
    table.column("bytes", Align::Right);
    for (const Layer& layer : graph.layers) {
        const std::optional<TensorId> weights = weights_of(graph, layer);
        table.row({layer.name, op_name(layer), inputs_text(graph, layer),
                   shape_text(graph.tensors[layer.output]), with_thousands(macs(layer.op).value()),
                   weights ? shape_text(graph.tensors[*weights]) : "",
                   with_thousands(weight_bytes(graph, layer).value())});
    }
    table.rule();
    table.row({"total", "", "", "", with_thousands(total_macs(graph).value()), "",
               with_thousands(weight_bytes(graph).value())});
    return fmt::format("{}: {} layers, {} of weights (with biases)\n\n{}\n{}", graph.name,
                       graph.layers.size(), format_bytes(weight_bytes(graph)), parameters_text(document),
                       table.str());
}

std::string trace_json(const config::YamlNode& document, const Graph& graph) {
    Json params = Json::object();
    if (const config::YamlNode* const given = document.find("params"))
        for (const config::YamlEntry& entry : given->entries) params[entry.key] = entry.value.scalar;
    Json layers = Json::array();
    for (const Layer& layer : graph.layers) layers.push_back(layer_json(graph, layer));
    const Json json = {{"trace", graph.name},
                       {"params", std::move(params)},
                       {"macs", total_macs(graph).value()},
                       {"weight_bytes", weight_bytes(graph).value()},
                       {"layers", std::move(layers)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace systole::app
