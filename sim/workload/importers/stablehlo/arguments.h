// SPDX-License-Identifier: Apache-2.0
// Weights are arguments of a function as its inputs are. What is done with an argument tells them apart.
#pragma once

#include <vector>

#include "sim/workload/importers/stablehlo/mlir_module.h"

namespace systole {

/// For each argument of `main`, whether it comes from outside with each call. The first use decides: the
/// second operand of a product or convolution is stored, and so is the first one, if the second is computed;
/// of two arguments the first one is an input. Tables of lookups are stored, their indices are inputs. What
/// no such use decides is stored if it has fewer than two dimensions or is met again by elementwise work,
/// and an input otherwise. Views (reshape, transpose, slice, convert, broadcast) of an argument stand for it.
std::vector<bool> arguments_are_inputs(const MlirModule& module, const MlirFunction& main);

}  // namespace systole
