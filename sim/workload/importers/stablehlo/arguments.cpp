// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/stablehlo/arguments.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "sim/workload/importers/stablehlo/hlo_names.h"

namespace systole {
namespace {

constexpr int kDeepestCall = 64;      // calls within calls
constexpr int kMostUses = 1'000'000;  // operations looked at: functions may call others many times over

/// What a value is: a view of an argument, or computed.
struct Origin {
    std::optional<std::size_t> argument;
    bool met_again = false;  ///< broadcast on the way
};

/// Of a function, or of the body of a loop.
struct Origins {
    const Origins* outer = nullptr;
    std::unordered_map<std::string, Origin> names = {};

    Origin find(std::string_view name) const {
        const std::string key(name);
        for (const Origins* each = this; each != nullptr; each = each->outer) {
            const auto found = each->names.find(key);
            if (found != each->names.end()) return found->second;
        }
        return {};
    }
};

bool is_view(std::string_view name) {
    constexpr std::array<std::string_view, 8> kViews = {"reshape",
                                                        "transpose",
                                                        "convert",
                                                        "slice",
                                                        "dynamic_slice",
                                                        "broadcast_in_dim",
                                                        "optimization_barrier",
                                                        "sharding_constraint"};
    return std::find(kViews.begin(), kViews.end(), name) != kViews.end();
}

class Roles {
public:
    Roles(const MlirModule& module, const MlirFunction& main)
        : module_(module), main_(main), inputs_(main.arguments.size()) {}

    std::vector<bool> decide() {
        Origins origins;
        for (std::size_t i = 0; i < main_.arguments.size(); ++i)
            origins.names[std::string(main_.arguments[i].name)] = {i, false};
        walk(main_.operations, origins, 0);
        std::vector<bool> answer;
        for (std::size_t i = 0; i < inputs_.size(); ++i) answer.push_back(inputs_[i].value_or(otherwise(i)));
        return answer;
    }

private:
    bool otherwise(std::size_t argument) const {
        const MlirType type = mlir_type(main_.arguments[argument].type);
        return type.shape.size() >= 2 || !is_float(type.element);
    }

    void set(const Origin& origin, bool input) {
        if (origin.argument && !inputs_[*origin.argument]) inputs_[*origin.argument] = input;
    }

    void walk(const std::vector<MlirOperation>& operations, Origins& origins, int depth);
    void walk_call(const MlirOperation& operation, Origins& origins, int depth);
    void walk_loop(const MlirOperation& operation, Origins& origins, int depth);
    void use(const MlirOperation& operation, const Origins& origins);

    const MlirModule& module_;
    const MlirFunction& main_;
    std::vector<std::optional<bool>> inputs_;
    int uses_ = 0;
};

void Roles::use(const MlirOperation& operation, const Origins& origins) {
    const std::string_view name = hlo_name(operation);
    if (operation.operands.size() < 2) return;
    const Origin a = origins.find(operation.operands[0]), b = origins.find(operation.operands[1]);
    if (name == "dot_general" || name == "dot" || name == "convolution") {
        const auto batch = mlir_numbers(module_.tokens(), operation, "batching_dims");
        const bool both = batch && !batch->front().empty();  // as queries and keys
        set(a, b.argument.has_value() || both);
        set(b, both);
    } else if (name == "gather" || name == "torch_index_select") {
        set(a, false);
        set(b, true);
    } else {
        for (const std::string_view operand : operation.operands) {
            const Origin origin = origins.find(operand);
            if (origin.met_again) set(origin, false);
        }
    }
}

void Roles::walk_call(const MlirOperation& operation, Origins& origins, int depth) {
    const MlirFunction* const callee = hlo_callee(module_, operation);
    if (!callee || depth >= kDeepestCall) return;
    Origins inner;
    for (std::size_t i = 0; i < callee->arguments.size() && i < operation.operands.size(); ++i)
        inner.names[std::string(callee->arguments[i].name)] = origins.find(operation.operands[i]);
    walk(callee->operations, inner, depth + 1);
    if (callee->operations.empty()) return;
    const MlirOperation& last = callee->operations.back();
    for (std::size_t i = 0; i < last.operands.size() && i < operation.results.size(); ++i)
        origins.names[operation.results[i]] = inner.find(last.operands[i]);
}

/// Values that every turn hands on as they are remain what they were before the loop.
void Roles::walk_loop(const MlirOperation& operation, Origins& origins, int depth) {
    const std::vector<std::string_view> names = hlo_loop_arguments(module_.tokens(), operation);
    if (operation.regions.size() != 2 || operation.regions[1].operations.empty() || depth >= kDeepestCall)
        return;
    const MlirRegion& body = operation.regions[1];
    const MlirOperation& last = body.operations.back();
    Origins inner{&origins, {}};
    for (std::size_t i = 0; i < names.size() && i < operation.operands.size(); ++i) {
        const bool kept = i < last.operands.size() && last.operands[i] == names[i];
        inner.names[std::string(names[i])] = kept ? origins.find(operation.operands[i]) : Origin{};
        if (kept && i < operation.results.size())
            origins.names[operation.results[i]] = origins.find(operation.operands[i]);
    }
    walk(body.operations, inner, depth + 1);
}

void Roles::walk(const std::vector<MlirOperation>& operations, Origins& origins, int depth) {
    for (const MlirOperation& operation : operations) {
        if (++uses_ > kMostUses) return;
        const std::string_view name = hlo_name(operation);
        if (name == "call" || name == "composite") {
            walk_call(operation, origins, depth);
        } else if (name == "while") {
            walk_loop(operation, origins, depth);
        } else if (is_view(name) && !operation.operands.empty() && operation.results.size() == 1) {
            Origin origin = origins.find(operation.operands[0]);
            if (name == "broadcast_in_dim" && !operation.types.empty()) origin.met_again = true;
            origins.names[operation.results[0]] = origin;
        } else {
            use(operation, origins);
        }
    }
}

}  // namespace

std::vector<bool> arguments_are_inputs(const MlirModule& module, const MlirFunction& main) {
    return Roles(module, main).decide();
}

}  // namespace systole
