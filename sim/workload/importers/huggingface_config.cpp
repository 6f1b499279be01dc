// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/huggingface_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "sim/workload/importers/decoder.h"
#include "sim/workload/importers/json_object.h"

namespace systole {
namespace {

/// A step that nobody describes has as many tokens behind it as the model was made for, but no more than
/// this.
constexpr std::int64_t kLongestContext = 8192;

/// `hidden_act` as a trace says it; the several approximations of GELU cost the same here.
std::string activation(JsonObject& config, const char* key, const std::string& fallback) {
    static const std::map<std::string, std::string, std::less<>> known{
        {"silu", "silu"},     {"swish", "silu"},     {"gelu", "gelu"},
        {"gelu_new", "gelu"}, {"gelu_fast", "gelu"}, {"gelu_pytorch_tanh", "gelu"},
        {"relu", "relu"}};
    const std::string wanted = config.text(key, fallback);
    const auto found = known.find(wanted);
    if (found != known.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& [name, ours] : known) names.push_back(name);
    config.fail(key, fmt::format("'{}' is '{}'; expected one of: {}{}", key, excerpt(wanted),
                                 fmt::join(names, ", "), did_you_mean(wanted, names)));
    return "silu";
}

class ConfigReader {
public:
    ConfigReader(std::string_view text, const std::string& file) : config_(text, file), file_(file) {}

    Imported read();

private:
    void read_decoder(const std::string& type, Decoder& decoder);
    void note(const char* key, std::string text) {
        imported_.notes.push_back({{file_, config_.line_of(key), 0}, std::move(text)});
    }

    JsonObject config_;
    const std::string file_;
    Imported imported_;
};

void ConfigReader::read_decoder(const std::string& type, Decoder& d) {
    d.layers = config_.extent({"num_hidden_layers"});
    d.hidden = config_.extent({"hidden_size"});
    d.heads = config_.extent({"num_attention_heads"});
    d.kv_heads = config_.extent({"num_key_value_heads"}, d.heads);
    d.ffn = config_.extent({"intermediate_size"});
    d.vocabulary = config_.extent({"vocab_size"});
    d.context = std::min(kLongestContext, config_.extent({"max_position_embeddings"}, kLongestContext));
    if (!config_.has("head_dim") && d.hidden % d.heads != 0)
        config_.fail("num_attention_heads",
                     fmt::format("{} heads do not divide 'hidden_size' of {}, and there is no 'head_dim'",
                                 d.heads, d.hidden));
    d.head_dim = config_.extent({"head_dim"}, std::max<std::int64_t>(1, d.hidden / d.heads));
    if (d.heads % d.kv_heads != 0)
        config_.fail(
            "num_key_value_heads",
            fmt::format("{} heads of queries do not share {} heads of keys evenly", d.heads, d.kv_heads));
    d.activation = activation(config_, config_.has("hidden_activation") ? "hidden_activation" : "hidden_act",
                              type == "gemma" ? "gelu" : "silu");
    const bool biased = config_.flag("attention_bias", false);
    d.qkv_bias = biased || type == "qwen2";
    d.projection_bias = biased;
    d.ffn_bias = config_.flag("mlp_bias", false);
    d.head_norms = type == "qwen3";
    if (config_.flag("tie_word_embeddings", type == "gemma"))
        note(
            "tie_word_embeddings",
            fmt::format("the head has the embedding's weights; a trace stores them once more ({} parameters)",
                        d.vocabulary * d.hidden));
    if (config_.has("sliding_window") && config_.flag("use_sliding_window", type == "mistral")) {
        const std::int64_t window = config_.extent({"sliding_window"});
        d.context = std::min(d.context, window);
        note("sliding_window",
             fmt::format("a token sees {} others: longer caches than workload.kv_len={} are no "
                         "cache of this model",
                         window, window));
    }
    if (type == "gemma") note("model_type", "that embeddings are scaled is part of their weights");
}

Imported ConfigReader::read() {
    static const std::vector<std::string> decoders{"gemma", "llama", "mistral", "qwen2", "qwen3"};
    const std::string type = config_.text("model_type", "");
    if (std::ranges::find(decoders, type) == decoders.end())
        config_.fail("model_type",
                     type.empty() ? "'model_type' is missing; is this a config.json of a model?"
                                  : fmt::format("'{}' is not known here; known are: {}{}", excerpt(type),
                                                fmt::join(decoders, ", "), did_you_mean(type, decoders)));
    config_.throw_if_any();
    Decoder decoder;
    read_decoder(type, decoder);
    config_.throw_if_any();
    const std::string called = config_.text("_name_or_path", "");
    decoder.name = called.empty() || called.ends_with('/') ? type : called.substr(called.rfind('/') + 1);
    decoder.about = {
        fmt::format("Imported from a config.json of Hugging Face, model_type {}.", type),
        "One step: q_len new tokens of each of batch sequences, behind which kv_len tokens are in the KV "
        "cache.",
        "The factor 1/sqrt(head_dim) is in the weights of the queries; only the last token's head is "
        "computed."};
    imported_.trace = decoder_trace(decoder);
    return std::move(imported_);
}

}  // namespace

Imported import_huggingface_config(std::string_view text, const std::string& file) {
    return ConfigReader(text, file).read();
}

}  // namespace systole
