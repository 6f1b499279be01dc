// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN.
#include "sim/workload/importers/network/recurrent.h"

#include <fmt/format.h>

#include "sim/workload/importers/network/movements.h"
#include "sim/workload/importers/onnx/ops.h"

namespace systole {
namespace {

struct Directions {
    std::vector<Recurred> all;
    std::int64_t steps = 0, batch = 0, hidden = 0;
};

void expect_usual(Node& node, Cell cell) {
    if (node.has(4)) throw Unsayable("its sequences have lengths of their own");
    if (node.has(7)) throw Unsayable("its gates see the cell state (peepholes)");
    if (node.has_attribute("clip") || node.integer("input_forget", 0) != 0)
        throw Unsayable("it clips, or joins gates");
    const onnx::AttributeProto* const functions = node.attribute("activations");
    static const std::vector<std::vector<std::string>> usual{
        {"Sigmoid", "Tanh", "Tanh"}, {"Sigmoid", "Tanh"}, {"Tanh"}};
    const std::vector<std::string>& expected = usual[static_cast<std::size_t>(cell)];
    if (functions == nullptr) return;
    for (int i = 0; i < functions->strings_size(); ++i)
        if (functions->strings(i) != expected[static_cast<std::size_t>(i) % expected.size()])
            throw Unsayable(fmt::format("its gates have other functions than {}", expected[0]));
}

/// Of one direction of [directions, batch, hidden], or batch first.
std::optional<Value> first_state(Node& node, std::size_t input, std::int64_t direction, std::size_t axis,
                                 const Shape& expected) {
    if (!node.has(input)) return std::nullopt;
    if (node.shape(input) != expected)
        throw Unsayable(
            fmt::format("its first state is {}, not {}", to_string(node.shape(input)), to_string(expected)));
    Network& network = node.network();
    const Value part = slice(network, node.name() + "_first", node.value(input), axis, direction, 1);
    Shape shape = network.shape(part);
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    return network.reshape(part, shape);
}

Directions recur_all(Node& node, Cell cell, bool batch_first) {
    Network& network = node.network();
    Value x = node.value(0);
    if (network.shape(x).size() != 3) throw Unsayable("its input is no [steps, batch, width]");
    if (batch_first) x = network.transpose(x, {1, 0, 2});
    const Shape weights = node.shape(2);  // [directions, gates * hidden, hidden]
    if (weights.size() != 3 || !node.is_stored(1) || !node.is_stored(2))
        throw Unsayable("its weights are not stored");
    const std::string direction = node.text("direction", "forward");
    const std::int64_t count = direction == "bidirectional" ? 2 : 1;
    if (weights[0] != count) throw Unsayable("its weights are of another number of directions");
    Directions result{{}, network.shape(x)[0], network.shape(x)[1], weights[2]};
    const Shape state =
        batch_first ? Shape{result.batch, count, result.hidden} : Shape{count, result.batch, result.hidden};
    for (std::int64_t i = 0; i < count; ++i) {
        Recurrence how{cell, weights[2], node.has(3), i == 1 || direction == "reverse", node.is_read(0)};
        const std::string name =
            count == 1 ? node.name() : fmt::format("{}_{}", node.name(), i == 0 ? "ahead" : "back");
        const std::size_t axis = batch_first ? 1 : 0;
        const auto h = first_state(node, 5, i, axis, state),
                   c = cell == Cell::Lstm ? first_state(node, 6, i, axis, state) : std::nullopt;
        result.all.push_back(recur(network, name, x, how, h, c));
    }
    return result;
}

/// [directions, batch, hidden], or batch first.
void put_last(Node& node, std::size_t output, const Directions& done, bool cell_state, bool batch_first) {
    if (!node.is_read(output)) return;
    Network& network = node.network();
    std::vector<Value> parts;
    for (const Recurred& each : done.all)
        parts.push_back(network.reshape(cell_state ? *each.c : *each.h, {1, done.batch, done.hidden}));
    const Value all = concat(network, node.name() + (cell_state ? "_last_c" : "_last_h"), parts, 0);
    node.put(output, batch_first ? network.transpose(all, {1, 0, 2}) : all);
}

}  // namespace

void map_recurrent(Node& node) {
    const Cell cell = node.op() == "LSTM" ? Cell::Lstm : node.op() == "GRU" ? Cell::Gru : Cell::Simple;
    expect_usual(node, cell);
    const bool batch_first = node.integer("layout", 0) != 0;
    const Directions done = recur_all(node, cell, batch_first);
    Network& network = node.network();
    if (cell == Cell::Gru && node.integer("linear_before_reset", 0) == 0)
        network.note(fmt::format(
            "'{}': the state is multiplied by its reset gate behind the product, not before it: a "
            "gru_cell of a trace does so",
            node.name()));
    if (node.is_read(0)) {
        std::vector<Value> parts;
        for (const Recurred& each : done.all)
            parts.push_back(network.reshape(*each.steps, {done.steps, 1, done.batch, done.hidden}));
        const Value all = concat(network, node.name() + "_all", parts, 1);
        node.put(0, batch_first ? network.transpose(all, {2, 0, 1, 3}) : all);
    }
    put_last(node, 1, done, false, batch_first);
    if (cell == Cell::Lstm) put_last(node, 2, done, true, batch_first);
}

}  // namespace systole
