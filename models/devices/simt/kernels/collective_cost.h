// SPDX-License-Identifier: Apache-2.0
// How long a collective takes on an idle chip, and how the library does it. NCCL chooses algorithm and
// protocol by a model of its own (src/graph/tuning.cc): a latency, that of a collective without data and of
// its steps, and the message over a bandwidth. That choice is taken here, and so is that time; where
// bandwidths were measured, it is corrected by what they differ.
#pragma once

#include <vector>

#include "models/devices/simt/kernels/collective_kernel.h"

namespace systole::simt {

struct CollectiveTime {
    CollectiveKernel kernel;
    Ticks launch;   ///< of a collective without data
    Ticks latency;  ///< until the last step's first byte could be there: launch and steps
    Ticks total;
    Ticks by_library;               ///< the total that the library expects: without anything measured
    std::int64_t corrected_by = 0;  ///< so many chips, of which bandwidths were measured; 0: none were

    BytesPerSecond bus() const;
};

/// What the library weighs for a collective, the one that it takes first.
std::vector<CollectiveTime> weigh_collective(const CollectivesSpec& spec, Collective::Kind kind,
                                             std::int64_t chips, Bytes message);

/// The one that it takes, with the time that was measured. Between two measured sizes the share by which the
/// library errs goes evenly with the logarithm of the size; beyond them it stays. Of a number of chips that
/// was not measured it is that of the nearest: of four A100, and four H200, that of eight is 11 and 22 % from
/// what was measured at twelve sizes, where the library by itself is 30 and 6 %; of RCCL, whose constants are
/// taken from NCCL, it is up to 3.3 times.
CollectiveTime time_collective(const CollectivesSpec& spec, Collective::Kind kind, std::int64_t chips,
                               Bytes message);

}  // namespace systole::simt
