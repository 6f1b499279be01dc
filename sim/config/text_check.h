// SPDX-License-Identifier: Apache-2.0
// Text that a person can read and that can be written again: valid UTF-8 (RFC 3629) without control
// characters. Every byte that enters through a file or the command line passes here first.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace systole::config {

/// A byte that text must not hold.
struct BadByte {
    std::size_t offset = 0;
    std::string message;  ///< "byte 0xff is not UTF-8", "control character 0x00"
};

/// The first byte of `text` that is no part of valid UTF-8, or is a control character other than a tab, a
/// newline, or the carriage return before one.
std::optional<BadByte> find_bad_byte(std::string_view text);

}  // namespace systole::config
