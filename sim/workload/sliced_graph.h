// SPDX-License-Identifier: Apache-2.0
// A network in which runs of layers are done for one part of the batch after the other, all layers of a run
// for the first images and then all of them for the next: what lies between the layers is then small enough
// to stay on chip (also called depth-first, or layer fusion by tiles).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/workload/graph.h"

namespace systole {

/// `layers` layers, from `first` on, that run for `count` equal parts of the batch.
struct SlicedRun {
    std::size_t first = 0, layers = 1;
    std::int64_t count = 1;
    friend bool operator==(const SlicedRun&, const SlicedRun&) = default;
};

/// The operator on one of `count` equal parts of its batch, which is the first dimension, of `batch` items,
/// of its inputs and output; nothing if items meet each other in it, or `count` does not divide `batch`.
std::optional<Operator> slice_of(const Operator& op, std::int64_t batch, std::int64_t count);

/// Items in the batch of a layer that can run part by part: the first dimension of its activations, of which
/// none is a cache, none is a single row, all have it, and rows of all are whole bytes. Nothing for other
/// layers.
std::optional<std::int64_t> batch_of(const Graph& graph, const Layer& layer);

/// Who of a run's tensors is read only inside it: such a tensor has a place of its own for each part. By
/// tensor, false for views and for all that no layer of the run writes.
std::vector<bool> inner_tensors(const Graph& graph, const SlicedRun& run);

/// The network with `runs`, in ascending order, whose layers have one batch_of() that their counts divide.
/// Parts of layers and tensors are named "conv1[2/8]" and know what they are a part of (BatchSlice). Blocks
/// that a run touches are repeated ones no longer.
Graph slice_batch(const Graph& graph, const std::vector<SlicedRun>& runs);

}  // namespace systole
