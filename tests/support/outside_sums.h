// SPDX-License-Identifier: Apache-2.0
// What a run must come to, told from outside: from shapes, from the keys of a device and from the figures of
// its result, with none of the program's own sums.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/account/run_result.h"
#include "sim/config/config.h"
#include "sim/workload/graph.h"

namespace systole::test {

/// Multiply-accumulates of a layer: its outputs by the depth of each; of attention, pairs counted one by one.
std::int64_t macs_by_shapes(const Graph& graph, const Layer& layer);
/// Bytes of all that is stored and read (weights, biases; no scales, and no tables, of which lookups may
/// need a part), of `inputs` with what comes from outside.
std::int64_t least_read(const Graph& graph, bool inputs);

/// A key's whole number; 0 where there is none.
std::int64_t count_of(const std::vector<config::Entry>& keys, const std::string& path);
/// MAC slots a cycle of all matrix units for numbers of this format: PEs or tensor cores. 0 where the keys do
/// not say it (products of fp32 on a GPU's lanes).
std::int64_t slots_by_keys(const std::vector<config::Entry>& keys, const std::string& dtype);
/// Bytes that the memory's buses move in `time` at most: two transfers a clock. Nothing (-1) for standards
/// with more, and for memories without buses.
double memory_room(const std::vector<config::Entry>& keys, Ticks time);

/// All bytes that moved from a place, to a place, or both.
std::int64_t out_of(const ResultRow& row, Place place);
std::int64_t into(const ResultRow& row, Place place);
std::int64_t between(const ResultRow& row, Place from, Place to);
/// Sum of the counters of this name whose path ends so.
std::int64_t counted(const DeviceResult& result, const std::string& path_end, const std::string& name);

}  // namespace systole::test
