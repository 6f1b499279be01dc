// SPDX-License-Identifier: Apache-2.0
// Rows of a table by indices. Which rows is data that nobody gives: they are spread over the table as
// sim/workload's Spread says, the same rows as on every other device.
#pragma once

#include <compare>
#include <cstdint>

#include "sim/workload/operators.h"

namespace systole::simt {

struct LookupRows {
    std::int64_t rows = 1, width = 1;   ///< of the table
    std::int64_t lookups = 1, bag = 1;  ///< `bag` rows are summed into one; divides lookups
    Spread spread = Spread::Even;
    friend auto operator<=>(const LookupRows&, const LookupRows&) = default;
};

/// Of the table, that lookup number `lookup` meets.
std::int64_t row_of(const LookupRows& rows, std::int64_t lookup);

/// Rows of the table that are met at all.
std::int64_t distinct_rows(const LookupRows& rows);

}  // namespace systole::simt
