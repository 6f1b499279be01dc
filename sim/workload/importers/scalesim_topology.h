// SPDX-License-Identifier: Apache-2.0
// SCALE-Sim's topology files: a table of convolutions, or of matrix products (M, N, K), each row a layer by
// itself. The tool reads them with little care, and many that go round do not load in it: here every row is
// read, or refused with its line, and what had to be forgiven is told.
//
// https://github.com/scalesim-project/SCALE-Sim, scalesim/topology_utils.py, says what the columns mean.
#pragma once

#include <string>
#include <string_view>

#include "sim/workload/importers/imported.h"

namespace systole {

/// A trace of parameters `batch` (1) and `dtype` (bf16): layers that do not feed each other, each with an
/// input of its own, all outputs. Convolutions have no padding, and their outputs are rounded up, as the
/// tool's are. `file` names places; its stem names the trace. Throws UserError with every row that cannot be
/// read.
Imported import_scalesim_topology(std::string_view text, const std::string& file);

}  // namespace systole
