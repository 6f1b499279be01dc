// SPDX-License-Identifier: Apache-2.0
// The warp program of a CTA of an attention kernel that multiplies with wgmma.
#pragma once

#include "models/devices/simt/kernels/attention_program.h"

namespace systole::simt {

/// Of such tiles one behind the other; a tile has 64 rows for each group of four warps.
CtaProgram group_attention_program(const AttentionTile& tile, const AttentionFormats& formats,
                                   const std::vector<AttentionWork>& tiles);

/// What an SM's port carries for so many bytes of results: they leave eight columns at a time of each row, by
/// whole sectors.
std::int64_t passing_port(std::int64_t bytes, DType out);

}  // namespace systole::simt
