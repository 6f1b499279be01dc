// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/mistakes.h"

#include <fmt/format.h>

namespace systole {

void Mistakes::add(const SourceMark& where, std::string message) {
    found_.push_back({where, std::move(message)});
    if (found_.size() < kMost) return;
    found_.push_back({where, fmt::format("{} mistakes; the rest was not read", kMost)});
    throw_if_any();
}

void Mistakes::throw_if_any() const {
    if (!found_.empty()) throw UserError(found_);
}

std::string excerpt(std::string_view text) {
    std::size_t end = 60;
    if (text.size() <= end) return std::string(text);
    while (end > 0 && (text[end] & 0xC0) == 0x80) --end;  // not inside a UTF-8 character
    return std::string(text.substr(0, end)) + "…";
}

}  // namespace systole
