// SPDX-License-Identifier: Apache-2.0
// The mapping of a network as a file says it (docs/formats.md), and as it was used: how every matrix layer is
// cut into blocks, which matrix units share it, in which order, and which activations stay in the scratchpad.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/devices/systolic/lowering/core_share.h"
#include "models/devices/systolic/mxu/dataflow.h"
#include "sim/base/error.h"
#include "sim/config/yaml.h"
#include "sim/workload/graph.h"

namespace systole::systolic {

/// A Tiling in the units of the operator.
struct LayerMapping {
    std::int64_t rows = 1, columns = 1;  ///< of the largest block of outputs
    std::int64_t depth = 1;              ///< of K that the first step takes
    std::int64_t over_batch = 1, over_m = 1,
                 over_n = 1;  ///< matrix units that share batch items (or groups), M, N
    bool m_outer = true;
    CoreSplit cores = CoreSplit::None;  ///< what the cores of the chip deal
    SourceMark where;                   ///< in the file
};

/// By a layer's whole name.
using LayerMappings = std::map<std::string, LayerMapping, std::less<>>;

/// Of matrix layers, by whole name: what their arrays are set up for.
using LayerDataflows = std::map<std::string, Dataflow, std::less<>>;

/// Of each layer that the mapper has mapped, by whole name: its mapping, and others to be tried.
using LayerVariants = std::map<std::string, std::vector<LayerMapping>, std::less<>>;

/// Layers from `first` to `last` run part by part of the batch, in so many parts.
struct NamedSlices {
    std::string first, last;
    std::int64_t count = 1;
    SourceMark where;  ///< in the file
};

struct Mapping {
    std::optional<Dataflow> dataflow;  ///< of the arrays; nothing: not said
    SourceMark dataflow_where;
    LayerDataflows dataflows;                                       ///< of layers that have one of their own
    std::map<std::string, SourceMark, std::less<>> dataflow_marks;  ///< of `dataflows`, in the file
    LayerMappings layers;                                           ///< others are for the mapper to choose
    /// Activations that stay in the scratchpad; nothing: for the machine's rules to choose.
    std::optional<std::vector<std::string>> resident;
    SourceMark resident_where;
    /// Elementwise layers that join the matrix product before them; nothing: all that can.
    std::optional<std::vector<std::string>> fused;
    SourceMark fused_where;
    /// Runs of layers that are done part by part of the batch; nothing: for the machine's rules to choose.
    std::optional<std::vector<NamedSlices>> slices;
    /// Of a chip of several: that are at work, one or all; nothing: as many as take less time, or of a
    /// mapping by hand all.
    std::optional<std::int64_t> cores;
    SourceMark cores_where;
};

/// Throws UserError with every mistake: keys that are unknown or missing, layers that `graph` lacks or that
/// have no matrix products, tensors that are no activations, fusions of what is not elementwise,
/// slices of layers that `graph` lacks.
Mapping read_mapping(const config::YamlNode& document, const Graph& graph);

/// The layers of `graph`, which may be sliced, in order; read_mapping() reads it back. Layers of a repeated
/// block that `mapping` lacks are as in the nearest turn before theirs that has them.
std::string to_yaml(const Mapping& mapping, const Graph& graph, const std::string& device);

}  // namespace systole::systolic
