// SPDX-License-Identifier: Apache-2.0
// Which layers devices of this kind run.
#pragma once

#include <string>

#include "sim/workload/graph.h"

namespace systole::simt {

/// Throws UserError at the layer's mark: `what` is not run.
[[noreturn]] void refuse(const Layer& layer, const std::string& what);

/// Whether the layer is a product for tensor cores: matmul, conv2d but for depthwise ones. Others are for
/// kernels without them. Throws for layers that no kernel does.
bool on_tensor_cores(const Layer& layer);

}  // namespace systole::simt
