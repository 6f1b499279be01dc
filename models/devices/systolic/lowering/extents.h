// SPDX-License-Identifier: Apache-2.0
// Matrix operators as products of matrices: what estimates that come before any mapping know of them.
#pragma once

#include <cstdint>

#include "sim/workload/operators.h"

namespace systole::systolic {

/// m x k x n of an operator, `items` times.
struct Extents {
    std::int64_t items = 1, m = 0, k = 0, n = 0;
};

/// Those of a matmul or a convolution with dense groups; all 0 (but one item) for others.
Extents extents_of(const Operator& op);

}  // namespace systole::systolic
