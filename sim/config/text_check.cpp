// SPDX-License-Identifier: Apache-2.0
#include "sim/config/text_check.h"

#include <fmt/format.h>

#include <cstdint>

namespace systole::config {
namespace {

bool is_control(std::string_view text, std::size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == '\t' || byte == '\n') return false;
    if (byte == '\r') return at + 1 >= text.size() || text[at + 1] != '\n';
    return byte < 0x20 || byte == 0x7f;
}

/// The length of the UTF-8 sequence at `at`, or 0 if there is none. RFC 3629: no overlong forms, no
/// surrogates, nothing above U+10FFFF.
std::size_t sequence_length(std::string_view text, std::size_t at) {
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead < 0x80) return 1;
    if (lead < 0xC2 || lead > 0xF4) return 0;
    const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (at + length > text.size()) return 0;
    std::uint32_t code = lead & (0x7Fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
        const auto next = static_cast<unsigned char>(text[at + i]);
        if ((next & 0xC0) != 0x80) return 0;
        code = code << 6 | (next & 0x3Fu);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    return overlong || surrogate || code > 0x10FFFF ? 0 : length;
}

}  // namespace

std::optional<BadByte> find_bad_byte(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto byte = static_cast<unsigned char>(text[at]);
        if (is_control(text, at)) return BadByte{at, fmt::format("control character {:#04x}", byte)};
        const std::size_t length = sequence_length(text, at);
        if (length == 0) return BadByte{at, fmt::format("byte {:#04x} is not UTF-8", byte)};
        at += length;
    }
    return std::nullopt;
}

}  // namespace systole::config
