// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/training/relatives.h"

#include <algorithm>

namespace systole {
namespace {

/// In the order of where they begin: whether each begins where the one before it ends, up to the end of all.
bool cover(const std::vector<const Layer*>& slices) {
    const auto& whole = std::get<Slice>(slices.front()->op);
    std::int64_t at = 0;
    for (const Layer* each : slices) {
        const auto& slice = std::get<Slice>(each->op);
        const bool same_axis = slice.outer == whole.outer && slice.in == whole.in;
        if (!same_axis || slice.begin != at) return false;
        at += slice.size;
    }
    return at == whole.in;
}

}  // namespace

Relatives::Relatives(const Graph& network, const GradientPath& path) {
    for (const Layer& layer : network.layers)
        if (const auto* top = std::get_if<TopK>(&layer.op); top && top->indices)
            indices_.emplace(std::pair(layer.inputs[0], top->k), layer.output);
    find_parts(network, path);
}

void Relatives::find_parts(const Graph& network, const GradientPath& path) {
    std::map<TensorId, std::vector<const Layer*>> slices;  // by the tensor that they read
    std::vector<std::size_t> readers(network.tensors.size());
    for (const TensorId output : network.outputs) ++readers[path.root(output)];
    for (const Layer& layer : network.layers) {
        if (!path.has(layer)) continue;
        for (const TensorId input : layer.inputs) ++readers[path.root(input)];
        if (std::holds_alternative<Slice>(layer.op)) slices[layer.inputs[0]].push_back(&layer);
    }
    for (auto& [tensor, all] : slices) {
        if (all.size() < 2 || readers[path.root(tensor)] != all.size()) continue;
        Parts parts;
        parts.first = all.front()->output;
        std::ranges::sort(all, {}, [](const Layer* layer) { return std::get<Slice>(layer->op).begin; });
        if (!cover(all)) continue;
        for (const Layer* layer : all) {
            parts.outputs.push_back(layer->output);
            parts_with_.emplace(layer->output, parts_.size());
        }
        parts_.push_back(std::move(parts));
    }
}

const Relatives::Parts* Relatives::parts_with(TensorId output) const {
    const auto found = parts_with_.find(output);
    return found == parts_with_.end() ? nullptr : &parts_[found->second];
}

std::optional<TensorId> Relatives::indices_of(TensorId tensor, std::int64_t k) const {
    const auto found = indices_.find({tensor, k});
    return found == indices_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace systole
