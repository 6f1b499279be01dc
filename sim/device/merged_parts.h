// SPDX-License-Identifier: Apache-2.0
// One row for each layer of a network of which some layers ran part by part (sim/workload/sliced_graph.h).
#pragma once

#include <vector>

#include "sim/account/run_result.h"
#include "sim/timeline/timeline.h"
#include "sim/workload/graph.h"

namespace systole {

/// Adds counts to those of the same names.
void add_counts(std::vector<OperationCount>& sum, const std::vector<OperationCount>& operations);

/// Replaces the rows of a layer's parts by one: `layers` says which layer each is a part of, numbered by
/// their first rows. Times, slots, work and bytes are sums, its `begin` and `end` so that rows still follow
/// each other, its bound that of most of its time; all else is its first part's.
void merge_rows(DeviceResult& result, const std::vector<std::size_t>& layers);

/// Replaces the rows of a layer's parts by one, in the order of the network: times, slots, work and bytes are
/// sums, its `begin` and `end` so that rows still follow each other, its bound that of most of its time.
/// `sliced` is the network that ran, a row for each of its layers. Spans are given their layer's new number.
void merge_parts(const Graph& sliced, DeviceResult& result, Timeline& timeline);

}  // namespace systole
