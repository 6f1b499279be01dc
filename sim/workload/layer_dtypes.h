// SPDX-License-Identifier: Apache-2.0
// The dtypes of one layer: what `dtype`, `weight_dtype` and `out_dtype` say, and what holds without them.
#pragma once

#include <string_view>

#include "sim/workload/dtype.h"
#include "sim/workload/graph.h"
#include "sim/workload/keys.h"

namespace systole {

struct LayerDtypes {
    DType weights = DType::Bf16, output = DType::Bf16;
};

/// `input`: the first tensor the layer reads, or null if a mistake hides it. A `dtype` other than the input's
/// is a mistake, except for an embedding, whose input holds indices and whose `dtype` is the table's.
LayerDtypes read_dtypes(Keys& keys, std::string_view op, const Tensor* input);

}  // namespace systole
