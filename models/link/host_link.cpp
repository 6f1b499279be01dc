// SPDX-License-Identifier: Apache-2.0
#include "models/link/host_link.h"

#include "sim/base/check.h"

namespace systole {

Ticks LinkTiming::send(Ticks now, Bytes bytes) {
    if (now >= free_) {
        busy_since_ = now;
        in_period_ = Bytes(0);
    }
    in_period_ += bytes;
    sent_ += bytes;
    // Time since the start of the busy period, from the exact byte count: no rounding error adds up.
    const Int128 rate = spec_.bandwidth.value();
    const Int128 ticks = (Int128{in_period_.value()} * kTicksPerSecond + rate - 1) / rate;
    free_ = busy_since_ + Ticks(static_cast<std::int64_t>(ticks));
    return free_ + spec_.latency;
}

}  // namespace systole
