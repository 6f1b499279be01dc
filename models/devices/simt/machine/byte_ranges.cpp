// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/byte_ranges.h"

#include <algorithm>
#include <iterator>

namespace systole::simt {

std::vector<ByteRanges::Range> ByteRanges::add(std::int64_t begin, std::int64_t end) {
    std::vector<Range> gaps;
    if (begin >= end) return gaps;
    auto at = ends_.upper_bound(begin);
    if (at != ends_.begin() && std::prev(at)->second >= begin) --at;
    std::int64_t from = begin, joined_begin = begin, joined_end = end;
    while (at != ends_.end() && at->first <= end) {
        if (at->first > from) gaps.push_back({from, at->first});
        from = std::max(from, at->second);
        joined_begin = std::min(joined_begin, at->first);
        joined_end = std::max(joined_end, at->second);
        at = ends_.erase(at);
    }
    if (from < end) gaps.push_back({from, end});
    ends_.emplace(joined_begin, joined_end);
    return gaps;
}

}  // namespace systole::simt
