// SPDX-License-Identifier: Apache-2.0
// What the edges of a pass may read: vectors that fit its extents, and no more than ports can be scheduled
// for in sensible time and memory. Names the ports and the manner of reading for whoever does schedule them.
#pragma once

#include <optional>
#include <string>

#include "models/devices/systolic/program/program.h"
#include "models/memory/scratchpad/scratchpad_spec.h"

namespace systole::systolic {

enum class Edge { Left, Top };

/// The port behind an edge: the banks for the left one, for the upper one a port of its own.
BankedPort port_of(Edge edge, const ScratchpadSpec& scratchpad);

/// Whether the left edge reads vector by vector, each with its own conflicts: one for each that streams, all
/// of the pattern. Every other read goes line by line into a buffer.
bool reads_by_vector(Dataflow dataflow, const EdgeRead& left, std::int64_t vectors,
                     const AddressStream& pattern);

/// What is wrong with an edge of `pass` that reads `pattern`, in words for the user, or nothing.
std::optional<std::string> edge_mistake(Dataflow dataflow, const ScratchpadSpec& scratchpad,
                                        const MatrixPass& pass, Edge edge, const AddressStream& pattern);

/// What is wrong with a pattern that the vector unit reads or writes all of, or nothing.
std::optional<std::string> pattern_mistake(const ScratchpadSpec& scratchpad, const AddressStream& pattern);

}  // namespace systole::systolic
