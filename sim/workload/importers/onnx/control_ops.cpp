// SPDX-License-Identifier: Apache-2.0
// Graphs inside nodes: branches, loops, functions.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "sim/base/error.h"
#include "sim/base/utf8.h"
#include "sim/workload/importers/network/movements.h"
#include "sim/workload/importers/onnx/infer.h"
#include "sim/workload/importers/onnx/ops.h"

namespace systole {
namespace {

constexpr std::int64_t kMostTurns = 10'000;

const onnx::GraphProto& graph_of(Node& node, const char* key) {
    const onnx::AttributeProto* const attribute = node.attribute(key);
    if (attribute == nullptr || !attribute->has_g())
        throw Unsayable(fmt::format("it has no graph '{}'", key));
    return attribute->g();
}

/// "3 nodes (2 Conv, 1 Relu)".
std::string contents(const onnx::GraphProto& graph) {
    std::map<std::string, int> counts;
    for (const onnx::NodeProto& node : graph.node()) ++counts[printable(excerpt(node.op_type()))];
    std::vector<std::string> parts;
    for (const auto& [op, count] : counts) parts.push_back(fmt::format("{} {}", count, op));
    if (parts.size() > 8) parts.resize(8), parts.emplace_back("…");
    return fmt::format("{} node{} ({})", graph.node_size(), graph.node_size() == 1 ? "" : "s",
                       fmt::join(parts, ", "));
}

Held held_of(const std::string& name, OnnxScope& scope, Translator& translator) {
    Held* const found = scope.find(name);
    if (found == nullptr)
        throw Unsayable(fmt::format("its graph does not make '{}'", printable(excerpt(name))));
    if (found->source == Held::Source::Input) translator.value_of(*found);  // one input, whatever its names
    return *found;
}

/// For another name: what becomes a tensor of the trace does so once, whatever its names.
Held shared(Node& node, std::size_t input) {
    Held& held = node.held(input);
    const bool outside = held.source == Held::Source::Input,
               stored = held.source == Held::Source::Stored && !held.constant && dtype_of(held.type) &&
                        std::ranges::none_of(held.shape, [](std::int64_t extent) { return extent < 1; });
    if (!held.value && (outside || stored)) node.translator().value_of(held);
    return held;
}

void open_graph(Node& node, const onnx::GraphProto& graph, OnnxScope& scope) {
    node.translator().add_initializers(graph, scope);
    node.translator().add_known_shapes(graph);
}

Held numbers_held(std::int64_t number, int type) {
    Held held{"", Held::Source::Stored, {}, type};
    held.constant = whole_numbers({}, {number});
    return held;
}

/// Whether a condition is known to hold.
bool holds(const Held& held) {
    return held.constant && held.constant->size() == 1 && held.constant->number(0) != 0;
}

/// What turns of a loop leave behind, side by side along a new axis.
class Stacks {
public:
    Stacks(Node& node, std::size_t count) : node_(node), parts_(count) {}

    void add(std::size_t i, Held held, std::size_t axis) {
        Network& network = node_.network();
        const Value value = node_.translator().value_of(held);
        Shape shape = network.shape(value);
        if (axis > shape.size()) throw Unsayable("an axis that its outputs do not have");
        shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
        parts_[i].push_back(network.reshape(value, shape));
    }
    void put(std::size_t i, std::size_t output, std::size_t axis, bool backwards) {
        if (parts_[i].empty()) throw Unsayable("no turn makes its outputs");
        if (backwards) std::reverse(parts_[i].begin(), parts_[i].end());
        node_.put(output, concat(node_.network(), node_.name(), parts_[i], axis));
    }

private:
    Node& node_;
    std::vector<std::vector<Value>> parts_;
};

}  // namespace

void map_if(Node& node) {
    const onnx::GraphProto &then = graph_of(node, "then_branch"), &other = graph_of(node, "else_branch");
    const onnx::NodeProto& proto = node.proto();
    const std::string name = !proto.name().empty()     ? proto.name()
                             : proto.output_size() > 0 ? proto.output(0)
                                                       : "";
    const Constant* const condition = node.constant(0);
    bool yes = condition != nullptr && condition->size() == 1 && condition->number(0) != 0;
    if (condition == nullptr) {
        node.translator().used_branch(name);
        const auto& choices = node.translator().choices().branches;
        const auto chosen = choices.find(name);
        if (chosen == choices.end())
            throw Unsayable(
                fmt::format("its condition is not known before the network runs; then: {}; else: {}; "
                            "choose with --branch '{}=then' or '=else'",
                            contents(then), contents(other), printable(excerpt(name))));
        yes = chosen->second == "then";
    }
    const onnx::GraphProto& graph = yes ? then : other;
    OnnxScope inner{&node.scope()};
    open_graph(node, graph, inner);
    node.translator().walk(node.translator().ordered(graph.node()), inner);
    for (std::size_t i = 0; i < node.outputs() && static_cast<int>(i) < graph.output_size(); ++i)
        node.put_held(i, held_of(graph.output(static_cast<int>(i)).name(), inner, node.translator()));
}

void map_loop(Node& node) {
    const onnx::GraphProto& body = graph_of(node, "body");
    const Constant* const trips = node.has(0) ? node.constant(0) : nullptr;
    if (trips == nullptr || trips->size() != 1 || trips->real)
        throw Unsayable(fmt::format("how often it turns is not known before the network runs; its body: {}",
                                    contents(body)));
    const std::int64_t turns = trips->whole[0];
    const bool stops = node.has(1) && (node.constant(1) == nullptr || node.constant(1)->size() != 1);
    if (stops) throw Unsayable("whether it begins is not known before the network runs");
    if (turns < 1 || turns > kMostTurns || (node.has(1) && !holds(node.held(1))))
        throw Unsayable(
            fmt::format("it turns {} times; a trace writes out 1 to {} turns", turns, kMostTurns));
    const std::size_t states = node.inputs() > 2 ? node.inputs() - 2 : 0;
    if (body.input_size() != static_cast<int>(states) + 2 ||
        body.output_size() < static_cast<int>(states) + 1)
        throw Unsayable("its body has other inputs or outputs than it");
    std::vector<Held> state;
    for (std::size_t i = 0; i < states; ++i) state.push_back(shared(node, i + 2));
    const std::size_t scans = static_cast<std::size_t>(body.output_size()) - 1 - states;
    Stacks stacks(node, scans);
    OnnxScope fixed{&node.scope()};  // of all turns
    open_graph(node, body, fixed);
    const std::vector<const onnx::NodeProto*> nodes = node.translator().ordered(body.node());
    for (std::int64_t turn = 0; turn < turns; ++turn) {
        node.translator().count_turn();
        OnnxScope inner{&fixed};
        inner.names[body.input(0).name()] = numbers_held(turn, onnx::TensorProto::INT64);
        inner.names[body.input(1).name()] = numbers_held(1, onnx::TensorProto::BOOL);
        for (std::size_t i = 0; i < states; ++i)
            inner.names[body.input(static_cast<int>(i) + 2).name()] = state[i];
        node.translator().walk(nodes, inner);
        const Held go_on = held_of(body.output(0).name(), inner, node.translator());
        if (!go_on.constant) throw Unsayable("whether it goes on is not known before the network runs");
        for (std::size_t i = 0; i < states; ++i)
            state[i] = held_of(body.output(static_cast<int>(i) + 1).name(), inner, node.translator());
        for (std::size_t i = 0; i < scans; ++i)
            stacks.add(
                i, held_of(body.output(static_cast<int>(states + i) + 1).name(), inner, node.translator()),
                0);
        if (!holds(go_on)) break;
    }
    for (std::size_t i = 0; i < states; ++i) node.put_held(i, state[i]);
    for (std::size_t i = 0; i < scans; ++i) stacks.put(i, states + i, 0, false);
}

void map_scan(Node& node) {
    const onnx::GraphProto& body = graph_of(node, "body");
    if (node.opset() < 9) throw Unsayable("a Scan of opset 8");
    const std::int64_t inputs = node.integer("num_scan_inputs", 0);
    if (inputs < 1 || inputs > static_cast<std::int64_t>(node.inputs()))
        throw Unsayable("it has no inputs to scan");
    const std::size_t scanned = static_cast<std::size_t>(inputs), states = node.inputs() - scanned;
    if (body.input_size() != static_cast<int>(node.inputs()) || body.output_size() < static_cast<int>(states))
        throw Unsayable("its body has other inputs or outputs than it");
    const auto axes = node.integers("scan_input_axes"), out_axes = node.integers("scan_output_axes"),
               back = node.integers("scan_input_directions"),
               out_back = node.integers("scan_output_directions");
    const auto at = [](const std::vector<std::int64_t>& list, std::size_t i) {
        return i < list.size() ? list[i] : 0;
    };
    std::vector<Held> state;
    for (std::size_t i = 0; i < states; ++i) state.push_back(shared(node, i));
    const std::size_t first_axis = Node::checked_axis(at(axes, 0), node.rank(states));
    const std::int64_t turns = node.shape(states)[first_axis];
    if (turns < 1 || turns > kMostTurns)
        throw Unsayable(
            fmt::format("it turns {} times; a trace writes out 1 to {} turns", turns, kMostTurns));
    const std::size_t scans = static_cast<std::size_t>(body.output_size()) - states;
    Stacks stacks(node, scans);
    Network& network = node.network();
    OnnxScope fixed{&node.scope()};  // of all turns
    open_graph(node, body, fixed);
    const std::vector<const onnx::NodeProto*> nodes = node.translator().ordered(body.node());
    for (std::int64_t turn = 0; turn < turns; ++turn) {
        node.translator().count_turn();
        OnnxScope inner{&fixed};
        for (std::size_t i = 0; i < states; ++i)
            inner.names[body.input(static_cast<int>(i)).name()] = state[i];
        for (std::size_t i = 0; i < scanned; ++i) {
            const Value x = node.value(states + i);
            const std::size_t axis = Node::checked_axis(at(axes, i), network.shape(x).size());
            if (network.shape(x)[axis] != turns) throw Unsayable("its inputs have different lengths");
            Shape shape = network.shape(x);
            shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
            const std::int64_t index = at(back, i) == 0 ? turn : turns - 1 - turn;
            const Value part = network.reshape(slice(network, node.name() + "_in", x, axis, index, 1), shape);
            Held held{"", Held::Source::Made, shape, node.held(states + i).type};
            if (network.is_stored(part)) held.source = Held::Source::Stored;
            held.value = part;
            inner.names[body.input(static_cast<int>(states + i)).name()] = std::move(held);
        }
        node.translator().walk(nodes, inner);
        for (std::size_t i = 0; i < states; ++i)
            state[i] = held_of(body.output(static_cast<int>(i)).name(), inner, node.translator());
        for (std::size_t i = 0; i < scans; ++i)
            stacks.add(i, held_of(body.output(static_cast<int>(states + i)).name(), inner, node.translator()),
                       0);
    }
    for (std::size_t i = 0; i < states; ++i) node.put_held(i, state[i]);
    for (std::size_t i = 0; i < scans; ++i) {
        if (at(out_axes, i) != 0)
            throw Unsayable("its outputs are stacked along another axis than the first");
        stacks.put(i, states + i, 0, at(out_back, i) != 0);
    }
}

void map_function_call(Node& node) {
    const onnx::FunctionProto& function = *node.translator().function(node.proto());
    NodeList nodes = function.node();
    for (onnx::NodeProto& inner : nodes)
        for (int i = inner.attribute_size(); i-- > 0;) {
            if (inner.attribute(i).ref_attr_name().empty()) continue;
            const onnx::AttributeProto* const given =
                node.attribute(inner.attribute(i).ref_attr_name().c_str());
            const std::string name = inner.attribute(i).name();
            if (given != nullptr) {
                *inner.mutable_attribute(i) = *given;
                inner.mutable_attribute(i)->set_name(name);
            } else {
                inner.mutable_attribute()->DeleteSubrange(i, 1);
            }
        }
    OnnxScope inner;  // sees nothing around it
    for (int i = 0; i < function.input_size(); ++i)
        if (node.has(static_cast<std::size_t>(i)))
            inner.names[function.input(i)] = shared(node, static_cast<std::size_t>(i));
    node.translator().walk_function(function, nodes, inner);
    for (std::size_t i = 0; i < node.outputs() && static_cast<int>(i) < function.output_size(); ++i)
        node.put_held(i, held_of(function.output(static_cast<int>(i)), inner, node.translator()));
}

}  // namespace systole
