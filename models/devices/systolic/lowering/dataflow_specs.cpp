// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/dataflow_specs.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole::systolic {

bool uses_arrays(const Operator& op) {
    if (const auto* conv = std::get_if<Conv2d>(&op)) return !conv->depthwise();
    return std::holds_alternative<MatMul>(op) || std::holds_alternative<ConvTranspose>(op) ||
           std::holds_alternative<Attention>(op);
}

DataflowSpecs::DataflowSpecs(const Graph& graph, const SystolicSpec& spec, const LayerDataflows* dataflows)
    : dataflows_(dataflows), first_(spec.mxu.dataflow) {
    std::optional<Dataflow> first;
    const auto add = [&](Dataflow dataflow) {
        if (std::ranges::find(specs_, dataflow, [](const SystolicSpec& s) { return s.mxu.dataflow; }) !=
            specs_.end())
            return;
        specs_.push_back(spec);
        specs_.back().mxu.dataflow = dataflow;
    };
    for (const Layer& layer : graph.layers) {
        if (!uses_arrays(layer.op)) continue;
        if (!first) first = first_ = dataflow_of(layer);
        add(dataflow_of(layer));
    }
    if (specs_.empty()) add(first_);
}

std::optional<Dataflow> DataflowSpecs::own_dataflow(const Layer& layer) const {
    const Dataflow dataflow = dataflow_of(layer);
    return dataflow == first_ ? std::nullopt : std::optional(dataflow);
}

/// Layers that no array works on have the first one's.
Dataflow DataflowSpecs::dataflow_of(const Layer& layer) const {
    if (dataflows_ == nullptr || !uses_arrays(layer.op)) return first_;
    const auto found = dataflows_->find(whole_name(layer));
    SYSTOLE_CHECK(found != dataflows_->end(), "no dataflow for layer '{}'", layer.name);
    return found->second;
}

const SystolicSpec& DataflowSpecs::of(Dataflow dataflow) const {
    const auto found =
        std::ranges::find(specs_, dataflow, [](const SystolicSpec& spec) { return spec.mxu.dataflow; });
    SYSTOLE_CHECK(found != specs_.end(), "no machine with dataflow {}", to_string(dataflow));
    return *found;
}

}  // namespace systole::systolic
