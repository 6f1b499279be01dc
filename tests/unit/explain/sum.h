// SPDX-License-Identifier: Apache-2.0
// Works out a sum as a reader would: "2 x 4 + 4 - 2 + 1,024 + 3 x max(6, 4)".
#pragma once

#include <cstdint>
#include <string>

namespace systole::test {

/// Numbers with thousands separators, +, -, x, max(a, b) and parentheses. Throws std::runtime_error for
/// anything else.
std::int64_t worked_out(const std::string& sum);

}  // namespace systole::test
