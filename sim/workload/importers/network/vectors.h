// SPDX-License-Identifier: Apache-2.0
// Layers that no array works on: element by element, along rows, and over windows' worth of rows. Dimensions
// are those of values; stored operands adapt to how the others are held.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/importers/network/network.h"

namespace systole {

/// `a kind b` with the broadcasting that all frameworks share: shapes aligned at their ends, extents of 1 met
/// again. `kind` as in a trace. Where only b has the whole shape the operands change places, for it is the
/// work that counts. Of two stored values a stored one.
Value elementwise(Network& network, const std::string& name, std::string_view kind, Value a, Value b);
/// `value` where `condition` says so, and a number elsewhere. In the dtype of `value`.
Value select(Network& network, const std::string& name, Value value, Value condition);
/// `function` as in a trace.
Value apply(Network& network, const std::string& name, std::string_view function, Value x);
/// Conversion. Between floating-point numbers it is none; others are quantized or dequantized.
Value convert(Network& network, const std::string& name, Value x, DType to);
/// By scales: one, or one for each index of `axis`.
Value scale(Network& network, const std::string& name, Value x, DType to, std::optional<std::size_t> axis);

/// Over all of `dims` together.
Value softmax(Network& network, const std::string& name, Value x, const Order& dims);
/// `kind` layer or rms, over all of `dims` together.
Value normalize(Network& network, const std::string& name, std::string_view kind, Value x, const Order& dims);
/// By running statistics: a stored factor and a shift for each index of `channel`, which may join the weights
/// before them.
Value batch_norm(Network& network, const std::string& name, Value x, std::size_t channel);
/// `kind` as of a trace's `reduce`, over all of `dims` together; these become 1, or are dropped.
Value reduce(Network& network, const std::string& name, std::string_view kind, Value x, const Order& dims,
             bool keep);

}  // namespace systole
