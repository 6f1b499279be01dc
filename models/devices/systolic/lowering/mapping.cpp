// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/mapping.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "models/devices/systolic/lowering/dataflow_specs.h"
#include "sim/base/text.h"
#include "sim/config/schema.h"
#include "sim/workload/keys.h"

namespace systole::systolic {
namespace {

using config::YamlEntry;
using config::YamlNode;

std::vector<std::string> activations_of(const Graph& graph) {
    std::vector<std::string> names;
    for (const Tensor& tensor : graph.tensors)
        if (tensor.role == TensorRole::Activation && !tensor.view_of) names.push_back(tensor.name);
    return names;
}

LayerMapping read_layer(Keys& keys, const SourceMark& where) {
    LayerMapping mapping;
    mapping.rows = keys.integer("rows", 1);
    mapping.columns = keys.integer("columns", 1);
    mapping.depth = keys.integer("depth", 1);
    mapping.over_batch = keys.integer("over_batch", 1, 1);
    mapping.over_m = keys.integer("over_m", 1, 1);
    mapping.over_n = keys.integer("over_n", 1, 1);
    mapping.m_outer = keys.choice("outer", {"m", "n"}, 0) == 0;
    mapping.cores = static_cast<CoreSplit>(keys.choice("cores", core_splits(), 0));
    mapping.where = where;
    return mapping;
}

bool cut_by_hand(const Operator& op) {
    return std::holds_alternative<MatMul>(op) || std::holds_alternative<Conv2d>(op);
}

Dataflow read_dataflow(Keys& keys) {
    return static_cast<Dataflow>(keys.choice("dataflow", {"ws", "os", "is"}));
}

/// How a layer is cut, its dataflow, or both; of other layers with matrix products only their dataflow.
void read_entry(const YamlEntry& entry, const Operator& op, Mistakes& mistakes, Mapping& mapping) {
    const Parameters none;
    Keys keys(entry.value, none, mistakes, fmt::format("the mapping of '{}'", entry.key));
    const bool by_hand = cut_by_hand(op);
    const bool alone = entry.value.entries.size() == 1 && entry.value.entries.front().key == "dataflow";
    if (by_hand && !alone) mapping.layers.emplace(entry.key, read_layer(keys, entry.where));
    const YamlNode* dataflow = nullptr;  // of a depthwise convolution, which no array does, an unknown key
    if (uses_arrays(op))
        dataflow = by_hand ? keys.optional("dataflow") : keys.required("dataflow", "ws, os or is");
    if (dataflow) {
        mapping.dataflow_marks.emplace(entry.key, dataflow->where);
        mapping.dataflows.emplace(entry.key, read_dataflow(keys));
    }
    keys.finish();
}

void read_layers(const YamlNode& layers, const Graph& graph, Mistakes& mistakes, Mapping& mapping) {
    if (layers.kind != YamlNode::Kind::Map) {
        mistakes.add(layers.where,
                     fmt::format("'layers' must be a map of layers, not {}", to_string(layers.kind)));
        return;
    }
    std::vector<std::string> known;
    std::unordered_map<std::string_view, const Layer*> by_name;
    for (const Layer& one : graph.layers) {
        known.push_back(one.name);
        by_name.emplace(one.name, &one);
    }
    for (const YamlEntry& entry : layers.entries) {
        const auto found = by_name.find(entry.key);
        const Layer* const layer = found == by_name.end() ? nullptr : found->second;
        if (layer == nullptr) {
            mistakes.add(entry.where, fmt::format("'{}' has no layer '{}'{}", graph.name, excerpt(entry.key),
                                                  did_you_mean(entry.key, known)));
        } else if (!uses_arrays(layer->op) && !cut_by_hand(layer->op)) {
            mistakes.add(
                entry.where,
                fmt::format("'{}' is {}, and only matmul, conv2d and conv3d are cut by hand, attention and "
                            "conv_transpose given a dataflow",
                            entry.key, op_name(layer->op)));
        } else if (entry.value.kind != YamlNode::Kind::Map) {
            mistakes.add(entry.value.where,
                         fmt::format("'{}' must be a map with {}, not {}", entry.key,
                                     cut_by_hand(layer->op) ? "'rows', 'columns' and 'depth'" : "'dataflow'",
                                     to_string(entry.value.kind)));
        } else {
            read_entry(entry, layer->op, mistakes, mapping);
        }
    }
}

void read_resident(const YamlNode& resident, const Graph& graph, Mistakes& mistakes, Mapping& mapping) {
    mapping.resident.emplace();
    mapping.resident_where = resident.where;
    if (resident.kind != YamlNode::Kind::Sequence) {
        mistakes.add(resident.where,
                     fmt::format("'resident' must be a list of layers, not {}", to_string(resident.kind)));
        return;
    }
    const std::vector<std::string> known = activations_of(graph);
    for (const YamlNode& item : resident.items) {
        if (std::ranges::find(known, item.scalar) == known.end())
            mistakes.add(item.where, fmt::format("'{}' is no activation of '{}'{}", excerpt(item.scalar),
                                                 graph.name, did_you_mean(item.scalar, known)));
        mapping.resident->push_back(item.scalar);
    }
}

void read_fused(const YamlNode& fused, const Graph& graph, Mistakes& mistakes, Mapping& mapping) {
    mapping.fused.emplace();
    mapping.fused_where = fused.where;
    if (fused.kind != YamlNode::Kind::Sequence) {
        mistakes.add(fused.where, fmt::format("'fused' must be a list of elementwise layers, not {}",
                                              to_string(fused.kind)));
        return;
    }
    std::vector<std::string> known;
    for (const Layer& layer : graph.layers)
        if (std::holds_alternative<Elementwise>(layer.op)) known.push_back(layer.name);
    for (const YamlNode& item : fused.items) {
        if (std::ranges::find(known, item.scalar) == known.end())
            mistakes.add(item.where,
                         fmt::format("'{}' is no elementwise layer of '{}'{}", excerpt(item.scalar),
                                     graph.name, did_you_mean(item.scalar, known)));
        mapping.fused->push_back(item.scalar);
    }
}

void read_slices(const YamlNode& slices, const Graph& graph, Mistakes& mistakes, Mapping& mapping) {
    mapping.slices.emplace();
    if (slices.kind != YamlNode::Kind::Sequence) {
        mistakes.add(slices.where, fmt::format("'slices' must be a list of maps with 'first', 'last' and "
                                               "'count', not {}",
                                               to_string(slices.kind)));
        return;
    }
    std::vector<std::string> known;
    for (const Layer& layer : graph.layers) known.push_back(layer.name);
    const Parameters none;
    for (const YamlNode& item : slices.items) {
        if (item.kind != YamlNode::Kind::Map) {
            mistakes.add(item.where, fmt::format("a run of 'slices' must be a map with 'first', 'last' and "
                                                 "'count', not {}",
                                                 to_string(item.kind)));
            continue;
        }
        Keys keys(item, none, mistakes, "a run of 'slices'");
        NamedSlices run;
        run.first = keys.text("first", "the first layer");
        run.last = keys.text("last", "the last layer");
        run.count = keys.integer("count", 2);
        run.where = item.where;
        keys.finish();
        for (const std::string& name : {run.first, run.last})
            if (!name.empty() && std::ranges::find(known, name) == known.end())
                mistakes.add(item.where, fmt::format("'{}' has no layer '{}'{}", graph.name, excerpt(name),
                                                     did_you_mean(name, known)));
        mapping.slices->push_back(std::move(run));
    }
}

}  // namespace

Mapping read_mapping(const YamlNode& document, const Graph& graph) {
    Mistakes mistakes;
    Mapping mapping;
    if (document.kind != YamlNode::Kind::Map)
        throw UserError(document.where,
                        fmt::format("a mapping must be a map with 'mapping' and 'layers', not {}",
                                    to_string(document.kind)));
    const Parameters none;
    Keys keys(config::of_schema(document, kMappingSchema), none, mistakes, "mapping");
    keys.optional(config::kSchemaKey);
    keys.text("mapping", "what it is a mapping of");
    if (const YamlNode* dataflow = keys.optional("dataflow")) {
        mapping.dataflow = read_dataflow(keys);
        mapping.dataflow_where = dataflow->where;
    }
    if (const YamlNode* cores = keys.optional("cores")) {
        mapping.cores_where = cores->where;
        mapping.cores = keys.integer("cores", 1);
    }
    if (const YamlNode* layers = keys.required("layers", "a map of layers"))
        read_layers(*layers, graph, mistakes, mapping);
    if (const YamlNode* resident = keys.optional("resident"))
        read_resident(*resident, graph, mistakes, mapping);
    if (const YamlNode* fused = keys.optional("fused")) read_fused(*fused, graph, mistakes, mapping);
    if (const YamlNode* slices = keys.optional("slices")) read_slices(*slices, graph, mistakes, mapping);
    keys.finish();
    mistakes.throw_if_any();
    return mapping;
}

namespace {

/// Of each layer its own, or that of its like in the nearest turn before that has one.
std::vector<const LayerMapping*> by_layer(const Mapping& mapping, const Graph& graph) {
    std::vector<const LayerMapping*> all;
    for (const Layer& layer : graph.layers) {
        const auto found = mapping.layers.find(whole_name(layer));
        all.push_back(found == mapping.layers.end() ? nullptr : &found->second);
    }
    for (const RepeatedBlock& block : graph.blocks)
        for (std::size_t i = block.layers; i < block.layers * block.turns; ++i) {
            const std::size_t layer = block.first_layer + i;
            if (all[layer] == nullptr) all[layer] = all[layer - block.layers];
        }
    return all;
}

}  // namespace

std::string to_yaml(const Mapping& mapping, const Graph& graph, const std::string& device) {
    std::string text = fmt::format("mapping: {} on {}\n{}: {}\n", graph.name, device, config::kSchemaKey,
                                   kMappingSchema.current);
    if (mapping.cores) text += fmt::format("cores: {}\n", *mapping.cores);
    if (mapping.resident) text += fmt::format("resident: [{}]\n", fmt::join(*mapping.resident, ", "));
    if (mapping.fused) text += fmt::format("fused: [{}]\n", fmt::join(*mapping.fused, ", "));
    if (mapping.slices) {
        text += mapping.slices->empty() ? "slices: []\n" : "slices:\n";
        for (const NamedSlices& run : *mapping.slices)
            text += fmt::format("  - {{first: {}, last: {}, count: {}}}\n", run.first, run.last, run.count);
    }
    text += mapping.layers.empty() && mapping.dataflows.empty() ? "layers: {}\n" : "layers:\n";
    const std::vector<const LayerMapping*> mappings = by_layer(mapping, graph);
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
        const Layer& layer = graph.layers[i];
        const LayerMapping* const found = cut_by_hand(layer.op) ? mappings[i] : nullptr;
        if (layer.slice && layer.slice->index > 0) continue;
        const auto own = mapping.dataflows.find(whole_name(layer));
        const std::string dataflow =
            own == mapping.dataflows.end() ? "" : fmt::format("dataflow: {}", to_string(own->second));
        if (!found && !dataflow.empty()) text += fmt::format("  {}: {{{}}}\n", whole_name(layer), dataflow);
        if (!found) continue;
        const LayerMapping& m = *found;
        const std::string cores =
            m.cores == CoreSplit::None ? "" : fmt::format(", cores: {}", to_string(m.cores));
        text += fmt::format(
            "  {}: {{rows: {}, columns: {}, depth: {}, over_batch: {}, over_m: {}, over_n: {}, outer: "
            "{}{}{}{}}}\n",
            whole_name(layer), m.rows, m.columns, m.depth, m.over_batch, m.over_m, m.over_n,
            m.m_outer ? "m" : "n", cores, dataflow.empty() ? "" : ", ", dataflow);
    }
    return text;
}

}  // namespace systole::systolic
