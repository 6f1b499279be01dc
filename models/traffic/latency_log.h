// SPDX-License-Identifier: Apache-2.0
// How long requests took, in whole clocks: a histogram, exact up to a million clocks (2^20) and to a
// thousandth beyond, which no DRAM reaches; its size depends neither on how many there were nor on how long
// they took.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/units.h"

namespace systole {

class LatencyLog {
public:
    void add(Cycles latency) {
        const std::size_t bucket = bucket_of(latency.value());
        if (bucket >= counts_.size()) counts_.resize(bucket + 1);
        ++counts_[bucket];
        sum_ += latency.value();
        max_ = std::max(max_, latency);
    }
    std::int64_t count() const;
    /// 0 if there was none, as those below.
    double average() const;
    Cycles max() const { return max_; }
    /// The least latency that at least `percent` of all do not exceed (nearest rank).
    Cycles percentile(int percent) const;

private:
    static constexpr int kExactBits = 20, kDigits = 10;

    /// A latency below 2^20 is its own bucket; every doubling from there on has 2^10.
    static std::size_t bucket_of(std::int64_t latency) {
        const auto clocks = static_cast<std::size_t>(latency);
        const int bits = std::bit_width(clocks);
        if (bits <= kExactBits) return clocks;
        const int doubling = bits - kExactBits - 1;
        const std::size_t digits = clocks >> (doubling + kExactBits - kDigits);  // from 2^10 on, below 2^11
        return (std::size_t{1} << kExactBits) + (static_cast<std::size_t>(doubling) << kDigits) + digits -
               (std::size_t{1} << kDigits);
    }
    /// The longest latency of a bucket.
    static std::int64_t longest_of(std::size_t bucket);

    std::vector<std::int64_t> counts_;  // by bucket
    Int128 sum_ = 0;
    Cycles max_;
};

}  // namespace systole
