// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/training_reader.h"

#include <fmt/format.h>

#include "sim/workload/keys.h"

namespace systole {

const std::vector<std::string>& optimizer_names() {
    static const std::vector<std::string> names = {"sgd", "momentum", "adam"};
    return names;
}

const std::vector<std::string>& recompute_names() {
    static const std::vector<std::string> names = {"none", "blocks"};
    return names;
}

std::optional<Training> read_training(const config::YamlNode& node, const Parameters& parameters,
                                      Mistakes& mistakes) {
    if (node.kind != config::YamlNode::Kind::Map) {
        mistakes.add(node.where, fmt::format("'training' must be a map with 'optimizer', not {}",
                                             config::to_string(node.kind)));
        return std::nullopt;
    }
    const std::size_t before = mistakes.count();
    Keys keys(node, parameters, mistakes, "training");
    Training training;
    training.where = node.where;
    training.optimizer = static_cast<Optimizer::Kind>(keys.choice("optimizer", optimizer_names()));
    training.gradients = keys.dtype("gradients").value_or(DType::Bf16);
    training.data_parallel = keys.integer("data_parallel", 1, 1);
    training.recompute_blocks = keys.choice("recompute", recompute_names(), 0) == 1;
    keys.finish();
    if (training.gradients != DType::Bf16 && training.gradients != DType::Fp32)
        keys.fail(fmt::format("'gradients' must be bf16 or fp32, not {}", to_string(training.gradients)),
                  "gradients");
    if (training.data_parallel > kMostChips)
        keys.fail(fmt::format("at most {} chips, not {}", kMostChips, training.data_parallel),
                  "data_parallel");
    if (mistakes.count() != before) return std::nullopt;
    return training;
}

}  // namespace systole
