// SPDX-License-Identifier: Apache-2.0
// UTF-8 (RFC 3629): what is text, and how to show what is not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace systole {

/// The length of the UTF-8 sequence at `at`, or 0 if there is none: no overlong forms, no surrogates,
/// nothing above U+10FFFF.
std::size_t utf8_length(std::string_view text, std::size_t at);

/// `text` on one line of valid UTF-8: control characters, newlines too, and bytes that are none of it as
/// "\x1b".
std::string printable(std::string_view text);

}  // namespace systole
