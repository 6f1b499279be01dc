// SPDX-License-Identifier: Apache-2.0
// Matrix products of any dimensions. A stored operand lies as the array wants it: whatever is transposed or
// reshaped of it costs nothing.
#pragma once

#include <string>

#include "sim/workload/importers/network/network.h"

namespace systole {

/// Which dimensions of the operands meet: `batch` those that both have, `over` those that are summed over,
/// pairwise of one extent; all others make the result.
struct Contraction {
    Order batch_a, batch_b, over_a, over_b;
};

/// out[batch .., rest of a .., rest of b ..].
Value contract(Network& network, const std::string& name, Value a, Value b, const Contraction& dims);
/// [.., m, k] by [.., k, n] with dimensions in front met again where they are 1; a vector is a row in front,
/// a column behind.
Value matmul(Network& network, const std::string& name, Value a, Value b);

}  // namespace systole
