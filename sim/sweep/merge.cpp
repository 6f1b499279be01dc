// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "sim/base/check.h"
#include "sim/base/csv.h"
#include "sim/config/quantity.h"
#include "sim/sweep/formula.h"
#include "sim/sweep/pareto.h"

namespace systole::sweep {
namespace {

class Merger {
public:
    Merger(const Folder& folder, const Experiment& experiment, const Simulator& simulator)
        : folder_(folder), experiment_(experiment), simulator_(simulator), failures_(folder.failures()) {}

    MergedTable merge() {
        name_columns();
        for (std::size_t i = 0; i < folder_.manifest().size(); ++i) add(i);
        find_front();
        find_numbers();
        return std::move(table_);
    }

private:
    void name_columns() {
        const auto column = [&](const std::string& name) { table_.columns.push_back({name}); };
        for (const char* name : {"id", "device", "trace"}) column(name);
        for (const std::string& name : folder_.manifest().columns()) column(name);
        first_figure_ = table_.columns.size() + 2;
        for (const char* name : {"status", "error"}) column(name);
        for (const MetricKind& metric : simulator_.metrics) column(metric.name);
        for (const Objective& objective : experiment_.objectives)
            if (table_.column(objective.name) == table_.columns.size()) column(objective.name);
        column("pareto");
        for (std::size_t i = 0; i < table_.columns.size(); ++i) places_.emplace(table_.columns[i].name, i);
    }

    void add(std::size_t number) {
        const Point point = folder_.manifest().point(number);
        std::vector<std::string> row{point.id, point.device, point.trace};
        row.insert(row.end(), point.values.begin(), point.values.end());
        row.resize(table_.columns.size());
        const Outcome outcome = outcome_of(folder_, failures_, point.id);
        row[first_figure_ - 2] = to_string(outcome.status);
        row[first_figure_ - 1] = outcome.error;
        // By name: another version of the program has other figures, and another folder.
        for (const Metric& figure : outcome.figures)
            if (const auto place = places_.find(figure.name); place != places_.end())
                row[place->second] = figure.value;
        table_.tally.add(outcome);
        table_.rows.push_back(std::move(row));
    }

    /// The value of a formula's name in a row: of a figure, a derived value, or a key, of its device or of
    /// all.
    std::optional<double> number(const std::vector<std::string>& row, const std::string& name) const {
        for (const std::string& key : {name, row[1] + ':' + name})
            if (const auto place = places_.find(key); place != places_.end() && !row[place->second].empty())
                return number_of(row[place->second]);
        return {};
    }

    void find_front() {
        std::vector<std::vector<double>> costs;
        std::vector<std::size_t> compared;
        for (std::size_t i = 0; i < table_.rows.size(); ++i) {
            std::vector<double> cost;
            for (const Objective& objective : experiment_.objectives)
                if (const auto value = objective_of(table_.rows[i], objective))
                    cost.push_back(is_maximized(objective, simulator_) ? -*value : *value);
            if (experiment_.objectives.empty() || cost.size() < experiment_.objectives.size()) continue;
            costs.push_back(std::move(cost));
            compared.push_back(i);
        }
        const std::vector<bool> on_front = pareto_front(costs);
        std::vector<std::size_t> best;
        for (std::size_t i = 0; i < compared.size(); ++i) {
            table_.rows[compared[i]].back() = on_front[i] ? "1" : "0";
            if (on_front[i]) best.push_back(i);
        }
        std::stable_sort(best.begin(), best.end(),
                         [&](std::size_t a, std::size_t b) { return costs[a] < costs[b]; });
        for (const std::size_t i : best) table_.front.push_back(compared[i]);
    }

    /// Nothing: the point did not run, or a figure that it is made of has no value for it.
    std::optional<double> objective_of(std::vector<std::string>& row, const Objective& objective) const {
        if (row[first_figure_ - 2] != "done") return {};
        for (const std::string& name : objective.formula.names())
            if (!number(row, name)) return {};
        try {
            const double value =
                objective.formula.evaluate([&](const std::string& name) { return number(row, name); });
            std::string& cell = row[places_.at(objective.name)];
            if (cell.empty()) cell = config::format_number(value);
            return value;
        } catch (const UserError&) {
            return {};  // divided by nothing: not comparable
        }
    }

    void find_numbers() {
        for (std::size_t i = 0; i < table_.columns.size(); ++i) {
            const bool is_text = i < 3 || i + 2 == first_figure_ || i + 1 == first_figure_;
            table_.columns[i].is_number =
                !is_text && std::all_of(table_.rows.begin(), table_.rows.end(), [&](const auto& row) {
                    return row[i].empty() || config::parse_number(row[i], -1e300, 1e300).value;
                });
        }
    }

    const Folder& folder_;
    const Experiment& experiment_;
    const Simulator& simulator_;
    const std::map<std::string, std::string> failures_;
    MergedTable table_;
    std::size_t first_figure_ = 0;
    std::unordered_map<std::string, std::size_t> places_;
};

std::vector<std::string> header(const MergedTable& table) {
    std::vector<std::string> names;
    for (const MergedColumn& column : table.columns) names.push_back(column.name);
    return names;
}

}  // namespace

std::size_t MergedTable::column(const std::string& name) const {
    return static_cast<std::size_t>(
        std::find_if(columns.begin(), columns.end(),
                     [&](const MergedColumn& each) { return each.name == name; }) -
        columns.begin());
}

bool is_maximized(const Objective& objective, const Simulator& simulator) {
    if (objective.maximize) return *objective.maximize;
    const auto metric = std::find_if(simulator.metrics.begin(), simulator.metrics.end(),
                                     [&](const MetricKind& each) { return each.name == objective.name; });
    return metric != simulator.metrics.end() && metric->more_is_better;
}

MergedTable merge(const Folder& folder, const Experiment& experiment, const Simulator& simulator) {
    return Merger(folder, experiment, simulator).merge();
}

std::string to_csv(const MergedTable& table) {
    std::string text = csv_line(header(table));
    for (const std::vector<std::string>& row : table.rows) text += csv_line(row);
    return text;
}

std::string front_csv(const MergedTable& table) {
    std::string text = csv_line(header(table));
    for (const std::size_t row : table.front) text += csv_line(table.rows[row]);
    return text;
}

}  // namespace systole::sweep
