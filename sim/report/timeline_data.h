// SPDX-License-Identifier: Apache-2.0
// A timeline as the page draws it: columns of numbers, and each name once.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "sim/timeline/timeline.h"

namespace systole::report {

/// Bars that a browser draws at once.
constexpr std::size_t kMostSpans = 20'000;
/// Samples of all counters of a run together.
constexpr std::size_t kMostSamples = 10'000;

/// {end_ps, tracks, names, spans: {track, name, begin, duration, layer, owner}, mixed, counters, activity,
/// merged, notes}, times in ps, `owner` an index of the classes or -1, `mixed` the shares of bars with slots
/// of several. `row_of_layer`: what layers are called by (RunData); empty: their own numbers. Spans by track
/// and time, kMostSpans at most: more are merged (merge_spans.h), and `merged` says {from, to}, null
/// otherwise.
nlohmann::ordered_json timeline_data(const Timeline& timeline, const std::vector<std::size_t>& row_of_layer);

}  // namespace systole::report
