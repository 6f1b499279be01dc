// SPDX-License-Identifier: Apache-2.0
// How a CTA of an attention kernel goes on an SM, found by running its warps there.
#pragma once

#include <optional>

#include "models/devices/simt/kernels/attention_program.h"
#include "models/devices/simt/kernels/cta_timing.h"

namespace systole::simt {

struct AttentionTiming {
    CtaTiming cta;
    /// A step with a mask takes so much longer, alone.
    double masked = 0;
};

/// With data that are there at once: one CTA alone, and as many as an SM holds. `stored`: share of the tile's
/// rows that are queries; `blocks`: of the keys, of which only kernels on FP32 pipes want to know. Nothing if
/// none fits. The tensor cores must take `formats.in`.
std::optional<AttentionTiming> time_attention(const AttentionTile& tile, const AttentionFormats& formats,
                                              double stored, std::int64_t blocks, const SmSpec& sm);

}  // namespace systole::simt
