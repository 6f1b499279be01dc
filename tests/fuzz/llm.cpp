// SPDX-License-Identifier: Apache-2.0
// Steps of language models, of any phase, size and number format, whose config.json stands behind the first
// line: what is made must be a trace, unless its sizes are those of none.
#include <algorithm>

#include "sim/workload/generators/llm_trace.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/imported_input.h"

namespace systole::fuzz {
namespace {

/// Choices by the letters of a line; those that it lacks are the first.
class Choices {
public:
    explicit Choices(std::string_view line) : line_(line) {}

    std::size_t below(std::size_t count) {
        if (at_ >= line_.size()) return 0;
        return static_cast<unsigned char>(line_[at_++] - '0') % count;
    }
    /// One of the powers of two up to 2^`most`, or a neighbour.
    std::int64_t extent(std::size_t most) {
        const auto power = std::int64_t{1} << below(most + 1);
        return std::max<std::int64_t>(1, power + static_cast<std::int64_t>(below(3)) - 1);
    }
    const std::string& of(const std::vector<std::string>& names) { return names[below(names.size())]; }

private:
    std::string_view line_;
    std::size_t at_ = 0;
};

LlmRequest request_of(std::string_view line) {
    Choices choices(line);
    LlmRequest request;
    request.step.phase = static_cast<ServingStep::Phase>(choices.below(3));
    const bool trains = request.step.phase == ServingStep::Phase::Train;
    request.step.tensor_parallel = choices.extent(6);
    request.step.batch = choices.extent(12);
    request.step.context = choices.extent(20);
    request.any_context = choices.below(2) == 0;
    if (request.step.phase == ServingStep::Phase::Decode) request.new_tokens = choices.extent(12);
    request.weights = choices.of(weight_formats());
    request.cache = choices.of(cache_formats());
    if (choices.below(2) != 0) request.activations = choices.of(activation_formats());
    request.asks_routing = choices.below(2) != 0;
    request.routing = static_cast<Routing>(choices.below(3));
    if (!trains) return request;
    request.weights = request.cache = "bf16";
    request.activations.clear();
    request.asks_routing = false;
    request.step.data_parallel = choices.extent(8);
    request.optimizer = choices.of({"adam", "momentum", "sgd"});
    request.gradients = choices.of({"bf16", "fp32"});
    request.recompute = choices.of({"none", "blocks"});
    return request;
}

}  // namespace

void read_input(const std::string& input) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const LlmRequest request = request_of(std::string_view(input).substr(0, end));
    const std::string_view config = std::string_view(input).substr(end);
    import_input([&] { return llm_trace(config, "config.json", request); }, true);
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{"null",
                                                      "\"num_hidden_layers\": 2,",
                                                      "\"hidden_size\": 64,",
                                                      "\"num_attention_heads\": 8,",
                                                      "\"num_key_value_heads\": 4,",
                                                      "\"head_dim\": 16,",
                                                      "\"sliding_window\": 7,",
                                                      "\"num_experts\": 8,",
                                                      "\"num_local_experts\": 8,",
                                                      "\"num_experts_per_tok\": 2,",
                                                      "\"model_type\": \"mixtral\",",
                                                      "\"model_type\": \"deepseek_v3\",",
                                                      "\"tie_word_embeddings\": true,",
                                                      "\"max_position_embeddings\": 64,",
                                                      "\"kv_lora_rank\": 32,",
                                                      "012345678",
                                                      "1e9",
                                                      "2147483648",
                                                      ",",
                                                      "\xff"};
    return pieces;
}

}  // namespace systole::fuzz
