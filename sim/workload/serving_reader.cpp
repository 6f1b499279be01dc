// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/serving_reader.h"

#include <fmt/format.h>

#include "sim/base/checked.h"
#include "sim/workload/keys.h"
#include "sim/workload/operators.h"

namespace systole {

std::optional<ServingStep> read_serving(const config::YamlNode& node, const Parameters& parameters,
                                        Mistakes& mistakes) {
    if (node.kind != config::YamlNode::Kind::Map) {
        mistakes.add(node.where,
                     fmt::format("'serving' must be a map with 'phase', 'batch' and 'context', not {}",
                                 config::to_string(node.kind)));
        return std::nullopt;
    }
    const std::size_t before = mistakes.count();
    Keys keys(node, parameters, mistakes, "serving");
    ServingStep step;
    step.phase = static_cast<ServingStep::Phase>(keys.choice("phase", phase_names()));
    step.batch = keys.integer("batch", 1);
    step.context = keys.integer("context", 1);
    step.new_tokens = keys.integer("new_tokens", 1, 1);
    step.tensor_parallel = keys.integer("tensor_parallel", 1, 1);
    step.data_parallel = keys.integer("data_parallel", 1, 1);
    keys.finish();
    for (const std::int64_t chips : {step.tensor_parallel, step.data_parallel})
        if (chips > kMostChips) keys.fail(fmt::format("at most {} chips, not {}", kMostChips, chips));
    if (mistakes.count() != before) return std::nullopt;
    return step;
}

}  // namespace systole
