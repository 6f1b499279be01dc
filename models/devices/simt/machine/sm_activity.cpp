// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/sm_activity.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/timeline/activity.h"

namespace systole::simt {

SmActivity::SmActivity(const SimtSpec& spec, const std::string& track, Ticks end) : ends_(even_bins(end)) {
    const auto add = [&](const std::string& name, std::int64_t sms) {
        rows_.push_back({name, sms, std::vector<ClassSlots>(ends_.size(), ClassSlots{})});
    };
    const std::vector<int>& gpcs = spec.sm.gpcs;
    for (std::size_t i = 0; gpcs.size() > 1 && i < gpcs.size(); ++i)
        add(fmt::format("{}.gpc{}", track, i), gpcs[i]);
    for (int die = 0; gpcs.size() <= 1 && spec.chiplets.count > 1 && die < spec.chiplets.count; ++die)
        add(fmt::format("{}.die{}", track, die), spec.sm.count / spec.chiplets.count);
    if (rows_.empty()) add(track, spec.sm.count);
}

// Whole clusters of every GPC first, then what is left of each.
std::vector<SmActivity::Part> SmActivity::parts_of(std::int64_t cluster) const {
    std::vector<Part> parts;
    std::int64_t first = 0;
    const auto add = [&](std::size_t row, std::int64_t sms) {
        if (sms > 0) parts.push_back({row, first, sms});
        first += sms;
    };
    for (std::size_t row = 0; row < rows_.size(); ++row) add(row, rows_[row].units / cluster * cluster);
    for (std::size_t row = 0; row < rows_.size(); ++row) add(row, rows_[row].units % cluster);
    return parts;
}

std::size_t SmActivity::bin_of(Ticks time) const {
    const auto after = std::upper_bound(ends_.begin(), ends_.end(), time);
    const auto bin = static_cast<std::size_t>(after - ends_.begin());
    return std::min(bin, ends_.size() - 1);
}

// Cumulated over SMs and time, so that nothing is lost where shares are rounded.
void SmActivity::spread(const Stretch& stretch, const std::vector<Part>& parts, std::size_t first_bin,
                        std::size_t bins) {
    const std::int64_t length = std::max<std::int64_t>(1, (stretch.end - stretch.begin).value());
    const Int128 all = Int128{stretch.sms} * length;
    Int128 sms_before = 0, given = 0;
    for (const Part& part : parts) {
        const std::int64_t first = std::max(part.first, stretch.first_sm);
        const std::int64_t end = std::min(part.first + part.sms, stretch.first_sm + stretch.sms);
        if (first >= end) continue;
        for (std::size_t bin = bin_of(stretch.begin);; ++bin) {
            const bool last = bin + 1 == ends_.size() || stretch.end <= ends_[bin];
            const std::int64_t until = last ? length : (ends_[bin] - stretch.begin).value();
            const Int128 sum = stretch.weight * (sms_before * length + Int128{end - first} * until) / all;
            weights_[part.row * bins + bin - first_bin] += sum - given;
            given = sum;
            if (last) break;
        }
        sms_before += end - first;
    }
}

void SmActivity::add(SlotClass owner, std::int64_t slots, const std::vector<Stretch>& stretches,
                     std::int64_t cluster) {
    if (slots == 0) return;
    Ticks begin = Ticks::max(), end;
    for (const Stretch& stretch : stretches) {
        begin = std::min(begin, stretch.begin);
        end = std::max(end, stretch.end);
    }
    const std::size_t first_bin = bin_of(begin), bins = bin_of(end) - first_bin + 1;
    weights_.assign(rows_.size() * bins, 0);
    const std::vector<Part> parts = parts_of(cluster);
    for (const Stretch& stretch : stretches)
        if (stretch.weight > 0) spread(stretch, parts, first_bin, bins);
    const std::vector<std::int64_t> shares = shares_of(slots, weights_);
    for (std::size_t i = 0; i < shares.size(); ++i)
        rows_[i / bins].bins[first_bin + i % bins][static_cast<std::size_t>(owner)] += shares[i];
}

}  // namespace systole::simt
