// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/mxu/stream_port.h"

#include "sim/base/check.h"

namespace systole {

void StreamPort::start(const Pass& pass) {
    SYSTOLE_CHECK(!busy_, "the port still streams the pass before");
    busy_ = true;
    next_ = 0;
    vectors_ = pass.vectors;
    rate_ = pass.cycles_per_vector;
    ahead_ = 0;
}

std::int64_t StreamPort::clock() {
    if (!busy_) return kNone;
    std::int64_t fed = kNone;
    if (next_ < vectors_ && ahead_ < rate_.den) {
        fed = next_++;
        ahead_ += rate_.num;
    }
    ahead_ -= rate_.den;
    busy_ = next_ < vectors_ || ahead_ > 0;
    return fed;
}

}  // namespace systole
