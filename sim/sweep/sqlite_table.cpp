// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/sqlite_table.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <set>

#include "sim/account/staged_place.h"
#include "sim/base/error.h"
#include "sim/config/quantity.h"

namespace systole::sweep {
namespace {

class Database {
public:
    explicit Database(const std::filesystem::path& file) {
        sqlite3* opened = nullptr;  // even if it could not be, and then it is to be closed, too
        const int result = sqlite3_open(file.c_str(), &opened);
        database_.reset(opened);
        if (result != SQLITE_OK) fail();
    }
    ~Database() = default;
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    void execute(const std::string& sql) {
        if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
    }

    void insert(const MergedTable& table) {
        std::string marks = "?";
        for (std::size_t i = 1; i < table.columns.size(); ++i) marks += ",?";
        sqlite3_stmt* raw = nullptr;
        if (sqlite3_prepare_v2(database_.get(), fmt::format("INSERT INTO points VALUES ({})", marks).c_str(),
                               -1, &raw, nullptr) != SQLITE_OK)
            fail();
        const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(raw, sqlite3_finalize);
        for (const std::vector<std::string>& row : table.rows) {
            for (std::size_t i = 0; i < row.size(); ++i)
                bind(raw, static_cast<int>(i) + 1, table.columns[i], row[i]);
            if (sqlite3_step(raw) != SQLITE_DONE) fail();
            sqlite3_reset(raw);
        }
    }

    [[noreturn]] void fail() const {
        throw UserError(fmt::format("cannot write the database: {}", sqlite3_errmsg(database_.get())));
    }

private:
    static void bind(sqlite3_stmt* statement, int place, const MergedColumn& column,
                     const std::string& cell) {
        if (cell.empty() && column.name != "error") {
            sqlite3_bind_null(statement, place);
            return;
        }
        if (column.is_number) {
            constexpr std::int64_t kMost = std::int64_t{1} << 62;
            if (const auto whole = config::parse_integer(cell, -kMost, kMost); whole.value)
                sqlite3_bind_int64(statement, place, *whole.value);
            else
                sqlite3_bind_double(statement, place,
                                    config::parse_number(cell, -1e300, 1e300).value.value_or(0));
            return;
        }
        sqlite3_bind_text(statement, place, cell.data(), static_cast<int>(cell.size()), SQLITE_STATIC);
    }

    std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_{nullptr, sqlite3_close};
};

/// SQLite takes "Area" and "area" for one name: later ones get a '_' behind them until they are alone.
std::vector<std::string> distinct_names(const MergedTable& table) {
    std::set<std::string> taken;
    std::vector<std::string> names;
    for (const MergedColumn& column : table.columns) {
        std::string name = column.name, small = column.name;
        std::transform(small.begin(), small.end(), small.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
        for (; !taken.insert(small).second; small += '_') name += '_';
        names.push_back(std::move(name));
    }
    return names;
}

std::string quoted(const std::string& name) {
    std::string text = "\"";
    for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + '"';
}

}  // namespace

void write_sqlite(const MergedTable& table, const std::filesystem::path& file) {
    StagedPlace place(file);
    {
        Database database(place.temporary());
        // Nobody else has this file, and half of it is never looked at: no journal, no waiting for the disk.
        database.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
        std::string columns;
        const std::vector<std::string> names = distinct_names(table);
        for (std::size_t i = 0; i < names.size(); ++i) {
            const MergedColumn& column = table.columns[i];
            columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", quoted(names[i]),
                                   column.name == "id" ? "TEXT PRIMARY KEY"
                                   : column.is_number  ? "NUMERIC"
                                                       : "TEXT");
        }
        database.execute(fmt::format("CREATE TABLE points ({}) WITHOUT ROWID", columns));
        database.insert(table);
        database.execute("COMMIT");
    }
    place.commit();
}

}  // namespace systole::sweep
