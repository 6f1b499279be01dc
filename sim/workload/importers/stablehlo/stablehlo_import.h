// SPDX-License-Identifier: Apache-2.0
// Networks as StableHLO in MLIR's text form, as JAX (jax.jit(f).lower(..).as_text()) and torch-xla print
// them. https://openxla.org/stablehlo/spec says what operations mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/importers/imported.h"

namespace systole {

/// The trace of @main (or of the only function), with a parameter `dtype` (bf16) for all floating-point
/// tensors, and a note for every operation that it does not have. `inputs`: the arguments that are inputs
/// ("%arg3" or "arg3"), all others being stored weights; none: by what is done with them, which is told.
/// Throws UserError for what is no module, for shapes that are not known, and where nothing could be mapped.
Imported import_stablehlo(std::string_view text, const std::string& file,
                          const std::vector<std::string>& inputs = {});

}  // namespace systole
