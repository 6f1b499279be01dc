// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/mapped_turns.h"

#include <algorithm>
#include <tuple>

#include "sim/workload/shorter_graph.h"

namespace systole::systolic {
namespace {

/// Where in the file it stands does not matter.
auto said_by(const LayerMapping& m) {
    return std::tuple(m.rows, m.columns, m.depth, m.over_batch, m.over_m, m.over_n, m.m_outer, m.cores);
}

bool same_mapping(const Mapping& mapping, const Layer& a, const Layer& b) {
    const auto one = mapping.layers.find(whole_name(a)), other = mapping.layers.find(whole_name(b));
    if (one == mapping.layers.end() || other == mapping.layers.end())
        return (one == mapping.layers.end()) == (other == mapping.layers.end());
    return said_by(one->second) == said_by(other->second);
}

bool same_place(const Placement& a, const Placement& b) {
    return a.space == b.space && a.layout == b.layout;
}

bool layers_alike(const Graph& graph, const RepeatedBlock& block, const Mapping& mapping) {
    const std::size_t second = block.first_layer + block.layers;
    for (std::size_t i = block.layers; i < block.layers * (block.turns - 1); ++i)
        if (!same_mapping(mapping, graph.layers[second + i], graph.layers[second + i % block.layers]))
            return false;
    return true;
}

bool tensors_alike(const RepeatedBlock& block, const std::vector<Placement>& placements) {
    const std::size_t second = block.first_tensor + block.tensors;
    for (std::size_t i = block.tensors; i + block.tensors * kLastTurns < block.tensors * (block.turns - 1);
         ++i)
        if (!same_place(placements[second + i], placements[second + i % block.tensors])) return false;
    return true;
}

}  // namespace

bool turns_mapped_alike(const Graph& graph, const std::vector<Placement>& placements,
                        const Mapping* mapping) {
    return std::ranges::all_of(graph.blocks, [&](const RepeatedBlock& block) {
        return block.turns <= 1 ||
               ((!mapping || layers_alike(graph, block, *mapping)) && tensors_alike(block, placements));
    });
}

}  // namespace systole::systolic
