// SPDX-License-Identifier: Apache-2.0
// Comma-separated values as RFC 4180 defines them, read strictly: a table whose quotes do not match is an
// error with its place, never a guess.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace systole {

/// A place in the table, 1-based; columns count bytes.
struct CsvPlace {
    int line = 0, column = 0;
    friend bool operator==(const CsvPlace&, const CsvPlace&) = default;
};

struct CsvRow {
    int line = 0;  ///< where it begins, 1-based
    std::vector<std::string> cells;
    std::vector<CsvPlace> places;  ///< where each cell begins, quotes and all
};

/// All rows, the header too. Lines end in LF or CRLF, the last one may lack it; empty lines and a leading
/// byte order mark are skipped; rows may differ in length. Throws UserError (`file` names the place) for a
/// quote inside a plain cell, text behind a closing quote, a quote that never closes, and zero bytes.
std::vector<CsvRow> parse_csv(std::string_view text, const std::string& file);

/// One line of a table, with its LF; cells are quoted where they must be.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace systole
