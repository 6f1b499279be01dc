// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/lookup.h"

#include <algorithm>
#include <vector>

#include "models/link/transfer.h"

namespace systole::simt {
namespace {

/// Of even lookups: rows of the table between two behind each other, and how many there are before the table
/// ends.
struct Even {
    std::int64_t step, reach;
    explicit Even(const LookupRows& rows)
        : step(std::max<std::int64_t>(1, rows.rows / rows.lookups)), reach((rows.rows - 1) / step + 1) {}
};

}  // namespace

std::int64_t row_of(const LookupRows& rows, std::int64_t lookup) {
    if (rows.spread == Spread::Random) return Lookup{rows.rows, lookup}.row(0);
    const Even even(rows);
    return lookup % even.reach * even.step;
}

std::int64_t distinct_rows(const LookupRows& rows) {
    if (rows.spread == Spread::Even) return std::min(Even(rows).reach, rows.lookups);
    std::vector<bool> met(static_cast<std::size_t>(rows.rows));
    for (std::int64_t lookup = 0; lookup < rows.lookups; ++lookup)
        met[static_cast<std::size_t>(row_of(rows, lookup))] = true;
    return std::ranges::count(met, true);
}

}  // namespace systole::simt
