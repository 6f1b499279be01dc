// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/fusion.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/workload/fused_graph.h"

namespace systole::systolic {
namespace {

bool names(const std::vector<std::string>& list, const std::string& name) {
    return std::ranges::find(list, name) != list.end();
}

/// Of all that are possible, those that the mapping names.
std::vector<Fusion> by_hand(const Graph& graph, const SystolicSpec& spec, const Mapping& mapping) {
    if (!spec.placement.fuse && !mapping.fused->empty())
        throw UserError(mapping.fused_where, "'fused' needs a machine with placement.fuse: on");
    std::vector<Fusion> wanted;
    std::vector<std::string> possible;
    for (const Fusion& fusion : possible_fusions(graph)) {
        possible.push_back(graph.layers[fusion.elementwise].name);
        if (names(*mapping.fused, possible.back())) wanted.push_back(fusion);
    }
    for (const std::string& name : *mapping.fused)
        if (!names(possible, name))
            throw UserError(
                mapping.fused_where,
                fmt::format("'{}' cannot join a matrix product: neither of its operands is the output of a "
                            "matmul or conv2d before it that nobody else reads, in the same turn of its "
                            "block, with the other one there before it",
                            name));
    return wanted;
}

}  // namespace

Graph fused_graph(const Graph& graph, const SystolicSpec& spec, const Mapping* mapping) {
    std::vector<Fusion> fusions;
    if (mapping && mapping->fused)
        fusions = by_hand(graph, spec, *mapping);
    else if (spec.placement.fuse)
        fusions = possible_fusions(graph);
    if (mapping && mapping->resident)
        for (const Fusion& fusion : fusions) {
            const std::string& gone = graph.tensors[graph.layers[fusion.producer].output].name;
            if (names(*mapping->resident, gone))
                throw UserError(
                    mapping->resident_where,
                    fmt::format("'{}' cannot stay in the scratchpad: '{}' joins it, and its own output is "
                                "never written",
                                gone, graph.layers[fusion.elementwise].name));
        }
    return fuse(graph, fusions);
}

std::vector<std::string> joined_layers(const Graph& graph) {
    std::vector<std::string> joined;
    for (const Layer& layer : graph.layers)
        if (layer.joined && (!layer.slice || layer.slice->index == 0)) joined.push_back(layer.joined->name);
    return joined;
}

}  // namespace systole::systolic
