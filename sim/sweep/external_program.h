// SPDX-License-Identifier: Apache-2.0
// Another program as a process: its words and its exit code. No shell takes part, so nothing needs quotes.
#pragma once

#include <string>
#include <vector>

namespace systole::sweep {

struct ProgramEnd {
    int code = 0;          ///< 127: it is not there; 126: it cannot be run; 128 + n: ended by signal n
    std::string output;    ///< of the standard output
    std::string messages;  ///< of the standard error output
};

/// Runs `words` (a program on the PATH, then its arguments) with `input` on its standard input, which must
/// fit a pipe. Throws std::system_error where no process can be made.
ProgramEnd run_program(const std::vector<std::string>& words, const std::string& input = "");

}  // namespace systole::sweep
