// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/sqlite_table.h"

#include <sqlite3.h>

#include <catch2/catch.hpp>

#include "tests/unit/sweep/support.h"

using namespace systole;
using namespace systole::sweep;
using test::complaint;

namespace {

using Rows = std::vector<std::vector<std::string>>;

/// What a question answers; NULL is "NULL", and each cell says its type first.
Rows ask(const std::filesystem::path& file, const std::string& question) {
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open_v2(file.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
    sqlite3_stmt* statement = nullptr;
    REQUIRE(sqlite3_prepare_v2(database, question.c_str(), -1, &statement, nullptr) == SQLITE_OK);
    Rows rows;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        rows.emplace_back();
        for (int i = 0; i < sqlite3_column_count(statement); ++i) {
            static constexpr const char* kTypes[] = {"", "int ", "real ", "text ", "blob ", "NULL"};
            const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
            const int type = text ? sqlite3_column_type(statement, i) : SQLITE_NULL;
            rows.back().push_back(std::string(kTypes[type]) + (text ? text : ""));
        }
    }
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return rows;
}

MergedTable table(std::vector<MergedColumn> columns, Rows rows) {
    MergedTable made;
    made.columns = std::move(columns);
    made.rows = std::move(rows);
    return made;
}

}  // namespace

TEST_CASE("numbers are numbers and what is empty is NULL", "[sqlite_table]") {
    const test::TemporaryFolder place;
    write_sqlite(table({{"id"}, {"chip.rows", true}, {"time", true}, {"bound"}, {"error"}},
                       {{"b", "12", "0.5", "it's \"so\", größer", ""},
                        {"a", "", "-3", "", "no"},
                        {"c", "9007199254740993", "100000000000000000000", "7", ""}}),
                 place / "t.sqlite");
    CHECK(ask(place / "t.sqlite", "SELECT * FROM points ORDER BY id") ==
          Rows{{"text a", "NULL", "int -3", "NULL", "text no"},
               {"text b", "int 12", "real 0.5", "text it's \"so\", größer", "text "},
               {"text c", "int 9007199254740993", "real 1.0e+20", "text 7", "text "}});
    CHECK(ask(place / "t.sqlite", "SELECT id FROM points WHERE \"chip.rows\" > 11 ORDER BY \"chip.rows\"") ==
          Rows{{"text b"}, {"text c"}});
}

TEST_CASE("columns may have any names", "[sqlite_table]") {
    const test::TemporaryFolder place;
    write_sqlite(table({{"id"}, {"a \"b\""}, {"2 * x, y); DROP TABLE points; --"}, {"select"}, {"größe"}},
                       {{"1", "2", "3", "4", "5"}}),
                 place / "t.sqlite");
    CHECK(ask(place / "t.sqlite", "SELECT \"a \"\"b\"\"\", \"select\", größe FROM points") ==
          Rows{{"text 2", "text 4", "text 5"}});
}

TEST_CASE("names that SQLite takes for one are two columns", "[sqlite_table]") {
    const test::TemporaryFolder place;
    write_sqlite(table({{"id"}, {"area"}, {"Area"}, {"AREA"}, {"ID"}}, {{"1", "2", "3", "4", "5"}}),
                 place / "t.sqlite");
    CHECK(ask(place / "t.sqlite", "SELECT id, area, Area_, AREA__, ID_ FROM points") ==
          Rows{{"text 1", "text 2", "text 3", "text 4", "text 5"}});
}

TEST_CASE("a table without rows is a database all the same", "[sqlite_table]") {
    const test::TemporaryFolder place;
    write_sqlite(table({{"id"}, {"x", true}}, {}), place / "t.sqlite");
    CHECK(ask(place / "t.sqlite", "SELECT count(*) FROM points") == Rows{{"int 0"}});
}

TEST_CASE("a database replaces the one before whole, and leaves nothing beside it", "[sqlite_table]") {
    const test::TemporaryFolder place;
    for (const std::string value : {"1", "2"})
        write_sqlite(table({{"id"}, {"x", true}}, {{"a", value}}), place / "t.sqlite");
    CHECK(ask(place / "t.sqlite", "SELECT x FROM points") == Rows{{"int 2"}});
    CHECK(std::distance(std::filesystem::directory_iterator(place / ""), {}) == 1);
}

TEST_CASE("a database that cannot be written is a mistake that leaves the old one", "[sqlite_table]") {
    const test::TemporaryFolder place;
    write_sqlite(table({{"id"}}, {{"a"}}), place / "t.sqlite");
    CHECK(complaint([&] {
              write_sqlite(table({{"id"}}, {{"b"}, {"b"}}), place / "t.sqlite");
          }) == "systole: error: cannot write the database: UNIQUE constraint failed: points.id");
    CHECK(ask(place / "t.sqlite", "SELECT id FROM points") == Rows{{"text a"}});
    CHECK(complaint([&] {
              write_sqlite(table({{"id"}}, {}), place / "no/t.sqlite");
          }).find("systole: error: cannot write") == 0);
    CHECK(std::distance(std::filesystem::directory_iterator(place / ""), {}) == 1);
}
