// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/decoder_config.h"

#include <fmt/format.h>

#include <algorithm>

namespace systole {
namespace {

bool any_of(const ModelConfig& config, std::initializer_list<const char*> types) {
    return std::ranges::any_of(types, [&](const char* type) { return config.is(type); });
}

/// What Gemma 2 and 3 do otherwise than this decoder.
void tell_gemma(ModelConfig& config) {
    JsonObject& keys = config.keys();
    if (config.is("gemma2")) config.note("model_type", "that scores pass a tanh is not computed");
    if (config.is("gemma2") || config.is("gemma3_text"))
        config.note("sliding_window",
                    fmt::format("some layers see {} tokens only; here all see workload.kv_len",
                                keys.extent("sliding_window", 4096)));
}

/// How far back a token sees. Llama, Gemma and DeepSeek see all.
void read_window(ModelConfig& config, Decoder& d) {
    JsonObject& keys = config.keys();
    const bool optional = config.type().starts_with("qwen") && keys.flag("use_sliding_window", false);
    if (!config.is("mistral") && !optional && !(config.is("mixtral") && keys.has("sliding_window"))) return;
    if (keys.states("sliding_window") && !keys.has("sliding_window")) return;  // null: none
    const std::int64_t window = keys.extent("sliding_window", 4096);
    if (!keys.has("sliding_window"))
        config.note("sliding_window", "'sliding_window' is missing; 4096 is taken, as transformers does");
    const bool some = keys.has("max_window_layers");
    if (some && keys.extent("max_window_layers") >= d.layers) return;
    d.context = std::min(d.context, window);
    config.note("sliding_window",
                fmt::format("a token sees {0} with itself{1}: longer caches than workload.kv_len={0} are no "
                            "cache of this model",
                            window, some ? ", in layers from 'max_window_layers' on" : ""));
}

/// Where keys of every architecture are: sizes of the layers.
void read_sizes(ModelConfig& config, Decoder& d) {
    JsonObject& keys = config.keys();
    d.layers = keys.extent("num_hidden_layers");
    d.hidden = keys.extent("hidden_size");
    d.heads = keys.extent("num_attention_heads");
    d.ffn = keys.extent(config.is("opt") ? "ffn_dim" : "intermediate_size");
    d.vocabulary = keys.extent("vocab_size");
    d.context = std::min(kLongestContext, keys.extent("max_position_embeddings", kLongestContext));
}

void read_grouped_heads(ModelConfig& config, Decoder& d) {
    JsonObject& keys = config.keys();
    // What other architectures take where these are missing is no size of this model.
    d.kv_heads =
        keys.extent("num_key_value_heads", config.is("llama") ? std::optional(d.heads) : std::nullopt);
    const bool shared = any_of(config, {"llama", "mistral", "mixtral", "qwen2", "qwen2_moe"});
    d.head_dim = keys.extent(
        "head_dim", shared ? std::optional(std::max<std::int64_t>(1, d.hidden / d.heads)) : std::nullopt);
    keys.throw_if_any();
    if (!keys.has("head_dim") && d.hidden % d.heads != 0)
        keys.fail("num_attention_heads",
                  fmt::format("{} heads do not divide 'hidden_size' of {}, and there is no 'head_dim'",
                              d.heads, d.hidden));
    if (d.heads % d.kv_heads != 0)
        keys.fail(
            "num_key_value_heads",
            fmt::format("{} heads of queries do not share {} heads of keys evenly", d.heads, d.kv_heads));
}

/// Which layers have experts: all, or all but the first ones.
void refuse_mixed_layers(ModelConfig& config) {
    JsonObject& keys = config.keys();
    for (const char* const key : {"decoder_sparse_step", "moe_layer_freq"})
        if (keys.extent(key, 1) != 1)
            keys.fail(key,
                      fmt::format("'{}': only networks with experts in all layers, or all but the first ones",
                                  key));
    if (!keys.empty("mlp_only_layers"))
        keys.fail("mlp_only_layers", "'mlp_only_layers': only networks with experts in all layers are taken");
}

void read_experts(ModelConfig& config, Decoder& d) {
    JsonObject& keys = config.keys();
    const bool mixtral = config.is("mixtral"), deepseek = config.type().starts_with("deepseek");
    const char* const count = mixtral ? "num_local_experts" : deepseek ? "n_routed_experts" : "num_experts";
    Experts e;
    e.count = keys.extent(count);
    e.chosen = keys.extent("num_experts_per_tok");
    e.ffn = mixtral ? d.ffn : keys.extent("moe_intermediate_size");
    if (config.is("qwen2_moe")) e.shared_ffn = keys.extent("shared_expert_intermediate_size");
    if (deepseek && keys.has("n_shared_experts")) e.shared_ffn = keys.extent("n_shared_experts") * e.ffn;
    e.shared_gate = config.is("qwen2_moe");
    if (deepseek) e.dense_layers = keys.whole("first_k_dense_replace", 0);
    if (config.is("deepseek_v3")) e.scores = "sigmoid";
    refuse_mixed_layers(config);
    keys.throw_if_any();
    if (e.chosen > e.count)
        keys.fail("num_experts_per_tok",
                  fmt::format("a token cannot choose {} of {} experts", e.chosen, e.count));
    if (e.dense_layers >= d.layers)
        keys.fail("first_k_dense_replace",
                  fmt::format("{} of {} layers are dense, and none has experts", e.dense_layers, d.layers));
    if (deepseek && keys.extent("n_group", 1) > 1)
        config.note("n_group", "that tokens choose among few groups of experts is not computed: among all");
    d.experts = e;
}

/// Heads of latents at most, each of which is named in a trace that expands them. Published are 128.
constexpr std::int64_t kMostLatentHeads = 4096;

void read_latents(ModelConfig& config, Decoder& d) {
    JsonObject& keys = config.keys();
    Latents l;
    if (keys.has("q_lora_rank")) l.query_rank = keys.extent("q_lora_rank");
    l.rank = keys.extent("kv_lora_rank");
    l.plain = keys.extent("qk_nope_head_dim");
    l.turned = keys.extent("qk_rope_head_dim");
    l.value = keys.extent("v_head_dim");
    d.latents = l;
    if (d.heads > kMostLatentHeads)
        keys.fail("num_attention_heads",
                  fmt::format("{} heads with latents; at most {} are taken", d.heads, kMostLatentHeads));
    d.kv_heads = d.heads;
    d.head_dim = l.plain + l.turned;
    if (keys.has("num_nextn_predict_layers") && keys.whole("num_nextn_predict_layers", 0) > 0)
        config.note("num_nextn_predict_layers",
                    "the layers that predict tokens behind the next one are left out");
}

/// Biases everywhere, layer norms, a table of positions, no gate.
void read_opt(ModelConfig& config, Decoder& d) {
    JsonObject& keys = config.keys();
    if (!keys.flag("do_layer_norm_before", true))
        keys.fail("do_layer_norm_before", "norms behind the halves of a layer are not taken");
    if (keys.extent("word_embed_proj_dim", d.hidden) != d.hidden)
        keys.fail("word_embed_proj_dim", "embeddings of another width than 'hidden_size' are not taken");
    d.activation = config.activation("activation_function", "relu");
    d.context = keys.extent("max_position_embeddings", 2048);
    d.positions = d.context + 2;  // the first two rows are not used
    d.context = std::min(d.context, kLongestContext);
    d.qkv_bias = d.projection_bias = d.ffn_bias = keys.flag("enable_bias", true);
    d.layer_norms = true;
    d.gated = false;
}

void read_gpt2(ModelConfig& config, Decoder& d) {
    JsonObject& keys = config.keys();
    d.layers = keys.extent("n_layer");
    d.hidden = keys.extent("n_embd");
    d.heads = keys.extent("n_head");
    d.ffn = keys.extent("n_inner", 4 * d.hidden);
    d.vocabulary = keys.extent("vocab_size");
    d.positions = keys.extent("n_positions", 1024);
    d.context = std::min(kLongestContext, d.positions);
    d.activation = config.activation("activation_function", "gelu_new");
    d.qkv_bias = d.projection_bias = d.ffn_bias = d.layer_norms = true;
    d.gated = false;
}

void share_width(ModelConfig& config, Decoder& d) {
    JsonObject& keys = config.keys();
    keys.throw_if_any();
    d.kv_heads = d.heads;
    d.head_dim = std::max<std::int64_t>(1, d.hidden / d.heads);
    if (d.hidden % d.heads != 0)
        keys.fail(config.is("gpt2") ? "n_head" : "num_attention_heads",
                  fmt::format("{} heads do not divide the width of {}", d.heads, d.hidden));
}

/// What a feed-forward with a gate has beside its sizes, and biases.
void read_switches(ModelConfig& config, Decoder& d) {
    JsonObject& keys = config.keys();
    const bool two_names = config.type().starts_with("gemma") && keys.has("hidden_activation");
    d.activation = config.activation(two_names ? "hidden_activation" : "hidden_act",
                                     config.type().starts_with("gemma") ? "gelu" : "silu");
    const bool may = !any_of(config, {"mistral", "mixtral", "qwen2", "qwen2_moe"});
    const bool biased = may && keys.flag("attention_bias", false);
    if (d.latents && biased)
        keys.fail("attention_bias", "'attention_bias': latents with a bias are not taken");
    d.qkv_bias = biased || any_of(config, {"qwen2", "qwen2_moe"});
    d.projection_bias = biased;
    d.ffn_bias = config.is("llama") && keys.flag("mlp_bias", false);
    d.head_norms = any_of(config, {"qwen3", "qwen3_moe", "gemma3_text"});
    d.post_norms = any_of(config, {"gemma2", "gemma3_text"});
}

void tell_tied(ModelConfig& config, Decoder& d) {
    const bool usual = any_of(config, {"gemma", "gemma2", "gemma3_text", "opt", "gpt2"});
    d.tied = config.keys().flag("tie_word_embeddings", usual);
    if (d.tied) config.note_tied("tie_word_embeddings", d.vocabulary * d.hidden);
}

}  // namespace

const std::vector<std::string>& decoder_types() {
    static const std::vector<std::string> types{
        "deepseek_v2", "deepseek_v3", "gemma", "gemma2", "gemma3_text", "gpt2",  "llama",
        "mistral",     "mixtral",     "opt",   "qwen2",  "qwen2_moe",   "qwen3", "qwen3_moe"};
    return types;
}

Decoder read_decoder(ModelConfig& config) {
    Decoder d;
    if (config.is("gpt2"))
        read_gpt2(config, d);
    else
        read_sizes(config, d);
    if (config.is("opt")) read_opt(config, d);
    if (any_of(config, {"gpt2", "opt"})) {
        share_width(config, d);
    } else if (any_of(config, {"deepseek_v2", "deepseek_v3"})) {
        read_latents(config, d);
        read_switches(config, d);
    } else {
        read_grouped_heads(config, d);
        read_switches(config, d);
    }
    if (any_of(config, {"mixtral", "qwen2_moe", "qwen3_moe", "deepseek_v2", "deepseek_v3"}))
        read_experts(config, d);
    tell_tied(config, d);
    if (config.type().starts_with("gemma"))
        config.note("model_type", "that embeddings are scaled is part of their weights");
    tell_gemma(config);
    read_window(config, d);
    d.name = config.name();
    return d;
}

}  // namespace systole
