// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/huggingface_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "sim/workload/importers/decoder.h"
#include "sim/workload/importers/encoder.h"
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

/// What an architecture calls the sizes of its layers.
struct Names {
    const char *layers, *hidden, *heads, *ffn, *activation;
    bool ffn_is_optional = false;  ///< four times the width
};
constexpr Names kEncoderNames{"num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size",
                              "hidden_act"};

class ConfigReader {
public:
    ConfigReader(std::string_view text, const std::string& file) : config_(text, file), file_(file) {}

    Imported read();

private:
    std::string bert();
    std::string gpt2();
    std::string vit();
    std::string decoder();
    Encoder read_encoder(const Names& names, const std::string& act);
    void read_decoder(Decoder& decoder);
    void read_window(Decoder& decoder);
    void refuse_other_computations();
    void tell_formats();

    /// After the model, or else its type.
    template <typename Model>
    void name(Model& model, const std::vector<std::string>& about) {
        const std::string called = config_.text("_name_or_path", "");
        model.name = called.empty() || called.ends_with('/') ? type_ : called.substr(called.rfind('/') + 1);
        model.about = {fmt::format("Imported from a config.json of Hugging Face, model_type {}.", type_)};
        model.about.insert(model.about.end(), about.begin(), about.end());
    }
    void note(const char* key, std::string text) {
        imported_.notes.push_back({{file_, config_.line_of(key), 0}, std::move(text)});
    }

    JsonObject config_;
    const std::string file_;
    std::string type_;
    Imported imported_;
};

void ConfigReader::read_decoder(Decoder& d) {
    d.layers = config_.extent("num_hidden_layers");
    d.hidden = config_.extent("hidden_size");
    d.heads = config_.extent("num_attention_heads");
    d.ffn = config_.extent("intermediate_size");
    d.vocabulary = config_.extent("vocab_size");
    // What other architectures take where these are missing is no size of this model.
    d.kv_heads =
        config_.extent("num_key_value_heads", type_ == "llama" ? std::optional(d.heads) : std::nullopt);
    const bool shared = type_ == "llama" || type_ == "mistral" || type_ == "qwen2";
    d.head_dim = config_.extent(
        "head_dim", shared ? std::optional(std::max<std::int64_t>(1, d.hidden / d.heads)) : std::nullopt);
    d.context = std::min(kLongestContext, config_.extent("max_position_embeddings", kLongestContext));
    config_.throw_if_any();
    if (!config_.has("head_dim") && d.hidden % d.heads != 0)
        config_.fail("num_attention_heads",
                     fmt::format("{} heads do not divide 'hidden_size' of {}, and there is no 'head_dim'",
                                 d.heads, d.hidden));
    if (d.heads % d.kv_heads != 0)
        config_.fail(
            "num_key_value_heads",
            fmt::format("{} heads of queries do not share {} heads of keys evenly", d.heads, d.kv_heads));
    const bool two_names = type_ == "gemma" && config_.has("hidden_activation");
    d.activation = activation(config_, two_names ? "hidden_activation" : "hidden_act",
                              type_ == "gemma" ? "gelu" : "silu");
    const bool biased = type_ != "mistral" && type_ != "qwen2" && config_.flag("attention_bias", false);
    d.qkv_bias = biased || type_ == "qwen2";
    d.projection_bias = biased;
    d.ffn_bias = type_ == "llama" && config_.flag("mlp_bias", false);
    d.head_norms = type_ == "qwen3";
    if (config_.flag("tie_word_embeddings", type_ == "gemma"))
        note(
            "tie_word_embeddings",
            fmt::format("the head has the embedding's weights; a trace stores them once more ({} parameters)",
                        d.vocabulary * d.hidden));
    if (type_ == "gemma") note("model_type", "that embeddings are scaled is part of their weights");
    read_window(d);
}

/// How far back a token sees. Llama and Gemma see all.
void ConfigReader::read_window(Decoder& d) {
    if (type_ != "mistral" && !(type_.starts_with("qwen") && config_.flag("use_sliding_window", false)))
        return;
    if (config_.states("sliding_window") && !config_.has("sliding_window")) return;  // null: none
    const std::int64_t window = config_.extent("sliding_window", 4096);
    if (!config_.has("sliding_window"))
        note("sliding_window", "'sliding_window' is missing; 4096 is taken, as transformers does");
    const bool some = config_.has("max_window_layers");
    if (some && config_.extent("max_window_layers") >= d.layers) return;
    d.context = std::min(d.context, window);
    note("sliding_window",
         fmt::format("a token sees {0} with itself{1}: longer caches than workload.kv_len={0} are no "
                     "cache of this model",
                     window, some ? ", in layers from 'max_window_layers' on" : ""));
}

/// Sizes of a layer, under the names that this architecture has for them.
Encoder ConfigReader::read_encoder(const Names& names, const std::string& act) {
    Encoder e;
    e.layers = config_.extent(names.layers);
    e.hidden = config_.extent(names.hidden);
    e.heads = config_.extent(names.heads);
    e.ffn = config_.extent(names.ffn, names.ffn_is_optional ? std::optional(4 * e.hidden) : std::nullopt);
    e.activation = activation(config_, names.activation, act);
    config_.throw_if_any();
    if (e.hidden % e.heads != 0)
        config_.fail(names.heads,
                     fmt::format("{} heads do not divide '{}' of {}", e.heads, names.hidden, e.hidden));
    return e;
}

std::string ConfigReader::bert() {
    Encoder e = read_encoder(kEncoderNames, "gelu");
    Words words{{{"token", "tokens", config_.extent("vocab_size")},
                 {"position", "positions", config_.extent("max_position_embeddings", 512)},
                 {"segment", "segments", config_.extent("type_vocab_size", 2)}},
                128,
                true,
                "encoder"};
    words.sequence = std::min(words.sequence, words.tables[1].rows);
    note("model_type", "the pooler and heads for tasks are left out");
    name(e, {"The encoder: without a pooler and heads for tasks.",
             "The factor 1/sqrt(head_dim) is in the weights of the queries."});
    return words_trace(e, words);
}

std::string ConfigReader::gpt2() {
    Encoder e =
        read_encoder({"n_layer", "n_embd", "n_head", "n_inner", "activation_function", true}, "gelu_new");
    Words words{{{"token", "tokens", config_.extent("vocab_size")},
                 {"position", "positions", config_.extent("n_positions", 1024)}},
                128,
                false,
                "decoder"};
    words.sequence = std::min(words.sequence, words.tables[1].rows);
    note("model_type",
         "the head, the embedding's weights once more, is left out; scores of tokens to come are computed");
    name(e, {"The prefill of seq tokens, without the head.",
             "The factor 1/sqrt(head_dim) is in the weights of the queries."});
    return words_trace(e, words);
}

std::string ConfigReader::vit() {
    Encoder e = read_encoder(kEncoderNames, "gelu");
    e.qkv_bias = config_.flag("qkv_bias", true);
    Patches p;
    p.image = config_.extent("image_size", 224);
    p.patch = config_.extent("patch_size", 16);
    p.channels = config_.extent("num_channels", 3);
    p.classes = config_.entries("id2label", config_.extent("num_labels", 2));
    if (!config_.has("id2label") && !config_.has("num_labels"))
        note("model_type", "there is no 'id2label'; 2 classes are taken, as transformers does");
    config_.throw_if_any();
    if (p.image % p.patch != 0)
        config_.fail("patch_size",
                     fmt::format("patches of {} do not divide an image of {}", p.patch, p.image));
    note("model_type",
         "all tokens are averaged for the classifier, and there is no class token in front of them");
    name(e, {"Patches are embedded by a convolution.",
             "The factor 1/sqrt(head_dim) is in the weights of the queries."});
    return patches_trace(e, p);
}

std::string ConfigReader::decoder() {
    Decoder d;
    read_decoder(d);
    name(d, {"One step: q_len new tokens of each of batch sequences, behind which kv_len tokens are in the "
             "KV cache.",
             "The factor 1/sqrt(head_dim) is in the weights of the queries;",
             "only the last token's head is computed."});
    return decoder_trace(d);
}

/// Keys that make another network of it.
void ConfigReader::refuse_other_computations() {
    for (const char* const key : {"is_decoder", "add_cross_attention"})
        if (config_.flag(key, false))
            config_.fail(key, fmt::format("'{}': such a network is not taken", key));
    if (config_.text("position_embedding_type", "absolute") != "absolute")
        config_.fail("position_embedding_type", "only absolute positions are taken");
    config_.throw_if_any();
}

/// Formats that the model has, and the trace has not.
void ConfigReader::tell_formats() {
    if (config_.has("quantization_config"))
        note("quantization_config",
             "how weights are quantized is not taken over: they are of workload.dtype, bf16");
    const char* const key = config_.has("dtype") ? "dtype" : "torch_dtype";
    if (!config_.has(key)) return;
    const std::string dtype = config_.text(key, "bfloat16");
    if (dtype != "bfloat16")
        note(key, fmt::format("stored as {}; here workload.dtype is bf16", excerpt(dtype)));
}

Imported ConfigReader::read() {
    static const std::vector<std::string> known{"bert",    "gemma", "gpt2",  "llama",
                                                "mistral", "qwen2", "qwen3", "vit"};
    type_ = config_.text("model_type", "");
    if (std::ranges::find(known, type_) == known.end()) {
        // Another number behind a name is another architecture, and not a slip.
        const bool slip =
            !config_.states("text_config") && type_.find_first_of("0123456789_") == std::string::npos;
        config_.fail("model_type",
                     type_.empty()
                         ? "'model_type' is missing; is this a config.json of a model?"
                         : fmt::format("'{}' is not known here; known are: {}{}", excerpt(type_),
                                       fmt::join(known, ", "), slip ? did_you_mean(type_, known) : ""));
    }
    config_.throw_if_any();
    refuse_other_computations();
    tell_formats();
    imported_.trace = type_ == "bert"   ? bert()
                      : type_ == "gpt2" ? gpt2()
                      : type_ == "vit"  ? vit()
                                        : decoder();
    config_.throw_if_any();
    return std::move(imported_);
}

}  // namespace

Imported import_huggingface_config(std::string_view text, const std::string& file) {
    return ConfigReader(text, file).read();
}

}  // namespace systole
