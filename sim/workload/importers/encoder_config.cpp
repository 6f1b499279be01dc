// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/encoder_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/workload/importers/encoder.h"

namespace systole {
namespace {

/// What an architecture calls the sizes of its layers.
struct Names {
    const char *layers, *hidden, *heads, *ffn, *activation;
    bool ffn_is_optional = false;  ///< four times the width
};
constexpr Names kEncoderNames{"num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size",
                              "hidden_act"};

/// Sizes of a layer, under the names that this architecture has for them.
Encoder read_encoder(ModelConfig& config, const Names& names, const std::string& act) {
    JsonObject& keys = config.keys();
    Encoder e;
    e.layers = keys.extent(names.layers);
    e.hidden = keys.extent(names.hidden);
    e.heads = keys.extent(names.heads);
    e.ffn = keys.extent(names.ffn, names.ffn_is_optional ? std::optional(4 * e.hidden) : std::nullopt);
    e.activation = config.activation(names.activation, act);
    keys.throw_if_any();
    if (e.hidden % e.heads != 0)
        keys.fail(names.heads,
                  fmt::format("{} heads do not divide '{}' of {}", e.heads, names.hidden, e.hidden));
    return e;
}

void name(Encoder& e, ModelConfig& config, const std::vector<std::string>& about) {
    e.name = config.name();
    e.about = {fmt::format("Imported from a config.json of Hugging Face, model_type {}.", config.type())};
    e.about.insert(e.about.end(), about.begin(), about.end());
    e.about.emplace_back("The factor 1/sqrt(head_dim) is in the weights of the queries.");
}

}  // namespace

std::string bert_trace(ModelConfig& config) {
    JsonObject& keys = config.keys();
    Encoder e = read_encoder(config, kEncoderNames, "gelu");
    Words words{{{"token", "tokens", keys.extent("vocab_size")},
                 {"position", "positions", keys.extent("max_position_embeddings", 512)},
                 {"segment", "segments", keys.extent("type_vocab_size", 2)}},
                128,
                true,
                "encoder"};
    words.sequence = std::min(words.sequence, words.tables[1].rows);
    config.note("model_type", "the pooler and heads for tasks are left out");
    name(e, config, {"The encoder: without a pooler and heads for tasks."});
    return words_trace(e, words);
}

std::string gpt2_trace(ModelConfig& config) {
    JsonObject& keys = config.keys();
    Encoder e = read_encoder(config, {"n_layer", "n_embd", "n_head", "n_inner", "activation_function", true},
                             "gelu_new");
    Words words{{{"token", "tokens", keys.extent("vocab_size")},
                 {"position", "positions", keys.extent("n_positions", 1024)}},
                128,
                false,
                "decoder"};
    words.sequence = std::min(words.sequence, words.tables[1].rows);
    config.note_tied("model_type", words.tables.front().rows * e.hidden);
    config.note("model_type", "scores of tokens to come are computed");
    name(e, config, {"The prefill of seq tokens; only the last one's head is computed."});
    return words_trace(e, words);
}

std::string vit_trace(ModelConfig& config) {
    JsonObject& keys = config.keys();
    Encoder e = read_encoder(config, kEncoderNames, "gelu");
    e.qkv_bias = keys.flag("qkv_bias", true);
    Patches p;
    p.image = keys.extent("image_size", 224);
    p.patch = keys.extent("patch_size", 16);
    p.channels = keys.extent("num_channels", 3);
    p.classes = keys.entries("id2label", keys.extent("num_labels", 2));
    if (!keys.has("id2label") && !keys.has("num_labels"))
        config.note("model_type", "there is no 'id2label'; 2 classes are taken, as transformers does");
    keys.throw_if_any();
    if (p.image % p.patch != 0)
        keys.fail("patch_size", fmt::format("patches of {} do not divide an image of {}", p.patch, p.image));
    name(e, config, {"Patches are embedded by a convolution; the class token is a table of one row."});
    return patches_trace(e, p);
}

}  // namespace systole
