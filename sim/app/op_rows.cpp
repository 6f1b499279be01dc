// SPDX-License-Identifier: Apache-2.0
#include "sim/app/op_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "sim/app/terminal.h"

namespace systole::app {
namespace {

std::string supported_names(const Device& device) {
    std::string names;
    for (const std::string& name : dtype_names())
        if (device.supports(*parse_dtype(name))) names += (names.empty() ? "" : ", ") + name;
    return names;
}

std::int64_t sum_of(const DeviceResult& result, const std::string& counter, const SourceMark& where) {
    std::int64_t sum = 0;
    std::vector<std::string> names;
    for (const Stat& stat : result.stats) {
        if (std::find(names.begin(), names.end(), stat.name) == names.end()) names.push_back(stat.name);
        if (stat.name == counter) sum += stat.value;
    }
    if (std::find(names.begin(), names.end(), counter) == names.end())
        throw UserError(where, fmt::format("no component has a counter '{}'{}; there are: {}", counter,
                                           did_you_mean(counter, names), fmt::join(names, ", ")));
    return sum;
}

SourceMark place_of(const CsvRow& row, std::size_t cell, const std::string& file) {
    return {file, row.places.at(cell).line, row.places.at(cell).column};
}

std::vector<std::string> check_header(const std::vector<CsvRow>& rows, const std::string& file,
                                      const std::vector<std::string>& answers) {
    if (rows.empty())
        throw UserError(SourceMark{file, 0, 0},
                        "the table is empty; expected a header such as op,dtype,m,n,k");
    const std::vector<std::string>& header = rows[0].cells;
    std::vector<Diagnostic> mistakes;
    const auto complain = [&](std::size_t cell, const std::string& message) {
        mistakes.push_back({place_of(rows[0], cell, file), message});
    };
    std::set<std::string> seen;
    for (std::size_t i = 0; i < header.size(); ++i) {
        const std::string& column = header[i];
        if (!seen.insert(column).second) complain(i, fmt::format("column '{}' is there twice", column));
        if (std::find(answers.begin(), answers.end(), column) != answers.end())
            complain(i, fmt::format("column '{}' is one of the answer's; remove it", column));
    }
    if (!seen.contains("op"))
        complain(0, "there is no column 'op'; expected a header such as op,dtype,m,n,k");
    if (!mistakes.empty()) throw UserError(std::move(mistakes));
    return header;
}

DeviceResult answer_row(const LoadedDevice& device, const std::vector<std::string>& header, const CsvRow& row,
                        const std::string& file, const RunOptions& options) {
    const SourceMark where{file, row.line, 1};
    if (row.cells.size() != header.size())
        throw UserError(where,
                        fmt::format("the row has {} cells, the header {}", row.cells.size(), header.size()));
    OperatorKeys keys;
    std::map<std::string, SourceMark> places;
    std::string op;
    for (std::size_t i = 0; i < header.size(); ++i) {
        places.emplace(header[i], place_of(row, i, file));
        if (header[i] == "op")
            op = row.cells[i];
        else if (!row.cells[i].empty())
            keys[header[i]] = row.cells[i];
    }
    return device.run(operator_graph(device, op, std::move(keys), where, places), options).result;
}

/// All mistakes in one line; those that have no place are of the row.
std::string in_one_line(const UserError& error, const SourceMark& row) {
    std::string text;
    for (const Diagnostic& diagnostic : error.diagnostics()) {
        const SourceMark& where = diagnostic.where.file.empty() ? row : diagnostic.where;
        text += (text.empty() ? "" : "; ") + to_string(Diagnostic{where, diagnostic.message});
    }
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

}  // namespace

Graph operator_graph(const LoadedDevice& device, const std::string& op, OperatorKeys keys,
                     const SourceMark& where, const std::map<std::string, SourceMark>& places) {
    const bool says_all_types = keys.contains("dtype_a") && keys.contains("dtype_b");
    if (keys["dtype"].empty() && !says_all_types) {
        if (!device.device->supports(DType::Bf16))
            throw UserError(where, fmt::format("dtype is missing, and {} has no bf16, the default; it has {}",
                                               device.name, supported_names(*device.device)));
    }
    for (const auto& [key, value] : device.device->operator_defaults(op))
        if (keys[key].empty()) keys[key] = value;
    return single_operator(op, keys, where, places);
}

RunOutcome run_operator(const LoadedDevice& device, const std::string& op, OperatorKeys keys,
                        const SourceMark& where, const RunOptions& options) {
    return device.run(operator_graph(device, op, std::move(keys), where), options);
}

std::vector<std::string> answer_columns(const std::vector<std::string>& counters) {
    std::vector<std::string> columns{"cycles",          "compute_cycles", "time_ns", "utilization",
                                     "utilization_pct", "bound_by",       "fidelity"};
    columns.insert(columns.end(), counters.begin(), counters.end());
    columns.emplace_back("error");
    return columns;
}

std::vector<std::string> answer_cells(const DeviceResult& result, const std::vector<std::string>& counters,
                                      const SourceMark& where) {
    const ResultRow& total = result.total;
    std::vector<std::string> cells{fmt::format("{}", total.cycles.value()),
                                   fmt::format("{}", total.compute_cycles()),
                                   fmt::format("{}", static_cast<double>(total.time().value()) / 1000),
                                   fmt::format("{}", total.utilization()),
                                   fmt::format("{}", 100 * total.utilization()),
                                   total.bound_by,
                                   std::string(to_string(result.fidelity))};
    for (const std::string& counter : counters)
        cells.push_back(fmt::format("{}", sum_of(result, counter, where)));
    cells.emplace_back("");
    return cells;
}

OpTable answer_rows(const LoadedDevice& device, const std::vector<CsvRow>& rows, const std::string& file,
                    const std::vector<std::string>& counters, const RunOptions& options) {
    const std::vector<std::string> answers = answer_columns(counters);
    const std::vector<std::string> header = check_header(rows, file, answers);
    Progress progress("running operators");
    OpTable table;
    const auto add_line = [&](std::vector<std::string> cells, const std::vector<std::string>& more) {
        cells.resize(header.size());
        cells.insert(cells.end(), more.begin(), more.end());
        table.text += csv_line(cells);
    };
    add_line(header, answers);
    for (std::size_t i = 1; i < rows.size(); ++i) {
        progress.update(fmt::format("{}: row {} of {}", file, i, rows.size() - 1));
        try {
            const DeviceResult result = answer_row(device, header, rows[i], file, options);
            add_line(rows[i].cells, answer_cells(result, counters, {file, rows[i].line, 1}));
        } catch (const UserError& error) {
            std::vector<std::string> cells(answers.size());
            cells.back() = in_one_line(error, {file, rows[i].line, 1});
            add_line(rows[i].cells, cells);
            ++table.bad_rows;
        }
    }
    return table;
}

}  // namespace systole::app
