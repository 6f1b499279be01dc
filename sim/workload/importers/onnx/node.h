// SPDX-License-Identifier: Apache-2.0
// One node under translation: its inputs and attributes, typed, and its outputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/workload/importers/onnx/translator.h"

namespace systole {

class Node {
public:
    Node(const onnx::NodeProto& proto, Translator& translator, OnnxScope& scope)
        : proto_(proto), translator_(translator), scope_(scope) {}

    const onnx::NodeProto& proto() const { return proto_; }
    Translator& translator() { return translator_; }
    OnnxScope& scope() { return scope_; }
    Network& network() { return translator_.network(); }
    const std::string& op() const { return proto_.op_type(); }
    std::int64_t opset() const { return translator_.opset(proto_.domain()); }
    /// For layers: the node's, or that of what it makes.
    std::string name() const;

    // Inputs. Optional ones that are not there have an empty name. All throw Unsayable.

    std::size_t inputs() const { return static_cast<std::size_t>(proto_.input_size()); }
    bool has(std::size_t i) const { return i < inputs() && !proto_.input(static_cast<int>(i)).empty(); }
    Held& held(std::size_t i);
    Value value(std::size_t i);
    /// The same for a product or a convolution, which scales weights itself: as narrow as the file stores
    /// them.
    Value weights(std::size_t i);
    const Shape& shape(std::size_t i) { return held(i).shape; }
    std::size_t rank(std::size_t i) { return shape(i).size(); }
    /// Its numbers if they are known.
    const Constant* constant(std::size_t i);
    /// Numbers that must be known: `what` says of what.
    std::vector<std::int64_t> integers(std::size_t i, const char* what);
    bool is_stored(std::size_t i) { return held(i).source == Held::Source::Stored; }

    // Attributes.

    const onnx::AttributeProto* attribute(const char* key) const;
    bool has_attribute(const char* key) const { return attribute(key) != nullptr; }
    std::int64_t integer(const char* key, std::int64_t fallback) const;
    double real(const char* key, double fallback) const;
    std::vector<std::int64_t> integers(const char* key) const;
    std::string text(const char* key, const std::string& fallback) const;
    /// Dimension of input `i` that an attribute names, from the end where it is negative.
    std::size_t axis(const char* key, std::int64_t fallback, std::size_t rank) const;
    static std::size_t checked_axis(std::int64_t axis, std::size_t rank);

    // Outputs.

    std::size_t outputs() const { return static_cast<std::size_t>(proto_.output_size()); }
    bool wants(std::size_t i) const { return i < outputs() && !proto_.output(static_cast<int>(i)).empty(); }
    /// Whether anything reads that output.
    bool is_read(std::size_t i) const;
    void put(std::size_t i, Value value);
    void put(std::size_t i, Constant constant, int type);
    /// The same as input `from`.
    void pass(std::size_t i, std::size_t from);
    void put_held(std::size_t i, Held held);

private:
    const onnx::NodeProto& proto_;
    Translator& translator_;
    OnnxScope& scope_;
};

/// Whether what the node makes follows from numbers that are known; puts them.
bool fold(Node& node);
/// What a node means; null for operators that nobody here knows.
using Meaning = void (*)(Node& node);
Meaning meaning_of(const onnx::NodeProto& node, bool is_function);

}  // namespace systole
