// SPDX-License-Identifier: Apache-2.0
// Timelines in the Chrome trace-event format, which Perfetto, chrome://tracing and speedscope open: a process
// for each run, a thread for each track. The format: "Trace Event Format",
// docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU; ours: docs/formats.md, Timeline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/account/run_result.h"
#include "sim/timeline/timeline.h"

namespace systole {

/// A run that is to be drawn. Both must outlive their use.
struct TracedRun {
    const DeviceResult& result;
    const Timeline& timeline;
};

struct ChromeTrace {
    static constexpr std::size_t kEvents = 100'000;  ///< what viewers load at once
    static constexpr std::size_t kFewest = 1'000, kMost = 100'000'000;

    std::string text;
    std::size_t events = 0;
    std::size_t spans = 0, drawn = 0;  ///< of the runs, and what is left of them

    /// "41,234 events" and, where it is so, "1,234,567 spans merged into 61,234".
    std::string summary() const;
};

/// A JSON object with one event a line, `most` events at most (at least kFewest; names of processes and
/// threads come on top, two a thread): spans as complete events, counters, activity as counters, flows. Times
/// are microseconds with all six digits of a picosecond. Tracks are in natural order; spans of a track that
/// only overlap go to further threads, "track (2)". Where spans are too many they merge (merge_spans.h);
/// counters take a quarter of the events at most, flows a fifth. otherData says what was merged. The same
/// runs give the same bytes. Spans must not end before they begin, nor begin before 0.
ChromeTrace chrome_trace(const std::vector<TracedRun>& runs, std::size_t most = ChromeTrace::kEvents);

}  // namespace systole
