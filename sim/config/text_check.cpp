// SPDX-License-Identifier: Apache-2.0
#include "sim/config/text_check.h"

#include <fmt/format.h>

#include "sim/base/utf8.h"

namespace systole::config {
namespace {

bool is_control(std::string_view text, std::size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == '\t' || byte == '\n') return false;
    if (byte == '\r') return at + 1 >= text.size() || text[at + 1] != '\n';
    return byte < 0x20 || byte == 0x7f;
}

}  // namespace

std::optional<BadByte> find_bad_byte(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto byte = static_cast<unsigned char>(text[at]);
        if (is_control(text, at)) return BadByte{at, fmt::format("control character {:#04x}", byte)};
        const std::size_t length = utf8_length(text, at);
        if (length == 0) return BadByte{at, fmt::format("byte {:#04x} is not UTF-8", byte)};
        at += length;
    }
    return std::nullopt;
}

}  // namespace systole::config
