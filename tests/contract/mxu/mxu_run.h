// SPDX-License-Identifier: Apache-2.0
// Runs a case on both engines as a sequencer would (event by event, asking before it starts a pass), and
// compares what they say with each other and with plain matrix products.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/devices/systolic/mxu/matrix_engine.h"
#include "tests/contract/mxu/mxu_case.h"

namespace systole::test {

/// What an observer of the unit saw.
struct Outcome {
    std::vector<PassReport> passes;
    std::vector<Cycles> tiles_in;  ///< when each tile was seen to be shifted in
    Cycles end;
};

/// How a step's tile and pass are handed to the engine (the grid takes values too).
struct Hands {
    std::function<void(std::size_t step)> give_tile;
    std::function<void(std::size_t step)> start_pass;
};

/// Lets `engine` live `mxu_case`; an outcome with too few passes means that it got stuck.
Outcome live(MatrixEngine& engine, const MxuCase& mxu_case, const Hands& hands);

/// Nothing if both engines and the reference agree on `mxu_case`; else what differs.
std::optional<std::string> disagreement(const MxuCase& mxu_case);

}  // namespace systole::test
