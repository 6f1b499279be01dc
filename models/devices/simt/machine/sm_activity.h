// SPDX-License-Identifier: Apache-2.0
// How the slots of SMs were used over a run, in bins of time, GPC by GPC: whole slot-ticks of a layer's
// account, shared out over time and SMs as histories tell, so that bins sum to the account.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/devices/simt/spec/spec.h"
#include "sim/account/classes.h"
#include "sim/base/units.h"
#include "sim/timeline/timeline.h"

namespace systole::simt {

class SmActivity {
public:
    /// Of a run that takes until `end`; `track`: of all SMs.
    SmActivity(const SimtSpec& spec, const std::string& track, Ticks end);

    /// Time in which SMs have slots of a class, evenly.
    struct Stretch {
        Ticks begin, end;
        std::int64_t first_sm = 0, sms = 1;  ///< numbers as GroupHistory has them
        Int128 weight = 0;                   ///< of all of these SMs; at least 0
    };
    /// Shares `slots` of a class out over `stretches`, by their weights, which are 0 only where `slots` is.
    /// `cluster`: CTAs of a cluster of the kernel, by which SMs have numbers.
    void add(SlotClass owner, std::int64_t slots, const std::vector<Stretch>& stretches,
             std::int64_t cluster = 1);

    std::vector<UnitActivity> take() { return std::move(rows_); }

private:
    /// A row's SMs among numbers that go GPC by GPC.
    struct Part {
        std::size_t row;
        std::int64_t first, sms;
    };
    std::vector<Part> parts_of(std::int64_t cluster) const;
    std::size_t bin_of(Ticks time) const;
    void spread(const Stretch& stretch, const std::vector<Part>& parts, std::size_t first_bin,
                std::size_t bins);

    std::vector<Ticks> ends_;  // of bins
    std::vector<UnitActivity> rows_;
    std::vector<Int128> weights_;  // scratch: by row and bin
};

}  // namespace systole::simt
