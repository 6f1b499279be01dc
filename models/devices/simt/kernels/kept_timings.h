// SPDX-License-Identifier: Apache-2.0
// How CTAs of kernels go that were timed already, kept from plan to plan: all but products'. Not for several
// threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "models/devices/simt/kernels/attention_program.h"
#include "models/devices/simt/kernels/cta_timing.h"
#include "models/devices/simt/kernels/time_attention.h"
#include "models/devices/simt/kernels/vector_kernel.h"

namespace systole::simt {

struct KeptTimings {
    struct Vector {
        VectorKernel kernel;              ///< as it was found to go
        std::optional<CtaTiming> timing;  ///< nothing: it fits no SM
    };
    std::map<VectorKernel, Vector> vectors;  ///< by what counts of a CTA
    /// By tile, formats, what share of the results is stored, and blocks of a part; nothing: it fits no SM.
    std::map<std::tuple<AttentionTile, AttentionFormats, double, std::int64_t>,
             std::optional<AttentionTiming>>
        attentions;
};

}  // namespace systole::simt
