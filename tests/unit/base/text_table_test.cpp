// SPDX-License-Identifier: Apache-2.0
#include "sim/base/text_table.h"

#include <catch2/catch.hpp>

using namespace systole;

namespace {

/// Columns "layer", "cycles" (leaves second), "util" (stays), "bytes" (leaves first).
TextTable layers() {
    TextTable table;
    table.column("layer", TextTable::Align::Left);
    table.column("cycles", TextTable::Align::Right);
    table.dispensable(1);
    table.column("util", TextTable::Align::Right);
    table.column("bytes", TextTable::Align::Left);
    table.dispensable(2);
    table.row({"conv", "123,456", "9.9", "8 MB"});
    return table;
}

TextStyle of_width(std::size_t width) {
    TextStyle style;
    style.width = width;
    return style;
}

}  // namespace

TEST_CASE("a cell wider than its column may be goes on below, broken at blanks", "[text]") {
    TextTable table;
    table.column("key", TextTable::Align::Left);
    table.column("why", TextTable::Align::Left, 9);
    table.column("n", TextTable::Align::Right);
    table.row({"rows", "fits on a blackboard", "4"});
    table.row({"cols", "", "5"});
    CHECK(table.str() ==
          "key   why         n\n"
          "----  ----------  -\n"
          "rows  fits on a   4\n"
          "      blackboard\n"
          "cols              5\n");
}

TEST_CASE("a table aligns characters, not bytes, and leaves no space at line ends", "[text]") {
    TextTable table;
    table.column("name", TextTable::Align::Left);
    table.column("n", TextTable::Align::Right);
    table.row({"\xC3\xA9t\xC3\xA9", "7"});
    table.row({"conv10", "123"});
    table.rule();
    table.row({"total", ""});
    CHECK(table.str() ==
          "name      n\n"
          "------  ---\n"
          "\xC3\xA9t\xC3\xA9       7\n"
          "conv10  123\n"
          "------  ---\n"
          "total\n");
}

TEST_CASE("a table that is too wide leaves out the columns of the highest rank first", "[text]") {
    CHECK(layers().str(of_width(27)) == layers().str());
    CHECK(layers().left_out(of_width(27)).empty());
    CHECK(layers().str(of_width(26)) ==
          "layer   cycles  util\n"
          "-----  -------  ----\n"
          "conv   123,456   9.9\n");
    CHECK(layers().left_out(of_width(26)) == std::vector<std::string>{"bytes"});
    CHECK(layers().left_out(of_width(19)) == std::vector<std::string>{"cycles", "bytes"});
}

TEST_CASE("columns that tell what a row is stay in the narrowest table", "[text]") {
    CHECK(layers().str(of_width(3)) ==
          "layer  util\n"
          "-----  ----\n"
          "conv    9.9\n");
}

TEST_CASE("inked cells are aligned as plain ones are", "[text]") {
    TextStyle style;
    style.colour = true;
    TextTable table;
    table.column("name", TextTable::Align::Left);
    table.column("n", TextTable::Align::Right);
    table.row({"a", "123"});
    table.ink(1, Ink{Ink::Weight::Normal, 32});
    table.row({"", "7"});
    table.ink(kStrong);
    CHECK(table.str(style) ==
          "\033[1mname\033[0m    \033[1mn\033[0m\n"
          "\033[2m----\033[0m  \033[2m---\033[0m\n"
          "a     \033[38;5;32m123\033[0m\n"
          "        \033[1m7\033[0m\n");
}

TEST_CASE("the ink of a row leaves cells that have their own", "[text]") {
    TextStyle style;
    style.colour = true;
    TextTable table;
    table.column("a", TextTable::Align::Left);
    table.column("b", TextTable::Align::Left);
    table.row({"x", "y"});
    table.ink(0, kFaint);
    table.ink(kStrong);
    CHECK(table.str(style).ends_with("\033[2mx\033[0m  \033[1my\033[0m\n"));
}
