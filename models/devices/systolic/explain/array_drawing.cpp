// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "models/devices/systolic/explain/drawing.h"

namespace systole::systolic {
namespace {

/// 0 … extent-1, or the first two and the last of a long side, with kGap between them.
constexpr int kGap = -1;
std::vector<int> shown(int extent) {
    std::vector<int> all;
    if (extent > kPesInFull) return {0, 1, kGap, extent - 1};
    for (int i = 0; i < extent; ++i) all.push_back(i);
    return all;
}

/// What a PE holds: the weight of (k, n), the input of (m, k) or the output of (m, n).
std::string held(Dataflow dataflow, int row, int col) {
    switch (dataflow) {
        case Dataflow::WeightStationary:
            return fmt::format("b{},{}", row, col);
        case Dataflow::OutputStationary:
            return fmt::format("out{},{}", row, col);
        case Dataflow::InputStationary:
            return fmt::format("a{},{}", col, row);
    }
    return "";
}

/// What stands at the edges, and what it means.
struct Edges {
    const char *left, *above, *stays, *from_left, *from_above, *below;
};

Edges edges(const ArraySpec& array) {
    switch (array.dataflow) {
        case Dataflow::WeightStationary:
            return {"a",
                    "b",
                    "weights b, one K x N tile, in the PEs",
                    "activations a, row m after row m, one a cycle; K down the edge",
                    "the next tile of weights, shifted in bottom row first; N across",
                    "sums: row m of out, N across, into the accumulators"};
        case Dataflow::OutputStationary:
            return {
                "a",
                "b",
                "outputs, one M x N tile, summed up in the PEs",
                "activations a, column k after column k, one a cycle; M down the edge",
                "weights b, row k after row k, one a cycle; N across",
                array.result_shift
                    ? "outputs, once all of K has passed: shifted out, bottom row first, into accumulators"
                    : "outputs, once all of K has passed: by a bus in every column, into accumulators"};
        case Dataflow::InputStationary:
            return {"b",
                    "a",
                    "activations a, one K x M tile, in the PEs",
                    "weights b, column n after column n, one a cycle; K down the edge",
                    "the next tile of activations, shifted in bottom row first; M across",
                    "sums: column n of out, M across, into the accumulators"};
    }
    return {};
}

std::string cell_text(Dataflow dataflow, int row, int col) {
    if (row == kGap) return col == kGap ? "" : ":";
    return col == kGap ? "..." : held(dataflow, row, col);
}

}  // namespace

std::string draw_array(const ArraySpec& array) {
    const std::vector<int> rows = shown(array.rows), cols = shown(array.cols);
    const Edges edge = edges(array);
    const std::size_t cell = held(array.dataflow, array.rows - 1, array.cols - 1).size() + 2;
    const std::string margin(20, ' ');
    const auto line = [&](const char* mark) {
        std::string text = margin;
        for (const int col : cols) text += fmt::format(" {:^{}}", col == kGap ? "" : mark, cell);
        text.erase(text.find_last_not_of(' ') + 1);
        return text + '\n';
    };
    std::string border = margin + '+';
    for (std::size_t i = 0; i < cols.size(); ++i) border += std::string(cell, '-') + '+';
    border += '\n';

    std::string text = line(edge.above) + line("v") + border;
    for (const int row : rows) {
        text += fmt::format("{:>19} |", row == kGap ? "" : fmt::format("{} -->", edge.left));
        for (const int col : cols) text += fmt::format("{:^{}}|", cell_text(array.dataflow, row, col), cell);
        text += '\n';
    }
    text += border + line("v") + line("out");
    for (const auto& [where, what] : {std::pair{"stays", edge.stays}, std::pair{"left", edge.from_left},
                                      std::pair{"above", edge.from_above}, std::pair{"below", edge.below}})
        text += fmt::format("   {:<6} {}\n", where, what);
    return text;
}

}  // namespace systole::systolic
