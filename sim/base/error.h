// SPDX-License-Identifier: Apache-2.0
// Faults of the user's input. They are values until the command ends: a reader collects every diagnostic of a
// file and then throws one UserError, which main prints (`file:line:column: error: ...`) and turns into exit
// code 2.
#pragma once

#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace systole {

/// A place in a user's file, 1-based. `line` 0: the file as a whole. `file` may name a command line option
/// ("--set mxu.rows").
struct SourceMark {
    std::string file;
    int line = 0;
    int column = 0;
};

/// One mistake: where, and one sentence that says what, what was expected, and did you mean.
struct Diagnostic {
    SourceMark where;
    std::string message;
};

/// "file:line:column: error: message"; what is unknown of the place is left out.
std::string to_string(const Diagnostic& diagnostic);

class UserError : public std::exception {
public:
    explicit UserError(std::vector<Diagnostic> diagnostics);
    /// A single mistake without a file ("systole: error: ...").
    explicit UserError(std::string message);
    UserError(SourceMark where, std::string message);

    const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
    /// The diagnostics, one a line; the first 20 if there are many.
    const char* what() const noexcept override { return text_.c_str(); }

private:
    std::vector<Diagnostic> diagnostics_;
    std::string text_;
};

/// " (did you mean 'x'?)" for the candidate nearest to `word`, or "" if none is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

/// The text for a message: its first 60 bytes, and "…" if there are more.
std::string excerpt(std::string_view text);

}  // namespace systole
