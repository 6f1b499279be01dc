// SPDX-License-Identifier: Apache-2.0
// Spans in the order and on the threads in which a viewer can draw them: a thread shows spans that nest or
// that are apart, so spans of one track that only overlap are dealt out to several lanes.
#pragma once

#include <vector>

#include "sim/timeline/timeline.h"

namespace systole {

/// A row of the picture. Spans by begin, then the longer first, so that outer ones come before inner ones.
struct Lane {
    const std::string* track;
    int number;  ///< within its track, from 1
    std::vector<const Span*> spans;
};

/// Whether `a` comes before `b`: alphabetically, runs of digits by value.
bool natural_less(const std::string& a, const std::string& b);

/// All spans once, by track in natural order and lane. A span goes to the first lane of its track where it
/// fits. The lanes point into `spans`.
std::vector<Lane> make_lanes(const std::vector<Span>& spans);

}  // namespace systole
