// SPDX-License-Identifier: Apache-2.0
// Functions whose slope needs what went into them leave the layers that they belong to: these then write it.
#pragma once

#include "sim/workload/training/gradient_path.h"
#include "sim/workload/training/names.h"

namespace systole {

/// `graph` with a layer "NAME.activation" behind each layer NAME that has gradients and such a function. Who
/// read NAME reads what that makes.
Graph split_activations(Graph graph, const GradientPath& path, Names& names);

}  // namespace systole
