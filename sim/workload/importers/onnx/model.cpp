// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/onnx/model.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>

#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "sim/base/error.h"
#include "sim/base/utf8.h"
#include "sim/workload/importers/onnx/wire_scan.h"

namespace systole {
namespace {

constexpr int kMostNodes = 1'000'000;

bool is_text(const std::string& name) {
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t length = utf8_length(name, at);
        if (length == 0) return false;
        at += length;
    }
    return true;
}

void expect_text(const std::string& name, const char* whose, const std::string& file) {
    if (!is_text(name))
        throw UserError({file},
                        fmt::format("the name of a {} is not UTF-8: '{}'", whose, printable(excerpt(name))));
}

/// All names of a graph and of those inside its nodes; counts nodes.
void check_names(const onnx::GraphProto& graph, const std::string& file, int& nodes);

void check_node(const onnx::NodeProto& node, const std::string& file, int& nodes) {
    if (++nodes > kMostNodes) throw UserError({file}, fmt::format("more than {} nodes", kMostNodes));
    expect_text(node.name(), "node", file);
    expect_text(node.op_type(), "node's operator", file);
    expect_text(node.domain(), "node's domain", file);
    for (const std::string& name : node.input()) expect_text(name, "node's input", file);
    for (const std::string& name : node.output()) expect_text(name, "node's output", file);
    for (const onnx::AttributeProto& attribute : node.attribute()) {
        expect_text(attribute.name(), "node's attribute", file);
        if (attribute.has_g()) check_names(attribute.g(), file, nodes);
        for (const onnx::GraphProto& graph : attribute.graphs()) check_names(graph, file, nodes);
    }
}

void check_names(const onnx::GraphProto& graph, const std::string& file, int& nodes) {
    expect_text(graph.name(), "graph", file);
    for (const onnx::ValueInfoProto& value : graph.input()) {
        expect_text(value.name(), "graph's input", file);
        for (const auto& dim : value.type().tensor_type().shape().dim())
            expect_text(dim.dim_param(), "dimension", file);
    }
    for (const onnx::ValueInfoProto& value : graph.output())
        expect_text(value.name(), "graph's output", file);
    for (const onnx::TensorProto& tensor : graph.initializer()) expect_text(tensor.name(), "tensor", file);
    for (const onnx::NodeProto& node : graph.node()) check_node(node, file, nodes);
}

void add_reads(const onnx::NodeProto& node, std::vector<std::string>& names) {
    names.insert(names.end(), node.input().begin(), node.input().end());
    for (const onnx::AttributeProto& attribute : node.attribute()) {
        if (attribute.has_g())
            for (std::string& name : free_names(attribute.g())) names.push_back(std::move(name));
        for (const onnx::GraphProto& graph : attribute.graphs())
            for (std::string& name : free_names(graph)) names.push_back(std::move(name));
    }
}

}  // namespace

std::unique_ptr<onnx::ModelProto> read_model(std::istream& in, const std::string& file) {
    const std::string bytes = without_weights(in, file);
    auto model = std::make_unique<onnx::ModelProto>();
    const google::protobuf::LogSilencer silence;
    google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
    google::protobuf::io::CodedInputStream coded(&stream);
    if (!model->ParsePartialFromCodedStream(&coded) || !coded.ConsumedEntireMessage())
        throw UserError({file}, "is no ONNX model, or a damaged one");
    if (!model->has_graph() || model->graph().node_size() == 0)
        throw UserError({file}, "has no graph with nodes; expected an ONNX model");
    int nodes = 0;
    check_names(model->graph(), file, nodes);
    for (const onnx::FunctionProto& function : model->functions()) {
        expect_text(function.name(), "function", file);
        for (const onnx::NodeProto& node : function.node()) check_node(node, file, nodes);
    }
    return model;
}

std::string node_title(const onnx::NodeProto& node) {
    if (!node.name().empty()) return fmt::format("'{}'", printable(excerpt(node.name())));
    for (const std::string& name : node.output())
        if (!name.empty()) return fmt::format("the node that makes '{}'", printable(excerpt(name)));
    return "a node without a name";
}

std::vector<std::string> free_names(const onnx::GraphProto& graph) {
    std::unordered_set<std::string> own;
    for (const onnx::ValueInfoProto& value : graph.input()) own.insert(value.name());
    for (const onnx::TensorProto& tensor : graph.initializer()) own.insert(tensor.name());
    for (const onnx::NodeProto& node : graph.node()) own.insert(node.output().begin(), node.output().end());
    std::vector<std::string> names;
    for (const onnx::NodeProto& node : graph.node()) add_reads(node, names);
    for (const onnx::ValueInfoProto& value : graph.output()) names.push_back(value.name());
    std::erase_if(names, [&](const std::string& name) { return name.empty() || own.contains(name); });
    return names;
}

std::vector<const onnx::NodeProto*> ordered_nodes(
    const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, const std::string& file) {
    std::unordered_map<std::string, int> maker;
    for (int i = 0; i < nodes.size(); ++i)
        for (const std::string& name : nodes[i].output())
            if (!name.empty() && !maker.emplace(name, i).second)
                throw UserError({file},
                                fmt::format("'{}' is made twice, by {} and {}", printable(excerpt(name)),
                                            node_title(nodes[maker[name]]), node_title(nodes[i])));
    std::vector<std::vector<int>> readers(static_cast<std::size_t>(nodes.size()));
    std::vector<int> waits(readers.size(), 0);
    for (int i = 0; i < nodes.size(); ++i) {
        std::vector<std::string> names;
        add_reads(nodes[i], names);
        for (const std::string& name : names) {
            const auto found = maker.find(name);
            if (found == maker.end()) continue;
            readers[static_cast<std::size_t>(found->second)].push_back(i);
            ++waits[static_cast<std::size_t>(i)];
        }
    }
    // Those of the file's order first.
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (int i = 0; i < nodes.size(); ++i)
        if (waits[static_cast<std::size_t>(i)] == 0) ready.push(i);
    std::vector<const onnx::NodeProto*> order;
    while (!ready.empty()) {
        const int next = ready.top();
        ready.pop();
        order.push_back(&nodes[next]);
        for (const int reader : readers[static_cast<std::size_t>(next)])
            if (--waits[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
    }
    for (int i = 0; i < nodes.size(); ++i)
        if (waits[static_cast<std::size_t>(i)] > 0)
            throw UserError({file},
                            fmt::format("{} ({}) waits for what it makes itself: the graph has a cycle",
                                        node_title(nodes[i]), excerpt(nodes[i].op_type())));
    return order;
}

}  // namespace systole
