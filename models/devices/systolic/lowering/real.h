// SPDX-License-Identifier: Apache-2.0
// Counts as what estimates reckon with.
#pragma once

#include <cstdint>

namespace systole::systolic {

inline double real(std::int64_t count) {
    return static_cast<double>(count);
}

}  // namespace systole::systolic
