// SPDX-License-Identifier: Apache-2.0
// SHA-256 as text: what names a point and tells whether a file is still what it was.
#pragma once

#include <string>
#include <string_view>

namespace systole::sweep {

/// The SHA-256 (FIPS 180-4) of `text` as 64 lower-case hexadecimal digits.
std::string sha256(std::string_view text);

}  // namespace systole::sweep
