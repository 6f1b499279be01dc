// SPDX-License-Identifier: Apache-2.0
// A program without most of the steps that it repeats, as sim/workload/shorter_graph.h does it to networks.
#pragma once

#include <cstddef>
#include <vector>

#include "models/devices/systolic/program/program.h"
#include "models/devices/systolic/program/repeated_steps.h"

namespace systole::systolic {

/// A program in parts: of each layer what lies before the first of its blocks, each of their steps, and what
/// lies behind each block.
struct Parts {
    std::vector<std::size_t> layers;          ///< by part: the layer that it belongs to
    std::vector<std::size_t> first_of_layer;  ///< by layer: its first part
    std::vector<std::size_t> first_of_block;  ///< by block: that of its first step
};
Parts parts_of(const Program& program, const std::vector<RepeatedSteps>& blocks);

/// `program` with those parts for layers, and so many steps of each block left (`turns`), the first ones and
/// the last kLastTurns. What a command waited for that is left out, is what stands in its place in the steps
/// before. Parts have their layer's name and operator; its compulsory bytes are the first part's.
Program shorten(const Program& program, const std::vector<RepeatedSteps>& blocks,
                const std::vector<std::size_t>& turns);

/// Whether both begin with the same `commands` commands, which do the same work for the same layer and wait
/// for the same. Not where commands of later layers come before a block of which the two have other turns:
/// these layers have other numbers.
bool same_until(const Program& a, const Program& b, std::size_t commands);

}  // namespace systole::systolic
