// SPDX-License-Identifier: Apache-2.0
// How explanations are set: three columns from the edge, no line longer than a page is wide.
#pragma once

#include <cstddef>
#include <string>

#include "sim/base/text_table.h"

namespace systole::systolic {

constexpr std::size_t kPageWidth = 100;  ///< characters

/// A sentence in as many lines as it takes.
std::string wrapped(const std::string& sentence);

/// A table, as far from the edge as all else.
std::string indented(const TextTable& table);

}  // namespace systole::systolic
