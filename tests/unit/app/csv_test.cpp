// SPDX-License-Identifier: Apache-2.0
#include "sim/base/csv.h"

#include <catch2/catch.hpp>
#include <random>

#include "sim/base/error.h"

using namespace systole;

namespace {

using Cells = std::vector<std::string>;

std::vector<Cells> cells_of(const std::string& text) {
    std::vector<Cells> cells;
    for (const CsvRow& row : parse_csv(text, "t.csv")) cells.push_back(row.cells);
    return cells;
}

/// "line:column" of the mistake in `text`.
std::string mistake_in(const std::string& text) {
    try {
        parse_csv(text, "t.csv");
    } catch (const UserError& error) {
        const SourceMark& where = error.diagnostics().at(0).where;
        REQUIRE(where.file == "t.csv");
        return std::to_string(where.line) + ":" + std::to_string(where.column);
    }
    return "none";
}

}  // namespace

TEST_CASE("a table is rows of cells, whatever ends its lines") {
    const std::vector<Cells> expected{{"a", "b"}, {"1", ""}};
    CHECK(cells_of("a,b\n1,\n") == expected);
    CHECK(cells_of("a,b\r\n1,\r\n") == expected);
    CHECK(cells_of("a,b\n1,") == expected);
    CHECK(cells_of("\n\na,b\n\r\n1,\n\n") == expected);
    CHECK(cells_of("\xEF\xBB\xBF"
                   "a,b\n1,\n") == expected);
}

TEST_CASE("a table without rows is empty") {
    CHECK(cells_of("").empty());
    CHECK(cells_of("\n\r\n").empty());
    CHECK(cells_of("\xEF\xBB\xBF").empty());
}

TEST_CASE("quoted cells hold commas, quotes and line ends") {
    CHECK(cells_of("\"a,b\",\"c\"\"d\",\"e\r\nf\"\n") == std::vector<Cells>{{"a,b", "c\"d", "e\r\nf"}});
    CHECK(cells_of("\"\",\"\"\n") == std::vector<Cells>{{"", ""}});
}

TEST_CASE("a row knows the line it begins in") {
    const std::vector<CsvRow> rows = parse_csv("a\n\n\"b\nb\"\nc\n", "t.csv");
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].line == 1);
    CHECK(rows[1].line == 3);
    CHECK(rows[2].line == 5);
}

TEST_CASE("a cell knows where it begins") {
    const std::vector<CsvRow> rows = parse_csv("\xEF\xBB\xBFop,m,n\r\n,\"1\n2\",34,\n", "t.csv");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].places == std::vector<CsvPlace>{{1, 1}, {1, 4}, {1, 6}});
    // Behind a cell of two lines, places are in the second one.
    CHECK(rows[1].places == std::vector<CsvPlace>{{2, 1}, {2, 2}, {3, 4}, {3, 7}});
}

TEST_CASE("broken tables are refused at the place of the mistake") {
    CHECK(mistake_in("a,b\n1,x\"y\n") == "2:4");
    CHECK(mistake_in("a,b\n\"1\"x,2\n") == "2:4");
    CHECK(mistake_in("a,b\n1,\"2\n3\n") == "2:3");
    CHECK(mistake_in("a,b\r1,2\n") == "1:4");
    CHECK(mistake_in("\"a\nb\"x\n") == "2:3");
    CHECK(mistake_in(std::string("a\n\0\n", 4)) == "2:1");
    CHECK(mistake_in(std::string("\"\0\"", 3)) == "1:2");
}

TEST_CASE("what is written reads back") {
    const std::uint64_t seed = 20240611;
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const std::string letters = "ab ,\"\r\n'";
    for (int table = 0; table < 2000; ++table) {
        std::vector<Cells> written;
        std::string text;
        for (std::size_t r = 0, rows = random() % 4; r < rows; ++r) {
            Cells cells{"first"};  // a row of one empty cell would be an empty line
            for (std::size_t c = random() % 4; c > 0; --c) {
                std::string cell;
                for (std::size_t i = random() % 5; i > 0; --i) cell += letters[random() % letters.size()];
                cells.push_back(cell);
            }
            text += csv_line(cells);
            written.push_back(cells);
        }
        CAPTURE(text);
        REQUIRE(cells_of(text) == written);
    }
}
