// SPDX-License-Identifier: Apache-2.0
// What all layers share while a graph is lowered. Of the chip: the program so far, and the tensors' state. Of
// each core: its on-chip storage, [resident activations | input ring | weight ring | output ring], and every
// matrix unit's accumulators.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/devices/systolic/lowering/buffer_ring.h"
#include "models/devices/systolic/lowering/bus_spread.h"
#include "models/devices/systolic/lowering/core_share.h"
#include "models/devices/systolic/lowering/emitter.h"
#include "models/devices/systolic/lowering/mapping.h"
#include "models/devices/systolic/lowering/mapping_choice.h"
#include "models/devices/systolic/lowering/tensor_flow.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/workload/graph.h"

namespace systole::systolic {

struct GemmMapping;

/// What the cores at work share.
struct ChipWorkspace {
    ChipWorkspace(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol,
                  const std::vector<Placement>& placements, int cores);

    const Graph& graph;
    const SystolicSpec& spec;
    const std::vector<Placement>& placements;
    const int cores;  ///< at work: the first so many
    Emitter emitter;
    TensorFlow flow;
    const Mapping* mapping = nullptr;               ///< by hand, for the layers that it has
    mutable BusSpread spread;                       ///< how rows of tensors fall on the memory's buses
    const LayerMappings* tried = nullptr;           ///< instead of the mapper's own, of layers that they fit
    Mapping used;                                   ///< of all matrix layers so far
    std::size_t most_variants = 1;                  ///< of a layer, that are to be listed
    LayerVariants variants;                         ///< of all matrix layers so far
    std::vector<MappingChoice>* choices = nullptr;  ///< where somebody wants to know why
    /// How matrix layers were cut, by layer and part of it: by the first core that asked, for all.
    std::map<std::pair<std::string, std::int64_t>, std::shared_ptr<const GemmMapping>> cuts;
};

/// On-chip storage of a core.
struct CoreStorage {
    /// Throws UserError when the scratchpad cannot hold the areas that the placement asks for.
    explicit CoreStorage(const SystolicSpec& spec);

    BufferRing inputs, weights, outputs;
    std::vector<BufferRing> accumulators;  ///< by matrix unit; in rows
};

/// What a layer sees: a core, with its arrays set up for one dataflow.
struct Workspace {
    /// `spec`: the chip's, but for the dataflow.
    Workspace(ChipWorkspace& chip, int core, const SystolicSpec& spec, CoreStorage& storage);

    ChipWorkspace& chip;
    const CoreShare core;  ///< whose this is, of how many
    const Graph& graph;
    const SystolicSpec& spec;
    const std::vector<Placement>& placements;
    Emitter& emitter;
    TensorFlow& flow;
    BufferRing &inputs, &weights, &outputs;
    std::vector<BufferRing>& accumulators;
    bool runs_of_folds = false;  ///< consecutive folds may be one command

    /// Where biases and other parameters of the vector unit are staged: the weight ring, or on a machine
    /// without one the output ring.
    BufferRing& parameters() { return weights.capacity() > 0 ? weights : outputs; }
    const BufferRing& parameters() const { return weights.capacity() > 0 ? weights : outputs; }
    DType dtype(TensorId tensor) const { return graph.tensors[tensor].dtype; }
    /// How bytes of a layer's input are entered in the ledger.
    Operand operand(TensorId tensor) const;
};

/// The mistake of a layer that this machine cannot run, with the layer's name and place.
[[noreturn]] void refuse(const Layer& layer, const std::string& why);

}  // namespace systole::systolic
