// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/scalesim_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <optional>

#include "sim/base/checked.h"
#include "sim/base/csv.h"
#include "sim/base/mistakes.h"
#include "sim/workload/importers/forgiven.h"
#include "sim/workload/importers/topology_cells.h"
#include "sim/workload/importers/trace_writer.h"

namespace systole {
namespace {

/// The largest dimension that a trace may have.
constexpr std::int64_t kLargestExtent = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMostElements = std::int64_t{1} << 56;  // of a tensor
constexpr std::int64_t kMostOfAll = std::int64_t{1} << 61;     // of bf16, for all bytes to be countable

/// A row as it was meant.
struct TopologyRow {
    std::string name;
    std::vector<std::int64_t> numbers;
    std::string sparsity = {};  ///< "2:4"; empty: dense
};

class TopologyReader {
public:
    explicit TopologyReader(const std::string& file) : file_(file), forgiven_(file) {}

    Imported read(std::string_view text) {
        const std::vector<CsvRow> rows = parse_csv(text, file_);
        if (rows.empty()) throw UserError({file_, 1, 1}, "the table is empty; expected " + kExpected);
        if (rows[0].cells.size() == 1 && rows[0].cells[0].find_first_of(";\t") != std::string::npos)
            throw UserError({file_, rows[0].line, 1}, "columns must be parted by commas");
        const bool headed = !has_numbers(rows[0]);
        products_ = headed ? names_products(rows[0]) : numbers_in(rows[0]) <= 4;
        if (!headed)
            forgiven_.add(rows[0].line, "there is no line of headings: SCALE-Sim leaves this row out");
        TraceWriter trace(std::filesystem::path(file_).stem().string(), about(),
                          products_ ? "dtype: bf16" : "batch: 1, dtype: bf16");
        for (std::size_t i = headed ? 1 : 0; i < rows.size(); ++i) write(rows[i], trace);
        if (trace.layers() == 0 && mistakes_.count() == 0)
            mistakes_.add({file_, rows.back().line, 1},
                          "no layer follows the headings; expected " + kExpected);
        mistakes_.throw_if_any();
        return {trace.str(), forgiven_.notes()};
    }

private:
    const std::string kExpected =
        "rows of a name and a convolution's height, width, kernel height and width, channels, filters and "
        "stride, or below 'Layer,M,N,K,' of a name and a product's M, N and K";

    std::vector<std::string> about() const {
        return {"Imported from the SCALE-Sim topology " +
                    trace_name(std::filesystem::path(file_).stem().string()) + ": layers by themselves,",
                "each with an input of its own."};
    }

    static std::size_t numbers_in(const CsvRow& row) {
        std::size_t count = 0;
        for (std::size_t i = 1; i < row.cells.size(); ++i)
            count += whole_numbers(trimmed(row.cells[i])).size();
        return count;
    }
    /// Headings have no cell that begins as a number does.
    static bool has_numbers(const CsvRow& row) {
        return std::any_of(row.cells.begin() + 1, row.cells.end(), [](const std::string& cell) {
            const std::string_view text = trimmed(cell);
            return !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
        });
    }
    /// "Layer,M,N,K,".
    static bool names_products(const CsvRow& headings) {
        const auto is = [&](std::size_t column, char name) {
            if (headings.cells.size() <= column) return false;
            const std::string_view cell = trimmed(headings.cells[column]);
            return cell.size() == 1 && (cell[0] | 0x20) == name;
        };
        return is(1, 'm') && is(2, 'n') && is(3, 'k');
    }

    void refuse(const CsvRow& row, const std::string& why) { mistakes_.add({file_, row.line, 1}, why); }

    /// What the cells say; nothing for a row that is refused, or that is no layer.
    std::optional<TopologyRow> meant(const CsvRow& row) {
        TopologyRow meant{std::string(trimmed(row.cells[0])), {}};
        for (std::size_t i = 1; i < row.cells.size(); ++i) {
            const std::string_view cell = trimmed(row.cells[i]);
            const std::vector<std::int64_t> numbers = whole_numbers(cell);
            if (numbers.size() > 1)
                forgiven_.add(row.line, "a comma is missing between numbers: SCALE-Sim does not load this");
            if (!numbers.empty()) {
                meant.numbers.insert(meant.numbers.end(), numbers.begin(), numbers.end());
            } else if (is_ratio(cell)) {
                meant.sparsity = cell;
            } else if (!cell.empty() && meant.numbers.size() >= least()) {
                forgiven_.add(row.line, "text behind the numbers is left out");
                break;
            } else if (!all_empty_from(row, i)) {
                refuse(row, cell.empty() ? fmt::format("column {} is empty; expected a whole number", i + 1)
                                         : fmt::format("column {}: expected a whole number, not '{}'", i + 1,
                                                       excerpt(cell)));
                return std::nullopt;
            }
        }
        if (meant.numbers.empty()) {
            forgiven_.add(row.line, "a row without numbers is no layer");
            return std::nullopt;
        }
        if (meant.numbers.size() > most()) {
            forgiven_.add(row.line, fmt::format("numbers behind the {} of a layer are left out", most()));
            meant.numbers.resize(most());
        }
        return meant;
    }

    /// "Conv1 224".
    static bool ends_in_number(std::string_view name) {
        const std::size_t blank = name.find_last_of(" \t");
        return blank != std::string_view::npos && whole_number(name.substr(blank + 1)).has_value();
    }
    std::size_t most() const { return products_ ? 4 : 8; }
    std::size_t least() const { return products_ ? 3 : 7; }
    static bool all_empty_from(const CsvRow& row, std::size_t column) {
        return std::all_of(row.cells.begin() + static_cast<std::ptrdiff_t>(column), row.cells.end(),
                           [](const std::string& cell) { return trimmed(cell).empty(); });
    }
    /// "2:4".
    static bool is_ratio(std::string_view cell) {
        const std::size_t colon = cell.find(':');
        return colon != std::string_view::npos && whole_number(cell.substr(0, colon)) &&
               whole_number(cell.substr(colon + 1));
    }

    void write(const CsvRow& row, TraceWriter& trace) {
        std::optional<TopologyRow> layer = meant(row);
        if (!layer) return;
        std::vector<std::int64_t>& numbers = layer->numbers;
        if (numbers.size() + 1 == least() && ends_in_number(layer->name))
            return refuse(row,
                          fmt::format("'{}' ends in a number, and one is missing: a comma between them, or "
                                      "the last number",
                                      excerpt(layer->name)));
        if (!products_ && numbers.size() == 6) {
            forgiven_.add(row.line, "there is no stride; 1 is taken");
            numbers.push_back(1);
        }
        if (numbers.size() < least())
            return refuse(row, fmt::format("'{}' has {} number{}; expected {}", excerpt(layer->name),
                                           numbers.size(), numbers.size() == 1 ? "" : "s", kExpected));
        if (row.cells.size() <= most() + 1 && whole_numbers(trimmed(row.cells.back())).size() == 1)
            forgiven_.add(row.line, "there is no comma behind the last number: SCALE-Sim drops that number");
        for (const std::int64_t number : numbers)
            if (number < 1 || number > kLargestExtent)
                return refuse(row, fmt::format("'{}': {} is no extent; expected 1 to {}",
                                               excerpt(layer->name), number, kLargestExtent));
        products_ ? write_product(row, *layer, trace) : write_convolution(row, *layer, trace);
    }

    /// Keys of weights of which not all are there; nothing for a ratio that cannot be.
    std::optional<std::string> sparsity(const CsvRow& row, const TopologyRow& layer, std::int64_t along_k) {
        if (layer.sparsity.empty()) return "";
        const std::string_view text = layer.sparsity;
        const std::size_t colon = text.find(':');
        const std::int64_t kept = whole_number(text.substr(0, colon)).value_or(0),
                           of = whole_number(text.substr(colon + 1)).value_or(0);
        if (kept == of && kept >= 1) return "";
        const bool pattern = of <= 9 || of == 16;  // those that a trace has
        if (pattern && kept >= 1 && kept < of && along_k % of == 0)
            return fmt::format(", sparsity: \"{}:{}\"", kept, of);
        refuse(row,
               fmt::format(
                   "'{}': a trace cannot say that of every {} weights along a K of {} only {} are stored",
                   excerpt(layer.name), of, along_k, kept));
        return std::nullopt;
    }

    /// Of tensors, and of all work so far, what a trace may have; refuses the row.
    bool too_large(const CsvRow& row, const TopologyRow& layer,
                   std::initializer_list<std::initializer_list<std::int64_t>> tensors,
                   std::initializer_list<std::int64_t> work) {
        const auto product = [](std::initializer_list<std::int64_t> extents) {
            std::optional<std::int64_t> all = 1;
            for (const std::int64_t extent : extents) all = all ? checked_mul(*all, extent) : all;
            return all;
        };
        std::optional<std::int64_t> elements = elements_;
        for (const auto& tensor : tensors) {
            const std::int64_t more = product(tensor).value_or(kMostElements);
            elements = elements && more < kMostElements ? checked_add(*elements, more) : std::nullopt;
        }
        const bool fits = elements && *elements < kMostOfAll;
        const auto more = product(work);
        const auto all = more ? checked_add(macs_, *more) : more;
        if (fits && all) {
            elements_ = *elements;
            macs_ = *all;
        } else {
            refuse(row,
                   fmt::format("'{}': more elements than 2^56, or, with the layers before, than 2^61, or "
                               "multiply-accumulates than 2^63",
                               excerpt(layer.name)));
        }
        return !fits || !all;
    }

    void write_product(const CsvRow& row, const TopologyRow& layer, TraceWriter& trace) {
        const std::int64_t m = layer.numbers[0], n = layer.numbers[1], k = layer.numbers[2];
        const std::int64_t batch = layer.numbers.size() > 3 ? layer.numbers[3] : 1;
        if (too_large(row, layer, {{batch, m, k}, {batch, n, k}, {batch, m, n}}, {batch, m, n, k})) return;
        const auto sparse = sparsity(row, layer, k);
        if (!sparse) return;
        const std::string name = trace.name(layer.name), in = trace.name(name + "_in");
        const auto text = [](std::int64_t value) { return fmt::format("{}", value); };
        if (batch == 1) {
            trace.input(in, {text(m), text(k)}, "dtype");
            trace.layer(name, fmt::format("op: matmul, in: {}, n: {}{}", in, n, *sparse));
        } else if (sparse->empty()) {
            const std::string other = trace.name(name + "_by");
            trace.input(in, {text(batch), text(m), text(k)}, "dtype");
            trace.input(other, {text(batch), text(k), text(n)}, "dtype");
            trace.layer(name, fmt::format("op: batched_matmul, in: [{}, {}]", in, other));
        } else {
            return refuse(row,
                          fmt::format("'{}': products of two activations have no stored weights to be sparse",
                                      excerpt(layer.name)));
        }
        trace.output(name);
    }

    void write_convolution(const CsvRow& row, const TopologyRow& layer, TraceWriter& trace) {
        const std::vector<std::int64_t>& v = layer.numbers;
        const std::int64_t h = v[0], w = v[1], r = v[2], s = v[3], c = v[4], filters = v[5], stride = v[6];
        if (r > h || s > w)
            return refuse(row, fmt::format("'{}': a kernel of {} x {} is larger than its input of {} x {}",
                                           excerpt(layer.name), r, s, h, w));
        if (v.size() > 7 && v[7] != stride)
            return refuse(row, fmt::format("'{}': strides of {} and {}; a layer has one for both directions",
                                           excerpt(layer.name), stride, v[7]));
        // So the tool takes it: a filter for each channel of a layer whose name says so.
        const bool depthwise = layer.name.find("DP") != std::string::npos;
        if (!depthwise && filters == 1 && c > 1 && means_channel_by_channel(layer.name))
            forgiven_.add(row.line,
                          "sounds as if it took channel by channel; it is taken as SCALE-Sim does, as one "
                          "filter over all channels ('DP' in a name says otherwise)",
                          layer.name);
        if (depthwise && filters > kLargestExtent / c)
            return refuse(row, fmt::format("'{}': {} channels of {} filters are too many",
                                           excerpt(layer.name), c, filters));
        const std::int64_t p = (h - r + stride - 1) / stride + 1, q = (w - s + stride - 1) / stride + 1;
        const std::int64_t out = depthwise ? c * filters : filters, deep = depthwise ? 1 : c;
        if (too_large(row, layer, {{h, w, c}, {r, s, deep, out}, {p, q, out}}, {p, q, r, s, deep, out}))
            return;
        const auto sparse = sparsity(row, layer, deep);
        if (!sparse) return;
        const std::string name = trace.name(layer.name), in = trace.name(name + "_in");
        trace.input(in, {"batch", fmt::format("{}", h), fmt::format("{}", w), fmt::format("{}", c)}, "dtype");
        const std::string kernel = r == s ? fmt::format("{}", r) : fmt::format("[{}, {}]", r, s);
        std::string keys = fmt::format("op: conv2d, in: {}, filters: {}, kernel: {}", in, out, kernel);
        if (stride > 1) keys += fmt::format(", stride: {}", stride);
        if (depthwise) keys += fmt::format(", groups: {}", c);
        if ((h - r) % stride != 0 || (w - s) % stride != 0) keys += ", round_up: true";
        trace.layer(name, keys + *sparse);
        trace.output(name);
    }

    static bool means_channel_by_channel(const std::string& name) {
        std::string lower = name;
        for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
        return std::ranges::any_of(
            std::initializer_list<std::string_view>{"depthwise", "dw", "pool"},
            [&](std::string_view word) { return lower.find(word) != std::string::npos; });
    }

    const std::string file_;
    Forgiven forgiven_;
    Mistakes mistakes_;
    bool products_ = false;
    // Of the layers so far, for one item of the batch.
    std::int64_t macs_ = 0, elements_ = 0;
};

}  // namespace

Imported import_scalesim_topology(std::string_view text, const std::string& file) {
    return TopologyReader(file).read(text);
}

}  // namespace systole
