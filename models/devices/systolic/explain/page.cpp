// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/explain/page.h"

#include <sstream>

namespace systole::systolic {
namespace {

constexpr const char* kIndent = "   ";

}  // namespace

std::string wrapped(const std::string& sentence) {
    std::istringstream words(sentence);
    std::string text, line;
    for (std::string word; words >> word;) {
        if (!line.empty() && line.size() + 1 + word.size() > kPageWidth) {
            text += line + '\n';
            line.clear();
        }
        line += (line.empty() ? kIndent : " ") + word;
    }
    return text + line + '\n';
}

std::string indented(const TextTable& table) {
    std::istringstream lines(table.str());
    std::string text;
    for (std::string line; std::getline(lines, line);) text += kIndent + line + '\n';
    return text;
}

}  // namespace systole::systolic
