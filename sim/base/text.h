// SPDX-License-Identifier: Apache-2.0
// Numbers and tables as people read them: thousands separators, SI units, aligned columns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/units.h"

namespace systole {

/// 1234567 -> "1,234,567".
std::string with_thousands(std::int64_t value);
/// A time with a fitting unit and four significant digits: "81.32 us".
std::string format_time(Ticks time);
/// A byte count with a decimal unit and four significant digits: "51.28 MB"; below 1000: "812 B".
std::string format_bytes(Bytes bytes);
/// An energy with a fitting unit and four significant digits: "12.30 mJ".
std::string format_energy(Femtojoules energy);
/// 0.4567 -> "45.7" (percent, one decimal).
std::string format_percent(double fraction);

/// A plain-text table with one header row; text columns are left-, number columns right-aligned.
class TextTable {
public:
    enum class Align { Left, Right };
    /// Adds a column; rows then carry one cell for each. Cells wider than `most` go on in further lines,
    /// broken at blanks.
    void column(std::string header, Align align, std::size_t most = std::string::npos);
    void row(std::vector<std::string> cells);
    /// A line of dashes before the next row (totals).
    void rule();
    std::string str() const;

private:
    struct Column {
        std::string header;
        Align align;
        std::size_t most;
    };
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;  // lines of rows; an empty one is a rule
};

}  // namespace systole
