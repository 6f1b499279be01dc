// SPDX-License-Identifier: Apache-2.0
// A set of addresses, as ranges.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace systole::simt {

class ByteRanges {
public:
    struct Range {
        std::int64_t begin = 0, end = 0;
    };

    /// Adds [begin, end); answers what of it was not there, ascending.
    std::vector<Range> add(std::int64_t begin, std::int64_t end);

private:
    std::map<std::int64_t, std::int64_t> ends_;  // by begin; neither overlapping nor touching
};

}  // namespace systole::simt
