// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/binned_counter.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole {

void BinnedCounter::widen(Ticks end) {
    while (end > width_ * static_cast<std::int64_t>(kBins)) {
        for (std::size_t i = 0; i < bins_.size(); ++i) {
            const Int128 amount = bins_[i];
            bins_[i] = 0;
            bins_[i / 2] += amount;
        }
        bins_.resize((bins_.size() + 1) / 2);
        width_ = width_ * 2;
    }
}

// Cumulated, so that rounding loses nothing.
void BinnedCounter::add(Ticks begin, Ticks end, Int128 amount) {
    SYSTOLE_CHECK(Ticks() <= begin && begin <= end, "an amount from {} ps to {} ps", begin.value(),
                  end.value());
    widen(std::max(end, begin + Ticks(1)));
    total_ += amount;
    const std::int64_t length = (end - begin).value();
    Int128 given = 0;
    for (std::size_t bin = bin_of(begin);; ++bin) {
        const Ticks edge = width_ * static_cast<std::int64_t>(bin + 1);
        if (bin >= bins_.size()) bins_.resize(bin + 1);
        const Int128 sum = end <= edge ? amount : amount * (edge - begin).value() / length;
        bins_[bin] += sum - given;
        given = sum;
        if (end <= edge) return;
    }
}

void BinnedCounter::spill_back(std::int64_t most, Ticks end) {
    for (std::size_t bin = bins_.size(); bin-- > 1;) {
        const Ticks begin = width_ * static_cast<std::int64_t>(bin);
        const Ticks length = std::clamp(end - begin, Ticks(), width_);
        const Int128 room = Int128{most} * length.value() / kTicksPerSecond;
        const Int128 more = std::max(bins_[bin] - room, Int128{0});
        bins_[bin] -= more;
        bins_[bin - 1] += more;
    }
}

CounterTrack BinnedCounter::rate(const std::string& track, const std::string& name, const std::string& unit,
                                 double scale, Ticks end) const {
    CounterTrack counter{track, name, unit, {}};
    const auto add = [&](Ticks time, double value) {
        if (counter.samples.empty() || counter.samples.back().second != value)
            counter.samples.emplace_back(time, value);
    };
    for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
        const Ticks begin = width_ * static_cast<std::int64_t>(bin);
        if (begin >= end) break;
        const Ticks length = std::min(width_, end - begin);
        add(begin, static_cast<double>(bins_[bin]) / static_cast<double>(length.value()) * scale);
    }
    const Ticks after = width_ * static_cast<std::int64_t>(bins_.size());
    if (counter.samples.empty()) add(Ticks(), 0);
    add(std::min(after, end), 0);
    return counter;
}

}  // namespace systole
