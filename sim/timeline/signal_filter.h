// SPDX-License-Identifier: Apache-2.0
// Which signals are wanted: patterns over whole paths, in which `*` stands for any characters, dots too, and
// `?` for one. A pattern that never matches is the user's mistake, and the filter can say what was near.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace systole {

/// Whether the whole of `text` matches.
bool matches_pattern(std::string_view pattern, std::string_view text);

class SignalFilter {
public:
    /// Without patterns, everything is wanted.
    explicit SignalFilter(const std::vector<std::string>& patterns);

    bool wants(std::string_view path) const;
    /// As wants(), and remembers what was there, for the messages of require_matches().
    bool offer(std::string_view path);
    /// Throws UserError that names every pattern that matched none of the paths offered, and what was meant.
    void require_matches() const;

private:
    struct Pattern {
        std::string text;
        bool matched = false;
        std::string within;  // a path that the pattern matches when it need not match the whole
    };
    std::string suggestion(const Pattern& pattern) const;

    std::vector<Pattern> patterns_;
    std::set<std::string, std::less<>> scopes_, names_;
    std::string last_scope_;
};

}  // namespace systole
