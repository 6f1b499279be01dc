// SPDX-License-Identifier: Apache-2.0
// Fewer spans than a run has, for pictures: neighbours on a track become one, the short ones first, and what
// they had in time and slots stays exact.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "sim/timeline/timeline.h"

namespace systole {

/// Ticks by owner.
using OwnerTimes = std::array<std::int64_t, kSlotClasses>;

struct MergedSpans {
    /// In the order of make_lanes(). Of one that stands for several (Span::merged): from the begin of the
    /// first to the end of the last; slots are their sum; the layer and owner are theirs if they agree, else
    /// -1 and that which had most time; the name is theirs if they agree, "conv1 (12 spans)" for what their
    /// names begin with, else "12 spans".
    std::vector<Span> spans;
    std::vector<OwnerTimes> times;  ///< by span: time of each owner among those it stands for
    std::vector<Flow> flows;        ///< between spans that are left, each pair once
};

/// Spans of `timeline` that are at most `most_spans`, and its flows: `most_flows` at most, those that end at
/// the longest spans first. Spans merge with neighbours in the lane that they are drawn in and within the
/// same outer span, when all of them together take no longer than a time that is as short as will do. Lanes
/// with spans that lie in others keep their nesting until nothing else is left to merge. Only where there are
/// more lanes than `most_spans`, a lane each remains. All spans are there if they are few enough.
MergedSpans merge_spans(const Timeline& timeline, std::size_t most_spans, std::size_t most_flows);

}  // namespace systole
