// SPDX-License-Identifier: Apache-2.0
// Random operands for a case, and what the accumulators must hold after it: plain matrix products in the
// order that the dataflow states, written without the arithmetic under test.
#pragma once

#include <vector>

#include "models/devices/systolic/mxu/matrix.h"
#include "tests/contract/mxu/mxu_case.h"

namespace systole::test {

template <class Operand, class Sum>
struct CaseValues {
    /// Per step: what its tile is shifted in with (of a kept tile: that of the step before; os: nothing),
    /// what streams in from the left, and (os) from above.
    std::vector<Matrix<Operand>> tile, left, top;
    std::vector<Sum> accumulators;  ///< row-major, accumulator_rows x cols
};

/// <std::int8_t, std::int32_t> or <float, float>.
template <class Operand, class Sum>
CaseValues<Operand, Sum> values_of(const MxuCase& mxu_case);

}  // namespace systole::test
