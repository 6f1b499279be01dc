// SPDX-License-Identifier: Apache-2.0
// Which layers devices of this kind run.
#pragma once

#include <string>

#include "sim/workload/graph.h"

namespace systole::simt {

/// Throws UserError at the layer's mark.
[[noreturn]] void refuse(const Layer& layer, const std::string& why);
/// The same: no device of this kind runs `what`; `instead`: what can be done, if anything.
[[noreturn]] void refuse_kind(const Layer& layer, const std::string& what, const std::string& instead = "");

/// The layer's attention, or the product of it that the layer is; null where it is none. Throws for what no
/// kernel does.
const Attention* attention_of(const Layer& layer);

/// Whether the layer is for tensor cores: attention, matmul, conv2d but for depthwise ones. Others are for
/// kernels without them. Throws for layers that no kernel does.
bool on_tensor_cores(const Layer& layer);

}  // namespace systole::simt
