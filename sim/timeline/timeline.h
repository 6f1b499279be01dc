// SPDX-License-Identifier: Apache-2.0
// What happened when in a run, as devices tell it: bars on tracks, values over time, what waited for what,
// and how busy each matrix unit was. Chrome traces and reports draw it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/account/classes.h"
#include "sim/base/units.h"

namespace systole {

/// One coloured bar.
struct Span {
    std::string track;  ///< "tpu_v4.mxu0"
    std::string name;   ///< "pass conv1"
    Ticks begin, end;
    std::int32_t layer = -1;
    /// Whose time it is, on tracks that account for all of theirs: where slots are known, the class of most.
    std::optional<SlotClass> owner = {};
    /// There, slot-ticks by class, where they are known: a unit that works has slots of several
    /// classes. All spans of such tracks together have those of the result.
    ClassSlots slots = {};
    std::int64_t merged = 1;  ///< spans of the run that it stands for
};

/// A value that changes over time.
struct CounterTrack {
    std::string track, name, unit;                  ///< "tpu_v4.dram", "bandwidth", "GB/s"
    std::vector<std::pair<Ticks, double>> samples;  ///< ascending; each holds until the next
};

/// One span waited for another.
struct Flow {
    std::size_t from, to;  ///< in Timeline::spans; `to` does not begin before `from` does
};

/// How the slots of one matrix unit, or of alike ones together, were used, in bins that split the run evenly.
struct UnitActivity {
    std::string track;
    std::int64_t units = 1;  ///< matrix units that are counted together
    std::vector<ClassSlots> bins;
};

struct Timeline {
    std::vector<Span> spans = {};
    std::vector<CounterTrack> counters = {};
    std::vector<Flow> flows = {};
    std::vector<UnitActivity> activity = {};
    std::vector<std::string> notes = {};  ///< what it does not show, and why: a sentence each
};

}  // namespace systole
