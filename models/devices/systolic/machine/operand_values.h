// SPDX-License-Identifier: Apache-2.0
// Operand values for runs on the PE grid: small integers, a fixed function of where an element lies in its
// operator, so that every drained sum can be compared with the dot product it must be. Integers of this size
// are exact in every number format, so the comparison needs no tolerance. It holds a whole run to account:
// engine, tiling, order of passes, accumulator rows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "models/devices/systolic/mxu/grid_engine.h"
#include "models/devices/systolic/program/program.h"

namespace systole::systolic {

/// The operands of one layer's matrix product, as a function of position. -4 … 3.
std::int8_t activation_value(std::int32_t layer, std::int64_t batch, std::int64_t m, std::int64_t k);
std::int8_t weight_value(std::int32_t layer, std::int64_t batch, std::int64_t k, std::int64_t n);

/// What a fold of a pass shifts into the array (tile rows x columns; os: nothing) and what streams in at its
/// edges (vectors x rows; os also: vectors x columns).
struct PassValues {
    Matrix<std::int8_t> tile, left, top;
};
PassValues values_of(Dataflow dataflow, std::int32_t layer, const MatrixPass& pass, std::int32_t fold = 0);

/// Knows how deep every product of a program is, and compares.
class DrainCheck {
public:
    explicit DrainCheck(const Program& program);
    /// What is wrong with the accumulators that `drain` is about to read, if they are not the products they
    /// should be.
    std::optional<std::string> fault(const Command& drain, const GridEngine& grid) const;

private:
    const Program& program_;
    std::map<std::pair<std::int32_t, std::int64_t>, std::int64_t> depth_;  // K by layer and batch item
};

}  // namespace systole::systolic
