// SPDX-License-Identifier: Apache-2.0
// A network becomes a step of its training: the way there, the loss, the way back, the sums of gradients over
// the chips with the same weights, and what the optimizer makes of them.
#pragma once

#include "sim/workload/graph.h"

namespace systole {

/// `forward` as a trace's reader made it. Throws UserError with a line for each layer that has no gradient
/// here, and for what cannot be trained otherwise: several outputs, an output of integers, no weights.
Graph training_step(Graph forward, const Training& how);

}  // namespace systole
