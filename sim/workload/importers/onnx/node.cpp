// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/onnx/node.h"

#include <fmt/format.h>

#include <set>

#include "sim/base/error.h"
#include "sim/base/utf8.h"

namespace systole {
namespace {

/// Operators whose first input's numbers are all that they make.
bool moves_only(const std::string& op) {
    static const std::set<std::string, std::less<>> ops{"Transpose", "Reshape", "Flatten", "Squeeze",
                                                        "Unsqueeze", "Slice",   "Split"};
    return ops.contains(op);
}

}  // namespace

std::string Node::name() const {
    const std::string& own = proto_.name();
    const std::string& made = proto_.output_size() > 0 ? proto_.output(0) : own;
    const std::string& from = own.empty() ? made : own;
    const std::size_t begin = from.find_first_not_of("/.:");
    return begin == std::string::npos ? proto_.op_type() : from.substr(begin);
}

Held& Node::held(std::size_t i) {
    if (!has(i)) throw Unsayable(fmt::format("it has no input {}", i));
    const std::string& name = proto_.input(static_cast<int>(i));
    Held* const found = scope_.find(name);
    if (found == nullptr)
        throw Unsayable(fmt::format("it reads '{}', which nothing makes", printable(excerpt(name))));
    if (found->source == Held::Source::Unknown)
        throw Unsayable(fmt::format("it reads '{}', {}", printable(excerpt(name)), found->why));
    return *found;
}

Value Node::value(std::size_t i) {
    return translator_.value_of(held(i));
}

Value Node::weights(std::size_t i) {
    const Held& held = this->held(i);
    return held.narrow ? network().stored(held.name, held.shape, *held.narrow) : value(i);
}

const Constant* Node::constant(std::size_t i) {
    Held& held = this->held(i);
    return held.constant ? &*held.constant : nullptr;
}

std::vector<std::int64_t> Node::integers(std::size_t i, const char* what) {
    const Constant* const numbers = constant(i);
    if (numbers == nullptr)
        throw Unsayable(fmt::format("its {} ('{}') are not known before the network runs", what,
                                    printable(excerpt(proto_.input(static_cast<int>(i))))));
    return converted(*numbers, false).whole;
}

const onnx::AttributeProto* Node::attribute(const char* key) const {
    for (const onnx::AttributeProto& attribute : proto_.attribute())
        if (attribute.name() == key) return &attribute;
    return nullptr;
}

std::int64_t Node::integer(const char* key, std::int64_t fallback) const {
    const onnx::AttributeProto* const found = attribute(key);
    return found != nullptr && found->has_i() ? found->i() : fallback;
}

double Node::real(const char* key, double fallback) const {
    const onnx::AttributeProto* const found = attribute(key);
    return found != nullptr && found->has_f() ? static_cast<double>(found->f()) : fallback;
}

std::vector<std::int64_t> Node::integers(const char* key) const {
    const onnx::AttributeProto* const found = attribute(key);
    if (found == nullptr) return {};
    return {found->ints().begin(), found->ints().end()};
}

std::string Node::text(const char* key, const std::string& fallback) const {
    const onnx::AttributeProto* const found = attribute(key);
    return found != nullptr && found->has_s() ? found->s() : fallback;
}

std::size_t Node::checked_axis(std::int64_t axis, std::size_t rank) {
    const auto dims = static_cast<std::int64_t>(rank);
    if (axis < -dims || axis >= dims) throw Unsayable(fmt::format("axis {} of {} dimensions", axis, rank));
    return static_cast<std::size_t>(axis < 0 ? axis + dims : axis);
}

std::size_t Node::axis(const char* key, std::int64_t fallback, std::size_t rank) const {
    return checked_axis(integer(key, fallback), rank);
}

bool Node::is_read(std::size_t i) const {
    if (!wants(i)) return false;
    const auto found = translator_.readers().find(proto_.output(static_cast<int>(i)));
    return found != translator_.readers().end() && found->second > 0;
}

void Node::put_held(std::size_t i, Held held) {
    if (!wants(i)) return;
    const std::string& name = proto_.output(static_cast<int>(i));
    held.name = name;
    scope_.names[name] = std::move(held);
}

void Node::put(std::size_t i, Value value) {
    Held held;
    held.source = network().is_stored(value) ? Held::Source::Stored : Held::Source::Made;
    held.shape = network().shape(value);
    held.type = type_of(network().dtype(value));
    held.value = value;
    if (held.source == Held::Source::Stored && has(0) && moves_only(op())) held.narrow = this->held(0).narrow;
    put_held(i, std::move(held));
}

void Node::put(std::size_t i, Constant constant, int type) {
    Held held;
    held.source = Held::Source::Stored;
    held.shape = constant.shape;
    held.type = type;
    held.constant = std::move(constant);
    put_held(i, std::move(held));
}

void Node::pass(std::size_t i, std::size_t from) {
    Held& same = held(from);
    if (same.source == Held::Source::Input) translator_.value_of(same);  // one input, whatever its names
    put_held(i, Held(same));
}

}  // namespace systole
