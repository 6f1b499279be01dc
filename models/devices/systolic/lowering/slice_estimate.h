// SPDX-License-Identifier: Apache-2.0
// What it costs to run layers part by part of the batch, by estimate (batch_slices.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/devices/systolic/spec/spec.h"
#include "sim/device/device.h"
#include "sim/workload/graph.h"
#include "sim/workload/sliced_graph.h"

namespace systole::systolic {

/// What a layer costs however its run is cut, in cycles of the core clock and bytes. Keeps references.
class SliceEstimate {
public:
    SliceEstimate(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol);

    /// Items that the layer does one by one; nothing if it knows more than one at once.
    std::optional<std::int64_t> batch(std::size_t layer) const { return batches_[layer]; }
    bool has_batches() const;
    /// The tensor itself, or the one that it is a view of.
    TensorId root(TensorId tensor) const { return graph_.tensors[tensor].view_of.value_or(tensor); }
    std::int64_t bytes(TensorId tensor) const { return stored_bytes(graph_.tensors[tensor]).value(); }
    /// The layer that is the last to read a root; behind the last layer for outputs.
    std::size_t last_read(TensorId tensor) const { return last_read_[tensor]; }
    double bus_cycles(double bytes) const { return bytes / bytes_per_cycle_; }
    /// That a tensor takes to come from the host; 0 if it does not.
    double host_cycles(TensorId tensor) const;
    std::int64_t weight_bytes(const Layer& layer) const;
    /// Of a layer that is done in `count` parts, all of them, on every core. Between layers that wait for
    /// each other arrays fill and drain.
    double unit_cycles(const Layer& layer, std::int64_t count) const;

private:
    /// Lane-cycles of a layer on the vector unit: of a matrix product, those of its drains.
    std::int64_t lane_work(const Layer& layer) const;

    const Graph& graph_;
    const SystolicSpec& spec_;
    bool inputs_from_host_;
    double bytes_per_cycle_ = 1, host_bytes_per_cycle_ = 1;
    std::vector<std::optional<std::int64_t>> batches_;
    std::vector<std::size_t> last_read_;  // by root tensor
};

/// A run that grows layer by layer, for one number of parts.
class GrowingRun {
public:
    GrowingRun(const Graph& graph, const SystolicSpec& spec, const SliceEstimate& estimate, std::size_t first,
               std::int64_t count)
        : graph_(graph), spec_(spec), estimate_(estimate), run_{first, 0, count} {}

    void add_layer();
    /// Whether what lives at once between its layers fits into the scratchpad.
    bool fits() const;
    /// Estimate, with all inner tensors on chip. Memory is busy beside the units in each layer, but hardly
    /// ahead of it; the host sends while all layers of the run go on.
    double cycles() const;
    const SlicedRun& run() const { return run_; }

private:
    /// Of a layer: work of its units, traffic that certainly is, and which layers of the run it reads from.
    struct Work {
        double units = 0, bytes = 0;
        std::vector<std::size_t> reads = {};
    };
    bool inner(TensorId tensor) const { return estimate_.last_read(tensor) < run_.first + run_.layers; }

    const Graph& graph_;
    const SystolicSpec& spec_;
    const SliceEstimate& estimate_;
    SlicedRun run_;
    std::vector<TensorId> born_;  // by layer of the run
    std::vector<Work> work_;      // the same
    double host_ = 0;             // cycles for inputs
};

}  // namespace systole::systolic
