// SPDX-License-Identifier: Apache-2.0
// Reads result.json (and comparison.json) back for the page: whole, checked as far as the page relies on it,
// with no more layers than people can look at.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/report/run_data.h"

namespace systole::report {

struct ReadResults {
    std::vector<RunData> runs;
    std::vector<ComparisonData> comparisons;  ///< of a comparison.json
    std::string program;                      ///< "systole 0.1.0", that wrote them
};

/// The runs in `text`, of which `file` is the name in messages. Of a run with more than `most_layers` layers
/// those of the least time become one row, and of a comparison with more those of the least difference go.
/// Throws UserError: not JSON (with line and column), cut off, of another schema, or without what a result
/// has (with its place, "devices[0].total.cycles").
ReadResults read_results(const std::string& text, const std::string& file, std::size_t most_layers);

}  // namespace systole::report
