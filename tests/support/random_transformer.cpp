// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_transformer.h"

#include <fmt/format.h>

#include "sim/workload/generators/llm_trace.h"

namespace systole::test {
namespace {

bool coin(Dice& dice) {
    return between(dice, 0, 1) == 1;
}

const std::string& one_of(Dice& dice, const std::vector<std::string>& all) {
    return all[static_cast<std::size_t>(between(dice, 0, static_cast<std::int64_t>(all.size()) - 1))];
}

/// Of a decoder as Llama's, or Mixtral's with experts.
std::string config_of(Dice& dice, std::int64_t heads, bool experts) {
    const std::int64_t head = 8 << between(dice, 0, 2), shared = std::int64_t{1} << between(dice, 0, 1);
    std::string text = fmt::format(
        R"({{"model_type": "{}", "hidden_size": {}, "intermediate_size": {}, "num_attention_heads": {},
 "num_key_value_heads": {}, "num_hidden_layers": {}, "vocab_size": {}, "max_position_embeddings": 4096,
 "hidden_act": "silu")",
        experts ? "mixtral" : "llama", head * heads, 16 * between(dice, 1, 8) * heads, heads,
        heads % shared == 0 ? heads / shared : heads, between(dice, 1, 6), 8 * between(dice, 2, 40) * heads);
    if (experts)
        text += fmt::format(R"(, "num_local_experts": {}, "num_experts_per_tok": {})", 4 * heads,
                            between(dice, 1, 3));
    return text + "}";
}

}  // namespace

std::string random_transformer(Dice& dice) {
    LlmRequest request;
    ServingStep& step = request.step;
    step.phase = static_cast<ServingStep::Phase>(between(dice, 0, 2));
    step.tensor_parallel = std::int64_t{1} << between(dice, 0, 2);
    step.batch = between(dice, 1, 4);
    step.context = between(dice, 1, 200);
    const bool trains = step.phase == ServingStep::Phase::Train, experts = coin(dice) && !trains;
    if (trains) {
        step.data_parallel = between(dice, 1, 3);
        request.optimizer = one_of(dice, {"adam", "momentum", "sgd"});
        request.recompute = one_of(dice, {"none", "blocks"});
    } else if (coin(dice)) {
        request.weights = one_of(dice, weight_formats());
        request.cache = one_of(dice, cache_formats());
    }
    if (experts) {
        request.asks_routing = true;
        request.routing = static_cast<Routing>(between(dice, 0, 2));
    }
    const std::string config = config_of(dice, step.tensor_parallel << between(dice, 0, 1), experts);
    return llm_trace(config, "random.json", request).trace;
}

}  // namespace systole::test
