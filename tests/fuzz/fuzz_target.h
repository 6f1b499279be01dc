// SPDX-License-Identifier: Apache-2.0
// What every fuzz target gives: one function, which reads an input as a user's file. A UserError is an
// answer; whatever else leaves it is a fault. tests/fuzz/README.md says how targets are run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace systole::fuzz {

/// The reader under test. `input` lives until it returns.
void read_input(const std::string& input);
/// Pieces of the format, put in here and there.
const std::vector<std::string_view>& words();

}  // namespace systole::fuzz
