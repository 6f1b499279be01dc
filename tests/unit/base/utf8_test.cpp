// SPDX-License-Identifier: Apache-2.0
#include "sim/base/utf8.h"

#include <catch2/catch.hpp>

namespace systole {

TEST_CASE("UTF-8 sequences have the lengths of RFC 3629", "[utf8]") {
    CHECK(utf8_length("a", 0) == 1);
    CHECK(utf8_length("a\xC3\xA9", 1) == 2);
    CHECK(utf8_length("\xE2\x80\xA6", 0) == 3);
    CHECK(utf8_length("\xF0\x9F\x98\x80", 0) == 4);
    CHECK(utf8_length("\xF0\x9F\x98", 0) == 0);      // cut short
    CHECK(utf8_length("\xC0\x80", 0) == 0);          // overlong
    CHECK(utf8_length("\xED\xA0\x80", 0) == 0);      // a surrogate
    CHECK(utf8_length("\xF4\x90\x80\x80", 0) == 0);  // above U+10FFFF
    CHECK(utf8_length("\x80", 0) == 0);
}

TEST_CASE("what is no text is shown as numbers, on one line", "[utf8]") {
    CHECK(printable("plain \xC3\xA9") == "plain \xC3\xA9");
    CHECK(printable("two\nlines\t\x7F") == "two\\x0alines\\x09\\x7f");
    CHECK(printable("\x1B[31m\xFF\xC3") == "\\x1b[31m\\xff\\xc3");
}

}  // namespace systole
