// SPDX-License-Identifier: Apache-2.0
#include "sim/config/leaf_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace systole::config {
namespace {

bool is_plain_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Plain scalars of these characters are safe everywhere: no indicator of YAML is among them.
bool is_plain(std::string_view text) {
    constexpr std::array<std::string_view, 3> kNull{"null", "Null", "NULL"};
    const auto inside = [](char c) {
        return is_plain_start(c) || c == '_' || c == '.' || c == '/' || c == ' ' || c == '-';
    };
    return !text.empty() && is_plain_start(text.front()) && text.back() != ' ' &&
           std::all_of(text.begin(), text.end(), inside) &&
           std::find(kNull.begin(), kNull.end(), text) == kNull.end();
}

std::string_view trim(std::string_view text) {
    const std::size_t first = text.find_first_not_of(' ');
    if (first == std::string_view::npos) return "";
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::string yaml_scalar(std::string_view text) {
    if (is_plain(text)) return std::string(text);
    std::string quoted = "\"";
    for (const char c : text) {
        switch (c) {
            case '"':
                quoted += "\\\"";
                break;
            case '\\':
                quoted += "\\\\";
                break;
            case '\n':
                quoted += "\\n";
                break;
            case '\r':
                quoted += "\\r";
                break;
            case '\t':
                quoted += "\\t";
                break;
            default:
                quoted += c;
        }
    }
    return quoted + '"';
}

std::string list_text(const std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items) text += (text.empty() ? "" : ", ") + yaml_scalar(item);
    return fmt::format("[{}]", text);
}

std::vector<std::string> split_list(std::string_view text) {
    text = trim(text);
    if (text.size() >= 2 && text.front() == '[' && text.back() == ']')
        text = trim(text.substr(1, text.size() - 2));
    std::vector<std::string> items;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        items.emplace_back(trim(text.substr(0, comma)));
        text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    }
    return items;
}

}  // namespace systole::config
