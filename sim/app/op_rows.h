// SPDX-License-Identifier: Apache-2.0
// Operators as rows of a table: every row is one operator on a fresh machine, and its answer stands behind
// the cells that asked (docs/formats.md, "op --csv").
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/app/load_device.h"
#include "sim/base/csv.h"
#include "sim/base/error.h"

namespace systole::app {

using OperatorKeys = std::map<std::string, std::string>;

/// The graph of one operator; without `dtype` among its keys it is bf16, where the device has it. `where`
/// names the question in messages, `places` its keys. Throws UserError.
Graph operator_graph(const LoadedDevice& device, const std::string& op, OperatorKeys keys,
                     const SourceMark& where, const std::map<std::string, SourceMark>& places = {});
/// Runs that graph. Throws UserError.
RunOutcome run_operator(const LoadedDevice& device, const std::string& op, OperatorKeys keys,
                        const SourceMark& where, const RunOptions& options);

/// The names of the columns that an answer adds, with one for each counter that was asked for.
std::vector<std::string> answer_columns(const std::vector<std::string>& counters);
/// Their cells; a counter is summed over all components that have it. Throws UserError for one that none has.
std::vector<std::string> answer_cells(const DeviceResult& result, const std::vector<std::string>& counters,
                                      const SourceMark& where);

struct OpTable {
    std::string text;          ///< the whole answer, as CSV
    std::size_t bad_rows = 0;  ///< rows whose `error` is filled
};

/// Answers every row of a table whose first row is its header. Throws UserError for a table that has no
/// header, no column `op`, a column twice, or one of the answer's columns.
OpTable answer_rows(const LoadedDevice& device, const std::vector<CsvRow>& rows, const std::string& file,
                    const std::vector<std::string>& counters, const RunOptions& options);

}  // namespace systole::app
