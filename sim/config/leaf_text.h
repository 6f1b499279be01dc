// SPDX-License-Identifier: Apache-2.0
// How texts and lists are written so that our YAML reader reads the same again, and lists read from a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace systole::config {

/// `text` as a YAML scalar that means the same in block and flow collections, quoted where needed.
std::string yaml_scalar(std::string_view text);

/// "[row, bank]", items quoted where needed.
std::string list_text(const std::vector<std::string>& items);

/// "row, bank" or "[row,bank]" as written on a command line -> {"row", "bank"}.
std::vector<std::string> split_list(std::string_view text);

}  // namespace systole::config
