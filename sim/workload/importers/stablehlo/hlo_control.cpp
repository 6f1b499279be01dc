// SPDX-License-Identifier: Apache-2.0
// Operations that hold or call others: functions, loops and branches, followed as they would run.
#include <fmt/format.h>

#include <utility>

#include "sim/workload/importers/stablehlo/hlo_names.h"
#include "sim/workload/importers/stablehlo/hlo_translator.h"

namespace systole {
namespace {

constexpr int kDeepest = 64;  // calls and regions within each other

}  // namespace

void HloTranslator::call(const MlirOperation& operation, HloScope& scope) {
    const MlirFunction* const callee = hlo_callee(module_, operation);
    if (!callee || callee->operations.empty()) throw Unsayable("the module does not have what it calls");
    if (depth_ >= kDeepest) fail(operation, fmt::format("calls are nested deeper than {}", kDeepest));
    if (callee->arguments.size() != operation.operands.size())
        fail(operation, fmt::format("@{} has {} arguments, not {}", callee->name, callee->arguments.size(),
                                    operation.operands.size()));
    HloScope inner;
    for (std::size_t i = 0; i < operation.operands.size(); ++i) {
        inner.names.insert_or_assign(std::string(callee->arguments[i].name),
                                     find(scope, operation.operands[i], operation));
    }
    ++depth_;
    const std::vector<HloValue> results = walk(callee->operations, inner);
    --depth_;
    put(operation, scope, results);
}

/// Turn by turn, for as long as the condition is known to hold.
void HloTranslator::loop(const MlirOperation& operation, HloScope& scope) {
    const std::vector<std::string_view> names = hlo_loop_arguments(tokens(), operation);
    if (operation.regions.size() != 2 || names.size() != operation.operands.size())
        throw Unsayable("a loop has a condition, a body, and a name for each value that goes round");
    if (depth_ >= kDeepest) fail(operation, fmt::format("loops are nested deeper than {}", kDeepest));
    std::vector<HloValue> state;
    for (const std::string_view operand : operation.operands)
        state.push_back(find(scope, operand, operation));
    ++depth_;
    while (true) {
        count(operation);
        HloScope turn{&scope, {}};
        for (std::size_t i = 0; i < names.size(); ++i)
            turn.names.insert_or_assign(std::string(names[i]), state[i]);
        const std::vector<HloValue> goes_on = walk(operation.regions[0].operations, turn);
        if (goes_on.size() != 1 || !goes_on[0].constant || goes_on[0].constant->whole.size() != 1) {
            --depth_;
            throw Unsayable("how often it goes round is not known");
        }
        if (goes_on[0].constant->whole[0] == 0) break;
        state = walk(operation.regions[1].operations, turn);
        if (state.size() != names.size())
            fail(operation, "the body of a loop returns as many values as go round");
    }
    --depth_;
    put(operation, scope, state);
}

void HloTranslator::choose(const MlirOperation& operation, HloScope& scope) {
    HloNode node(operation, *this, scope);
    const std::vector<std::int64_t>* const index = node.integers(0);
    if (!index || index->size() != 1 || operation.regions.empty())
        throw Unsayable("which branch it takes is not known");
    if (depth_ >= kDeepest) fail(operation, fmt::format("branches are nested deeper than {}", kDeepest));
    const std::int64_t last = static_cast<std::int64_t>(operation.regions.size()) - 1;
    // The last branch of a case is the default one; the first one of an if is that of true.
    std::int64_t taken = last;
    if (hlo_name(operation) == "if")
        taken = index->front() != 0 ? 0 : last;
    else if (index->front() >= 0 && index->front() <= last)
        taken = index->front();
    HloScope inner{&scope, {}};
    ++depth_;
    const std::vector<HloValue> results =
        walk(operation.regions[static_cast<std::size_t>(taken)].operations, inner);
    --depth_;
    put(operation, scope, results);
}

}  // namespace systole
