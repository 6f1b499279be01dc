// SPDX-License-Identifier: Apache-2.0
// The timeline of a run in the Chrome trace-event format, which Perfetto and chrome://tracing open: one
// thread per track. The format: "Trace Event Format",
// docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
#pragma once

#include <string>
#include <vector>

#include "sim/timeline/timeline.h"

namespace systole {

/// A JSON array with one event a line: names of the process and its threads, then the spans as complete
/// events
/// ("ph": "X"), by thread and time; `ts` and `dur` in microseconds with all six digits of a picosecond.
/// Tracks are in alphabetical order, numbers in them by value (mxu2 before mxu10). Viewers want the events of
/// a thread nested or apart: spans of a track that only overlap go to further threads, "track (2)", "track
/// (3)". The same spans in any order give the same bytes. Spans must not end before they begin, nor begin
/// before 0.
std::string chrome_trace(const std::vector<Span>& spans, const std::string& process_name);

}  // namespace systole
