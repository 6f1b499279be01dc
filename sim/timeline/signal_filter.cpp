// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/signal_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.h"

namespace systole {

/// After a mismatch the last `*` takes one character more: linear in space, and no worse than the product of
/// the lengths in time.
bool matches_pattern(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0;
    std::size_t star = std::string_view::npos, resume = 0;
    while (t < text.size()) {
        if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] == text[t] && pattern[p] != '*'))) {
            ++p, ++t;
        } else if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

SignalFilter::SignalFilter(const std::vector<std::string>& patterns) {
    for (const std::string& pattern : patterns) patterns_.push_back({pattern, false, ""});
}

bool SignalFilter::wants(std::string_view path) const {
    return patterns_.empty() || std::any_of(patterns_.begin(), patterns_.end(), [&](const Pattern& pattern) {
               return matches_pattern(pattern.text, path);
           });
}

bool SignalFilter::offer(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    const std::string_view scope = path.substr(0, dot), name = path.substr(dot + 1);
    if (scope != last_scope_) {
        last_scope_ = scope;
        scopes_.insert(last_scope_);
    }
    if (!names_.contains(name)) names_.emplace(name);
    bool wanted = patterns_.empty();
    for (Pattern& pattern : patterns_) {
        if (matches_pattern(pattern.text, path)) {
            wanted = pattern.matched = true;
        } else if (!pattern.matched && pattern.within.empty() &&
                   matches_pattern('*' + pattern.text + '*', path)) {
            pattern.within = path;
        }
    }
    return wanted;
}

std::string SignalFilter::suggestion(const Pattern& pattern) const {
    if (!pattern.within.empty())
        return fmt::format("; patterns match whole paths, such as '{}': did you mean '*{}*'?", pattern.within,
                           pattern.text);
    const std::size_t dot = pattern.text.rfind('.');
    const std::string scope = pattern.text.substr(0, dot == std::string::npos ? 0 : dot);
    const std::string name = pattern.text.substr(dot + 1);
    const auto literal = [](const std::string& text) {
        return !text.empty() && text.find_first_of("*?") == std::string::npos;
    };
    const std::vector<std::string> names(names_.begin(), names_.end());
    if (literal(name) && !names_.contains(name))
        return fmt::format("; no signal is called '{}'{}", name, did_you_mean(name, names));
    const std::vector<std::string> scopes(scopes_.begin(), scopes_.end());
    if (literal(scope) && !scopes_.contains(scope))
        return fmt::format("; there is no '{}'{}", scope, did_you_mean(scope, scopes));
    return "";
}

void SignalFilter::require_matches() const {
    std::vector<Diagnostic> mistakes;
    for (const Pattern& pattern : patterns_)
        if (!pattern.matched)
            mistakes.push_back({{"--signals " + pattern.text},
                                fmt::format("matches no signal{}; --list-signals shows what there is",
                                            suggestion(pattern))});
    if (!mistakes.empty()) throw UserError(std::move(mistakes));
}

}  // namespace systole
