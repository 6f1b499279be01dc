// SPDX-License-Identifier: Apache-2.0
// The machine as each layer sees it: with its arrays set up for the layer's dataflow.
#pragma once

#include <optional>
#include <vector>

#include "models/devices/systolic/lowering/mapping.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/workload/graph.h"

namespace systole::systolic {

/// Whether the operator has matrix products that arrays do.
bool uses_arrays(const Operator& op);

class DataflowSpecs {
public:
    /// `dataflows`, if there are any: of all matrix layers by whole name. Keeps a reference to them.
    DataflowSpecs(const Graph& graph, const SystolicSpec& spec, const LayerDataflows* dataflows);
    /// Of a machine in its own dataflow.
    DataflowSpecs(const Graph& graph, const SystolicSpec& spec) : DataflowSpecs(graph, spec, nullptr) {}

    const SystolicSpec& of(const Layer& layer) const { return of(dataflow_of(layer)); }
    /// For what all have in common.
    const SystolicSpec& any() const { return specs_.front(); }
    const std::vector<SystolicSpec>& all() const { return specs_; }
    /// Of the first matrix layer: arrays are set up for it before the program starts.
    Dataflow first() const { return first_; }
    /// What a program has to say of the layer: nothing where its dataflow is first().
    std::optional<Dataflow> own_dataflow(const Layer& layer) const;
    bool mixed() const { return specs_.size() > 1; }

private:
    Dataflow dataflow_of(const Layer& layer) const;
    const SystolicSpec& of(Dataflow dataflow) const;

    const LayerDataflows* dataflows_;
    Dataflow first_;
    std::vector<SystolicSpec> specs_;
};

}  // namespace systole::systolic
