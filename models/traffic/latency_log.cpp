// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/latency_log.h"

#include <numeric>

namespace systole {

std::int64_t LatencyLog::count() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
}

double LatencyLog::average() const {
    const std::int64_t all = count();
    return all == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(all);
}

std::int64_t LatencyLog::longest_of(std::size_t bucket) {
    constexpr std::size_t kExact = std::size_t{1} << kExactBits, kEach = std::size_t{1} << kDigits;
    if (bucket < kExact) return static_cast<std::int64_t>(bucket);
    const std::size_t doubling = (bucket - kExact) / kEach, digits = kEach + (bucket - kExact) % kEach;
    return static_cast<std::int64_t>(((digits + 1) << (doubling + kExactBits - kDigits)) - 1);
}

Cycles LatencyLog::percentile(int percent) const {
    const Int128 rank = (static_cast<Int128>(count()) * percent + 99) / 100;
    Int128 below = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i)
        if ((below += counts_[i]) >= rank) return std::min(Cycles(longest_of(i)), max_);
    return max_;
}

}  // namespace systole
