// SPDX-License-Identifier: Apache-2.0
// Walks the nodes of a graph in their order: what each one makes is known before the next one asks. What a
// node means is the business of the *_ops files; what becomes of nodes that mean nothing to a trace is
// decided here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/workload/importers/network/constant.h"
#include "sim/workload/importers/network/network.h"
#include "sim/workload/importers/onnx/model.h"
#include "sim/workload/importers/onnx/onnx_import.h"

namespace systole {

/// What a name of the graph stands for.
struct Held {
    /// Input: comes from outside, or out of a node that was cut off. Unknown: nobody knows its shape.
    enum class Source { Stored, Input, Made, Unknown };

    std::string name;
    Source source = Source::Unknown;
    Shape shape = {};
    int type = onnx::TensorProto::FLOAT;                        ///< TensorProto::DataType
    std::optional<Constant> constant = {};                      ///< its numbers, if they are few and known
    std::optional<Value> value = {};                            ///< once somebody has asked
    std::optional<Shape> zeros_before = {}, zeros_behind = {};  ///< padding that what reads it has to do
    std::optional<DType> narrow = {};  ///< a stored one: what the file holds, for a product to scale
    std::string why = {};              ///< Unknown: in words
};

/// Names of a graph, of a function, or of a turn of a loop.
struct OnnxScope {
    OnnxScope* outer = nullptr;
    std::unordered_map<std::string, Held> names = {};

    Held* find(const std::string& name) {
        for (OnnxScope* scope = this; scope != nullptr; scope = scope->outer) {
            const auto found = scope->names.find(name);
            if (found != scope->names.end()) return &found->second;
        }
        return nullptr;
    }
};

struct InferredOutput;
using NodeList = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

class Translator {
public:
    Translator(const onnx::ModelProto& model, const std::string& file, const OnnxChoices& choices);

    Imported run();

    // For the meaning of nodes.

    Network& network() { return network_; }
    const OnnxChoices& choices() const { return choices_; }
    /// Of a domain; 0 if the model does not import it.
    std::int64_t opset(const std::string& domain) const;
    /// The value, made a stored one or an input if it is not in the network yet. Throws Unsayable.
    Value value_of(Held& held);
    /// Nodes of a graph inside a node (ordered_nodes), with names around them.
    void walk(const std::vector<const onnx::NodeProto*>& nodes, OnnxScope& scope);
    /// The same of a function, which says itself what versions its operators are of.
    void walk_function(const onnx::FunctionProto& function, const NodeList& nodes, OnnxScope& scope);
    std::vector<const onnx::NodeProto*> ordered(const NodeList& nodes) const;
    /// Of a loop. Throws UserError where there are too many nodes and turns.
    void count_turn();
    void add_initializers(const onnx::GraphProto& graph, OnnxScope& scope);
    /// Of a graph inside: recorded shapes, for nodes that are cut off.
    void add_known_shapes(const onnx::GraphProto& graph);
    const onnx::FunctionProto* function(const onnx::NodeProto& node) const;
    void used_branch(const std::string& node) { used_branches_.push_back(node); }
    const std::unordered_map<std::string, int>& readers() const { return readers_; }

private:
    void bind_inputs();
    void translate(const onnx::NodeProto& node, OnnxScope& scope);
    bool is_stored(const onnx::NodeProto& node, OnnxScope& scope);
    /// What libonnx says; of the first thousand nodes that are asked about.
    std::vector<std::optional<InferredOutput>> inferred_outputs(const onnx::NodeProto& node,
                                                                OnnxScope& scope);
    /// A node that is not in the trace.
    void list(const onnx::NodeProto& node, OnnxScope& scope, const std::string& why);
    void put_outputs();
    void count_readers(const NodeList& nodes);
    void expect_few() const;
    /// Tells where the file records other shapes than those that were made.
    void compare_shapes(const onnx::NodeProto& node);
    void expect_used_choices() const;
    /// The last note: what became of all nodes.
    std::string counts(std::size_t listed) const;

    const onnx::ModelProto& model_;
    const std::string file_;
    const OnnxChoices& choices_;
    Network network_;
    OnnxScope top_;
    std::map<std::string, std::int64_t> opsets_;
    std::unordered_map<std::string, const onnx::FunctionProto*> functions_;
    std::unordered_map<std::string, const onnx::TypeProto*> recorded_;  // shapes of values in between
    std::unordered_map<std::string, int> readers_;                      // of names, outputs counted
    std::vector<std::string> listed_;
    std::vector<std::string> used_branches_;
    std::vector<std::pair<std::size_t, std::size_t>> mapped_;  // layers of each node that has some
    std::size_t nodes_ = 0, views_ = 0, asked_ = 0, turns_ = 0, different_ = 0;
    int depth_ = 0;
};

/// The trace's dtype of an ONNX one; nothing for texts and complex numbers.
std::optional<DType> dtype_of(int type);
/// The other way round, as near as may be.
int type_of(DType dtype);

}  // namespace systole
