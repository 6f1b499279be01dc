// SPDX-License-Identifier: Apache-2.0
// A table of aligned columns, as people read it.
#pragma once

#include <string>
#include <vector>

#include "sim/base/text_style.h"

namespace systole {

/// A table with one header row; text columns are left-, number columns right-aligned.
class TextTable {
public:
    enum class Align { Left, Right };
    /// Ranks of columns: the higher, the sooner a column is left out of a table that is too wide for its
    /// place.
    static constexpr int kAlways = 0;

    /// Adds a column; rows then carry one cell for each. Cells wider than `most` go on in further lines,
    /// broken at blanks.
    void column(std::string header, Align align, std::size_t most = std::string::npos);
    /// The last column may be left out.
    void dispensable(int rank);
    void row(std::vector<std::string> cells);
    /// The ink of a cell of the last row.
    void ink(std::size_t column, Ink ink);
    /// The ink of all cells of the last row that have none of their own.
    void ink(Ink ink);
    /// A line of dashes before the next row (totals).
    void rule();

    std::string str(const TextStyle& style = {}) const;
    /// The headers of the columns that str() leaves out of this style.
    std::vector<std::string> left_out(const TextStyle& style) const;

private:
    struct Column {
        std::string header;
        Align align;
        std::size_t most;
        int rank;
    };
    /// A line of a row; without cells, a rule.
    struct Line {
        std::vector<std::string> cells;
        std::vector<Ink> inks;
    };

    std::vector<std::size_t> widths() const;
    /// Which columns fit.
    std::vector<std::size_t> shown(const std::vector<std::size_t>& widths, const TextStyle& style) const;

    std::vector<Column> columns_;
    std::vector<Line> lines_;
    std::size_t last_row_ = 0;  // its first line
};

}  // namespace systole
