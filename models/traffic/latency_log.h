// SPDX-License-Identifier: Apache-2.0
// How long requests took, in whole clocks: an exact histogram, whose size depends on the longest latency and
// not on how many there were.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/units.h"

namespace systole {

class LatencyLog {
public:
    void add(Cycles latency) {
        const auto clocks = static_cast<std::size_t>(latency.value());
        if (clocks >= counts_.size()) counts_.resize(clocks + 1);
        ++counts_[clocks];
    }
    std::int64_t count() const;
    /// 0 if there was none, as those below.
    double average() const;
    Cycles max() const;
    /// The least latency that at least `percent` of all do not exceed (nearest rank).
    Cycles percentile(int percent) const;

private:
    std::vector<std::int64_t> counts_;  // by latency
};

}  // namespace systole
