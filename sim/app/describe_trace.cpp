// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "sim/app/describe.h"
#include "sim/app/terminal.h"
#include "sim/base/text.h"
#include "sim/base/text_table.h"

namespace systole::app {
namespace {

using Json = nlohmann::ordered_json;

/// "[1, 56, 56, 64] int8".
std::string shape_text(const Tensor& tensor) {
    return fmt::format("[{}] {}", fmt::join(tensor.shape, ", "), to_string(tensor.dtype));
}

/// What the layer reads that other layers or inputs of the network hold.
std::vector<TensorId> edges_into(const Graph& graph, const Layer& layer) {
    std::vector<TensorId> edges;
    for (const TensorId id : layer.inputs)
        if (graph.tensors[id].role != TensorRole::Weights) edges.push_back(id);
    return edges;
}

/// The name of the layer or input that made what a tensor shows.
const std::string& maker(const Graph& graph, TensorId id) {
    return graph.tensors[graph.tensors[id].view_of.value_or(id)].name;
}

/// "decoder.3." of "decoder.3.query.input_gradient": up to the number of the innermost turn. No other part of
/// a name begins with a digit.
std::string turn_of(const std::string& name) {
    std::size_t end = 0, part = 0;
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', part)) {
        if (name[part] >= '0' && name[part] <= '9') end = dot + 1;
        part = dot + 1;
    }
    return name.substr(0, end);
}

/// "query_turned + keys": makers of the same turn of a block without its name.
std::string makers_text(const Graph& graph, const Layer& layer) {
    const std::string turn = turn_of(layer.name);
    std::string text;
    for (const TensorId id : edges_into(graph, layer)) {
        const std::string& name = maker(graph, id);
        text += (text.empty() ? "" : " + ") + name.substr(name.starts_with(turn) ? turn.size() : 0);
    }
    return text;
}

std::string inputs_text(const Graph& graph, const Layer& layer) {
    std::string text;
    for (const TensorId id : edges_into(graph, layer))
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

/// What the network stores. A layer's share is what no layer before it reads: gradients and optimizers meet
/// the weights of others.
struct Stored {
    explicit Stored(const Graph& graph) {
        std::vector<bool> seen(graph.tensors.size());
        for (const Layer& layer : graph.layers) {
            Bytes& own = of_layer.emplace_back();
            for (const auto& id : {weights_of(graph, layer), layer.bias, layer.scales}) {
                if (!id || seen[*id]) continue;
                seen[*id] = true;
                own += stored_bytes(graph.tensors[*id]);
                numbers += elements(graph.tensors[*id].shape);
            }
            bytes += own;
            const Tensor& made = graph.tensors[layer.output];
            if (made.role == TensorRole::OptimizerState) state += stored_bytes(made);
        }
    }

    std::vector<Bytes> of_layer;
    Bytes bytes, state;        ///< weights, biases, scales; what optimizers keep beside them
    std::int64_t numbers = 0;  ///< weights, biases, scales
};

std::string parameters_text(const config::YamlNode& document) {
    const config::YamlNode* const params = document.find("params");
    if (!params || params->entries.empty()) return "no parameters\n";
    TextTable table;
    table.column("parameter", TextTable::Align::Left);
    table.column("default", TextTable::Align::Left);
    for (const config::YamlEntry& entry : params->entries)
        table.row({"workload." + entry.key, entry.value.scalar});
    return table.str(answer_style());
}

/// "inputs   image [1, 8, 8, 3] int8, …".
std::string ends_text(const Graph& graph, const char* what, const std::vector<TensorId>& ids) {
    std::string text;
    for (const TensorId id : ids)
        text += (text.empty() ? "" : ", ") + maker(graph, id) + " " + shape_text(graph.tensors[id]);
    return fmt::format("{:<9}{}\n", what, text);
}

Json tensor_json(const Tensor& tensor) {
    return {{"name", tensor.name}, {"shape", tensor.shape}, {"dtype", to_string(tensor.dtype)}};
}

Json layer_json(const Graph& graph, const Layer& layer, Bytes stored) {
    Json inputs = Json::array();
    for (const TensorId id : edges_into(graph, layer)) {
        Json input = tensor_json(graph.tensors[id]);
        input["from"] = maker(graph, id);
        inputs.push_back(std::move(input));
    }
    Json json = {{"name", layer.name},
                 {"op", op_name(layer)},
                 {"inputs", std::move(inputs)},
                 {"output", tensor_json(graph.tensors[layer.output])}};
    const std::optional<TensorId> weights = weights_of(graph, layer);
    json["weights"] = weights ? tensor_json(graph.tensors[*weights]) : Json();
    json["macs"] = macs(layer.op).value();
    json["weight_bytes"] = stored.value();
    return json;
}

}  // namespace

std::string trace_text(const config::YamlNode& document, const Graph& graph) {
    using Align = TextTable::Align;
    TextTable table;
    for (const char* const header : {"layer", "op", "from", "in", "out"}) table.column(header, Align::Left);
    table.column("MACs", Align::Right);
    table.column("weights", Align::Left);
    table.column("bytes", Align::Right);
    const Stored stored(graph);
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
        const Layer& layer = graph.layers[i];
        const std::optional<TensorId> weights = weights_of(graph, layer);
        table.row({layer.name, op_name(layer), makers_text(graph, layer), inputs_text(graph, layer),
                   shape_text(graph.tensors[layer.output]), with_thousands(macs(layer.op).value()),
                   weights ? shape_text(graph.tensors[*weights]) : "",
                   with_thousands(stored.of_layer[i].value())});
    }
    table.rule();
    table.row({"total", "", "", "", "", with_thousands(total_macs(graph).value()), "",
               with_thousands(stored.bytes.value())});
    return fmt::format("{}: {} layers, {} MACs, {} stored numbers in {}{}\n\n{}\n{}{}\n{}", graph.name,
                       graph.layers.size(), with_thousands(total_macs(graph).value()),
                       with_thousands(stored.numbers), format_bytes(stored.bytes),
                       stored.state > Bytes() ? ", optimizer state " + format_bytes(stored.state) : "",
                       parameters_text(document), ends_text(graph, "inputs", graph.inputs),
                       ends_text(graph, "outputs", graph.outputs), table.str(answer_style()));
}

std::string trace_json(const config::YamlNode& document, const Graph& graph) {
    Json params = Json::object();
    if (const config::YamlNode* const given = document.find("params"))
        for (const config::YamlEntry& entry : given->entries) params[entry.key] = entry.value.scalar;
    Json layers = Json::array();
    const Stored stored(graph);
    for (std::size_t i = 0; i < graph.layers.size(); ++i)
        layers.push_back(layer_json(graph, graph.layers[i], stored.of_layer[i]));
    const Json json = {{"trace", graph.name},
                       {"params", std::move(params)},
                       {"macs", total_macs(graph).value()},
                       {"parameters", stored.numbers},
                       {"weight_bytes", stored.bytes.value()},
                       {"state_bytes", stored.state.value()},
                       {"layers", std::move(layers)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace systole::app
