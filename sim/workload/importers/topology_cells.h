// SPDX-License-Identifier: Apache-2.0
// Cells of a table that people wrote by hand: blanks around them, and now and then two numbers in one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace systole {

/// Without blanks and tabs at both ends.
std::string_view trimmed(std::string_view text);
/// Digits, perhaps behind a '-', and nothing else.
std::optional<std::int64_t> whole_number(std::string_view text);
/// "3 64": the numbers of a cell in which a comma is missing; nothing if it holds anything else.
std::vector<std::int64_t> whole_numbers(std::string_view cell);

}  // namespace systole
