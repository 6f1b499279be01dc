// SPDX-License-Identifier: Apache-2.0
// What an operator's own numbers imply: whether they can be computed at all, and the shapes of the weights
// and bias that it stores. Shared by all readers, so that a convolution is checked in one place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/workload/graph.h"

namespace systole {

/// What is wrong with the operator, a sentence each: a kernel larger than its padded input, groups that do
/// not divide, groups of scales or patterns of sparse weights that do not divide K, pairs of an odd number,
/// more of the greatest than there are, more than 2^63 multiply-accumulates or elements under a pool's
/// windows. Expects dimensions of 1 … 2^31-1.
std::vector<std::string> find_faults(const Operator& op);

/// How its stored weights lie, and which scales it has: of products and convolutions, and of layers that only
/// scale; of others, plain numbers.
WeightFormat format_of(const Operator& op);

/// The stored weights, if the operator has any.
std::optional<Shape> weights_shape(const Operator& op);
/// The stored scales of weights that lie apart from them, if the operator has any.
std::optional<Shape> scales_shape(const Operator& op);
/// The stored bias, if the operator has one.
std::optional<Shape> bias_shape(const Operator& op);

/// Whether a tensor of this shape stays far enough below 2^63 bytes (at most 2^56 elements).
bool is_storable(const Shape& shape);

}  // namespace systole
