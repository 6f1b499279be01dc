// SPDX-License-Identifier: Apache-2.0
#include "sim/report/page.h"

#include <stdexcept>

namespace systole::report {
namespace {

/// JSON that no HTML parser ends early: "</script>" and "<!--" need a "<", which a string may spell
/// otherwise.
std::string in_script(std::string_view json) {
    std::string text;
    text.reserve(json.size());
    for (const char c : json) c == '<' ? text += "\\u003c" : text += c;
    return text;
}

std::string in_html(std::string_view words) {
    std::string text;
    for (const char c : words) switch (c) {
            case '<':
                text += "&lt;";
                break;
            case '>':
                text += "&gt;";
                break;
            case '&':
                text += "&amp;";
                break;
            default:
                text += c;
        }
    return text;
}

/// Puts `text` between the first `before` and the `after` behind it.
void replace_between(std::string& page, std::string_view before, std::string_view after,
                     const std::string& text) {
    const std::size_t found = page.find(before);
    if (found == std::string::npos) throw std::invalid_argument("the page has no place for its data");
    const std::size_t begin = found + before.size();
    const std::size_t end = page.find(after, begin);
    if (end == std::string::npos) throw std::invalid_argument("the page's place for its data does not end");
    page.replace(begin, end - begin, text);
}

}  // namespace

std::string fill_page(std::string_view page, std::string_view title, std::string_view json) {
    std::string filled;
    filled.reserve(page.size() + json.size() + json.size() / 16);
    filled = page;
    replace_between(filled, "<title>", "</title>", in_html(title));
    replace_between(filled, R"(<script id="data" type="application/json">)", "</script>", in_script(json));
    return filled;
}

}  // namespace systole::report
