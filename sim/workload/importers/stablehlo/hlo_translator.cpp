// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/stablehlo/hlo_translator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "sim/base/error.h"
#include "sim/workload/importers/stablehlo/arguments.h"
#include "sim/workload/importers/stablehlo/hlo_names.h"

namespace systole {
namespace {

constexpr std::size_t kMostOperations = 200'000;  // calls and turns counted as often as they happen
constexpr std::size_t kMostNotes = 10'000;

std::string_view without_percent(std::string_view name) {
    return name.starts_with("%") ? name.substr(1) : name;
}

bool is_fixed(const Shape& shape) {
    return std::find(shape.begin(), shape.end(), -1) == shape.end();
}

HloValue typed(std::string_view name, std::string_view type_text, bool input) {
    const MlirType type = mlir_type(type_text);
    HloValue held;
    held.name = trace_name_of(name);
    held.shape = type.shape;
    held.element = type.element;
    held.input = input;
    return held;
}

}  // namespace

HloTranslator::HloTranslator(const MlirModule& module, std::string file)
    : module_(module), file_(std::move(file)) {}

void HloTranslator::fail(const MlirOperation& operation, const std::string& what) const {
    throw UserError(tokens().mark(operation.begin), what);
}

void HloTranslator::note(const MlirOperation& operation, std::string text) {
    const auto [found, added] = told_.try_emplace(fmt::format("{} {}", operation.begin, text), notes_.size());
    if (!added) {
        ++notes_[found->second].times;
    } else if (notes_.size() < kMostNotes) {
        notes_.push_back({{tokens().mark(operation.begin), std::move(text)}, 1});
    } else {
        told_.erase(found);
    }
}

/// What was told, one of the same kind once, and how often.
std::vector<ImportNote> HloTranslator::notes() const {
    std::vector<ImportNote> all;
    for (const Told& each : notes_) {
        all.push_back(each.note);
        if (each.times > 1) all.back().text += fmt::format(" ({} times)", each.times);
    }
    return all;
}

const MlirFunction& HloTranslator::main_function() const {
    if (const MlirFunction* const main = module_.find("main")) return *main;
    if (module_.functions().size() == 1) return module_.functions().front();
    throw UserError(
        tokens().mark(module_.functions().front().begin),
        fmt::format("the module has {} functions and none called @main", module_.functions().size()));
}

void HloTranslator::bind_arguments(const MlirFunction& main, const std::vector<std::string>& inputs,
                                   HloScope& scope) {
    std::vector<bool> from_outside = arguments_are_inputs(module_, main);
    if (!inputs.empty()) from_outside.assign(from_outside.size(), false);
    std::vector<std::string> names;
    for (const MlirArgument& argument : main.arguments) names.emplace_back(without_percent(argument.name));
    for (const std::string& input : inputs) {
        const auto found = std::find(names.begin(), names.end(), without_percent(input));
        if (found == names.end())
            throw UserError(tokens().mark(main.begin), fmt::format("@{} has no argument '{}'{}", main.name,
                                                                   input, did_you_mean(input, names)));
        from_outside[static_cast<std::size_t>(found - names.begin())] = true;
    }
    std::vector<std::string> taken;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const MlirArgument& argument = main.arguments[i];
        HloValue held = typed(argument.name, argument.type, from_outside[i]);
        if (!is_fixed(held.shape))
            throw UserError(
                tokens().mark(main.begin),
                fmt::format("argument {} of @{} is {}: lower the function for shapes that are known",
                            argument.name, main.name, excerpt(argument.type)));
        if (!from_outside[i]) held.weights = names[i];
        if (from_outside[i]) {
            taken.push_back(names[i]);
            make_input(held);
        }
        scope.names.emplace(argument.name, std::move(held));
    }
    if (inputs.empty() && taken.size() < names.size())
        roles_ = ImportNote{
            tokens().mark(main.begin),
            fmt::format(
                "by their use, {} of {} arguments {} ({}), all others stored weights; --input NAME says "
                "otherwise",
                taken.size(), names.size(), taken.size() == 1 ? "is an input" : "are inputs",
                excerpt(fmt::format("{}", fmt::join(taken, ", "))))};
}

void HloTranslator::store(const HloValue& held) {
    if (held.weights.empty() || !held.value || !network_.is_stored(*held.value)) return;
    ++stored_.try_emplace(held.weights, held.shape, 0).first->second.second;
}

/// Nothing if each argument is stored once.
std::optional<std::string> HloTranslator::stored_again() const {
    std::int64_t arguments = 0;
    double numbers = 0;  // may be more than any trace may have
    for (const auto& [name, stored] : stored_) {
        const auto& [shape, layers] = stored;
        if (layers < 2) continue;
        ++arguments;
        numbers += static_cast<double>(layers - 1) * static_cast<double>(elements(shape));
    }
    if (arguments == 0) return std::nullopt;
    return fmt::format(
        "{} stored argument{} read by several layers, each of which stores {} once more ({:.0f} numbers)",
        arguments, arguments == 1 ? " is" : "s are", arguments == 1 ? "it" : "them", numbers);
}

Imported HloTranslator::run(const std::vector<std::string>& inputs) {
    const MlirFunction& main = main_function();
    HloScope scope;
    bind_arguments(main, inputs, scope);
    for (HloValue& result : walk(main.operations, scope)) {
        try {
            if (result.value || result.input) network_.output(value_of(result));
        } catch (const Unsayable&) {
            // What has no shape or dtype in a trace has been told where it was made.
        }
    }
    try {
        const std::string_view name = module_.name().empty() ? std::string_view("network") : module_.name();
        Imported imported = network_.finish(name, {"@main of a module in StableHLO."}, file_);
        const std::vector<ImportNote> told = notes();
        imported.notes.insert(imported.notes.begin(), told.begin(), told.end());
        if (roles_) imported.notes.insert(imported.notes.begin(), *roles_);
        if (const auto again = stored_again()) imported.notes.push_back({{file_, 0, 0}, *again});
        if (listed_ > 0)
            imported.notes.push_back(
                {{file_, 0, 0},
                 fmt::format("{} of {} operations are not in the trace", listed_, operations_)});
        return imported;
    } catch (const Unsayable& nothing) {
        std::vector<Diagnostic> told;
        for (const ImportNote& each : notes()) told.push_back({each.where, each.text});
        told.push_back({tokens().mark(main.begin),
                        fmt::format("nothing of @{} can be in a trace: {}", main.name, nothing.what())});
        throw UserError(std::move(told));
    }
}

HloValue& HloTranslator::find(HloScope& scope, std::string_view name, const MlirOperation& operation) {
    const std::string key(name);
    for (HloScope* each = &scope; each != nullptr; each = each->outer) {
        const auto found = each->names.find(key);
        if (found != each->names.end()) return found->second;
    }
    fail(operation, fmt::format("nothing before this is called {}", excerpt(name)));
}

Value HloTranslator::value_of(HloValue& held) {
    if (held.value) return *held.value;
    if (!held.why.empty()) throw Unsayable(held.why);
    if (!is_fixed(held.shape)) throw Unsayable(fmt::format("the shape of {} is not known", held.name));
    const auto dtype = hlo_dtype(held.element);
    if (!dtype) throw Unsayable(fmt::format("a trace has no numbers of type {}", excerpt(held.element)));
    held.value = held.input ? network_.input(held.name, held.shape, *dtype)
                            : network_.stored(held.name, held.shape, *dtype);
    return *held.value;
}

/// Once, so that whatever it is handed on as means one tensor; what a trace cannot have is told to its
/// readers.
void HloTranslator::make_input(HloValue& held) {
    try {
        value_of(held);
    } catch (const Unsayable&) {
    }
}

void HloTranslator::put(const MlirOperation& operation, HloScope& scope,
                        const std::vector<HloValue>& values) {
    if (values.size() != operation.results.size())
        fail(operation, fmt::format("{} results of what makes {}", operation.results.size(), values.size()));
    for (std::size_t i = 0; i < values.size(); ++i)
        scope.names.insert_or_assign(operation.results[i], values[i]);
}

void HloTranslator::list(const MlirOperation& operation, HloScope& scope, const std::string& why) {
    ++listed_;
    const std::string made =
        operation.results.empty() ? "" : fmt::format(" (makes {})", excerpt(operation.results.front()));
    note(operation, fmt::format("{}{} is not in the trace: {}", excerpt(operation.name), made, why));
    // What it would have read is an output, so that it is made.
    for (const std::string_view operand : operation.operands)
        if (const HloValue& held = find(scope, operand, operation); held.value) network_.keep(*held.value);
    for (std::size_t i = 0; i < operation.results.size(); ++i) {
        const std::string_view type = i < operation.types.size() ? operation.types[i] : "tensor<?xunknown>";
        HloValue held = typed(operation.results[i], type, true);
        make_input(held);
        scope.names.insert_or_assign(operation.results[i], std::move(held));
    }
}

std::vector<HloValue> HloTranslator::walk(const std::vector<MlirOperation>& operations, HloScope& scope) {
    for (const MlirOperation& operation : operations) {
        if (hlo_name(operation) == "return") {
            std::vector<HloValue> results;
            for (const std::string_view name : operation.operands)
                results.push_back(find(scope, name, operation));
            return results;
        }
        count(operation);
        translate(operation, scope);
    }
    return {};
}

void HloTranslator::count(const MlirOperation& operation) {
    if (++operations_ > kMostOperations)
        fail(operation,
             fmt::format("more than {} operations, calls and turns of loops counted as often as they happen",
                         kMostOperations));
}

void HloTranslator::translate(const MlirOperation& operation, HloScope& scope) {
    const std::string_view name = hlo_name(operation);
    try {
        if (name == "call" || name == "composite") return call(operation, scope);
        if (name == "while") return loop(operation, scope);
        if (name == "case" || name == "if") return choose(operation, scope);
        HloNode node(operation, *this, scope);
        if (auto folded = hlo_folded(node, name)) {
            HloValue held = typed(operation.results.front(), operation.types.back(), false);
            held.constant = std::move(folded);
            return node.put(std::move(held));
        }
        const HloMeaning meaning = hlo_meaning(name);
        if (!meaning) return list(operation, scope, "nothing in a trace is like it");
        meaning(node);
    } catch (const Unsayable& why) {
        list(operation, scope, why.what());
    }
}

}  // namespace systole
