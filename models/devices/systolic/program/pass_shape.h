// SPDX-License-Identifier: Apache-2.0
// How a pass of m x k x n lies on an array: the one place that knows which extent runs along rows, along
// columns and in time (mxu/dataflow.h has the table). A PE that does `rate` MACs a cycle takes that many
// elements of K at once, and more where only the weights that are kept take part.
#pragma once

#include "models/devices/systolic/program/program.h"
#include "sim/base/mac_rate.h"

namespace systole::systolic {

struct PassShape {
    std::int64_t vectors = 1;           ///< T
    std::int64_t rows = 1, cols = 1;    ///< of the tile: PEs that hold real data
    std::int64_t accumulator_rows = 1;  ///< written, each `cols` wide

    friend bool operator==(const PassShape&, const PassShape&) = default;
};

/// Of one fold.
PassShape shape_of(Dataflow dataflow, const MacRate& rate, const MatrixPass& pass);

/// Cycles that the weights of a fold take to be unpacked on their way into the array, `per_cycle` at a time.
Cycles unpacking_cycles(std::int64_t per_cycle, const MatrixPass& pass);

/// What the two operands of a fold are to the array: `left` streams in, `top` is shifted in or streams in.
struct EdgeOperands {
    Operand left, top;
};
EdgeOperands operands_of(Dataflow dataflow, const MatrixPass& pass);

}  // namespace systole::systolic
