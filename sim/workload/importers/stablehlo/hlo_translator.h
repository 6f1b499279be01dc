// SPDX-License-Identifier: Apache-2.0
// Goes through the operations of a function in their order, through calls and the turns of loops. What an
// operation means is the business of the hlo_*.cpp files; what becomes of operations that mean nothing to a
// trace is decided here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/workload/importers/imported.h"
#include "sim/workload/importers/network/constant.h"
#include "sim/workload/importers/network/network.h"
#include "sim/workload/importers/stablehlo/mlir_module.h"

namespace systole {

/// What a name of a function stands for.
struct HloValue {
    std::string name;  ///< for layers and inputs of the trace
    Shape shape;
    std::string_view element;               ///< "f32"
    bool input = false;                     ///< comes from outside, if it is not made: otherwise stored
    std::optional<Value> value = {};        ///< once somebody has asked
    std::optional<Constant> constant = {};  ///< its numbers, if they are few and known
    bool uniform = false;                   ///< a constant all of whose elements are one number
    std::optional<double> number = {};      ///< that number, if it is known
    std::string why = {};                   ///< if it is not in the trace
    std::string weights = {};               ///< the stored argument that all of it is a view of
    /// It is the sum of this over these dimensions: divided by their extents it is a mean.
    std::optional<std::pair<Value, Order>> sum_of = {};
};

/// Names of a function, of a branch, or of a turn of a loop.
struct HloScope {
    HloScope* outer = nullptr;
    std::unordered_map<std::string, HloValue> names = {};
};

class HloTranslator {
public:
    HloTranslator(const MlirModule& module, std::string file);

    Imported run(const std::vector<std::string>& inputs);

    Network& network() { return network_; }
    const MlirModule& module() const { return module_; }
    const MlirTokens& tokens() const { return module_.tokens(); }
    /// A stored value or an input comes to be. Throws Unsayable for dtypes that a trace does not have.
    Value value_of(HloValue& held);
    void note(const MlirOperation& operation, std::string text);

    /// A layer stores those weights: of more than one, each does, which is told in the end.
    void store(const HloValue& held);

    /// Operations of a function, a branch or a turn of a loop; answers what it returns.
    std::vector<HloValue> walk(const std::vector<MlirOperation>& operations, HloScope& scope);
    /// What a name stands for here or around here; throws UserError if it stands for nothing.
    HloValue& find(HloScope& scope, std::string_view name, const MlirOperation& operation);

private:
    void bind_arguments(const MlirFunction& main, const std::vector<std::string>& inputs, HloScope& scope);
    void make_input(HloValue& held);
    /// One more operation, or turn. Throws UserError for too many.
    void count(const MlirOperation& operation);
    void translate(const MlirOperation& operation, HloScope& scope);
    void call(const MlirOperation& operation, HloScope& scope);
    void loop(const MlirOperation& operation, HloScope& scope);
    void choose(const MlirOperation& operation, HloScope& scope);
    void list(const MlirOperation& operation, HloScope& scope, const std::string& why);
    /// Results of an operation that has operations inside.
    void put(const MlirOperation& operation, HloScope& scope, const std::vector<HloValue>& values);
    [[noreturn]] void fail(const MlirOperation& operation, const std::string& what) const;
    const MlirFunction& main_function() const;

    const MlirModule& module_;
    const std::string file_;
    Network network_;
    struct Told {
        ImportNote note;
        std::size_t times = 1;
    };
    std::vector<ImportNote> notes() const;
    std::optional<std::string> stored_again() const;

    std::vector<Told> notes_;
    std::unordered_map<std::string, std::size_t> told_;             ///< by place and text
    std::map<std::string, std::pair<Shape, std::int64_t>> stored_;  ///< by argument: its shape, and layers
    std::optional<ImportNote> roles_;  ///< which arguments are inputs, if nobody said so
    std::size_t operations_ = 0, listed_ = 0;
    int depth_ = 0;
};

/// One operation under translation: operands and attributes, typed, and its results.
class HloNode {
public:
    HloNode(const MlirOperation& operation, HloTranslator& translator, HloScope& scope)
        : operation_(operation), translator_(translator), scope_(scope) {}

    Network& network() { return translator_.network(); }
    HloTranslator& translator() { return translator_; }
    const MlirOperation& operation() const { return operation_; }
    /// For layers: "dot_general_12" of "%12".
    std::string name() const;

    std::size_t operands() const { return operation_.operands.size(); }
    HloValue& held(std::size_t i);
    Value value(std::size_t i) { return translator_.value_of(held(i)); }
    /// The same for elementwise work: of a splat one number, met again.
    Value narrow_value(std::size_t i);
    const Shape& shape(std::size_t i) { return held(i).shape; }
    /// Its numbers, if they are few, whole and known.
    const std::vector<std::int64_t>* integers(std::size_t i);

    /// The type of result `i`, without unknown extents. Throws Unsayable.
    MlirType result_type(std::size_t i = 0) const;
    Shape result_shape(std::size_t i = 0) const { return result_type(i).shape; }

    /// Numbers behind a key, all its lists one after the other; `fallback` if it is not there.
    std::vector<std::int64_t> numbers(std::string_view key, std::vector<std::int64_t> fallback = {}) const;
    std::vector<std::vector<std::int64_t>> lists(std::string_view key) const;
    bool has(std::string_view key) const;
    /// The same as dimensions, each below `rank`.
    Order dims(std::string_view key, std::size_t rank) const;
    /// The word behind `key =`, or the first bare word among `words`.
    std::string_view word_among(const std::vector<std::string_view>& words) const;

    /// The value as a view. Throws Unsayable if the shape has another number of elements.
    Value reshaped(Value value, const Shape& shape);
    void put(Value value, std::size_t i = 0);
    void put(HloValue held, std::size_t i = 0);
    /// What has been put.
    HloValue& result() { return translator_.find(scope_, operation_.results.front(), operation_); }
    /// One number met again, which nobody has worked out.
    void put_uniform();
    /// A result that a trace does not have, as whoever reads it is told.
    void put_unsaid(std::size_t i);
    /// Operand `from` under another type: nothing is done.
    void pass(std::size_t from, std::size_t i = 0);

private:
    const MlirOperation& operation_;
    HloTranslator& translator_;
    HloScope& scope_;
};

/// What an operation means; null for those that nobody here knows.
using HloMeaning = void (*)(HloNode& node);
HloMeaning hlo_meaning(std::string_view name);
/// The numbers of an operation's result, where they follow from known ones.
std::optional<Constant> hlo_folded(HloNode& node, std::string_view name);

}  // namespace systole
