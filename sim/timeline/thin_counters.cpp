// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/thin_counters.h"

#include <algorithm>
#include <utility>

namespace systole {
namespace {

using Samples = std::vector<std::pair<Ticks, double>>;

Samples halved(const Samples& samples, Ticks end) {
    const auto until = [&](std::size_t i) { return i < samples.size() ? samples[i].first : end; };
    Samples kept;
    for (std::size_t i = 0; i < samples.size(); i += 2) {
        const auto [begin, value] = samples[i];
        const Ticks middle = until(i + 1), last = std::max(middle, until(i + 2));
        const auto first_part = static_cast<double>((middle - begin).value());
        const auto second_part = static_cast<double>((last - middle).value());
        const bool alone = i + 1 == samples.size() || last == begin;
        const double mean =
            alone ? value
                  : (value * first_part + samples[i + 1].second * second_part) / (first_part + second_part);
        kept.emplace_back(begin, mean);
    }
    return kept;
}

}  // namespace

std::vector<CounterTrack> thin_counters(std::vector<CounterTrack> counters, std::size_t most, Ticks end) {
    while (true) {
        std::size_t all = 0, longest = 0;
        for (const CounterTrack& counter : counters) {
            all += counter.samples.size();
            longest = std::max(longest, counter.samples.size());
        }
        if (all <= most || longest <= 1) return counters;
        for (CounterTrack& counter : counters)
            if (counter.samples.size() * 2 > longest) counter.samples = halved(counter.samples, end);
    }
}

}  // namespace systole
