// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/latency_log.h"

#include <numeric>

namespace systole {

std::int64_t LatencyLog::count() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
}

double LatencyLog::average() const {
    Int128 sum = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) sum += static_cast<Int128>(i) * counts_[i];
    const std::int64_t all = count();
    return all == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(all);
}

Cycles LatencyLog::max() const {
    return Cycles(counts_.empty() ? 0 : static_cast<std::int64_t>(counts_.size()) - 1);
}

Cycles LatencyLog::percentile(int percent) const {
    const Int128 rank = (static_cast<Int128>(count()) * percent + 99) / 100;
    Int128 below = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i)
        if ((below += counts_[i]) >= rank) return Cycles(static_cast<std::int64_t>(i));
    return max();
}

}  // namespace systole
