// SPDX-License-Identifier: Apache-2.0
// A short life of a small int8 array, with values: what the PE grid runs and what the Verilog array is fed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/devices/systolic/mxu/matrix.h"
#include "models/devices/systolic/mxu/matrix_engine.h"

namespace systole::test {

/// One pass and the tile it runs on; of a kept tile the values are those of the step before.
struct RtlStep {
    Pass pass;
    Tile tile;
    Cycles arrives;                  ///< the tile, if it is a new one; in the order of the steps
    Cycles ready;                    ///< the pass is not started before
    Matrix<std::int8_t> stationary;  ///< ws, is: r x c
    Matrix<std::int8_t> left;        ///< vectors x r
    Matrix<std::int8_t> top;         ///< os: vectors x c
};

struct RtlCase {
    std::string name;
    ArraySpec array;
    std::vector<RtlStep> steps;
};

/// Case `index` of `dataflow`: two to four passes on an array of R != C. Features take turns with the index,
/// so that any ten cases in a row have each of them: shadow register or none, result shift or none (os), a
/// port slower than one vector a cycle, kept tiles, ragged tiles, late tiles, accumulation that waits for a
/// latency.
RtlCase random_rtl_case(Dataflow dataflow, std::uint64_t seed, std::uint64_t index);

}  // namespace systole::test
