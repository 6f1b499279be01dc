// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace systole::systolic {

/// Half-open, of elements, rows or bytes.
struct Range {
    std::int64_t begin = 0, count = 0;
    std::int64_t end() const { return begin + count; }
};

}  // namespace systole::systolic
