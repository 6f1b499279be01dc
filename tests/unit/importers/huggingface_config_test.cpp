// SPDX-License-Identifier: Apache-2.0
// Published sizes, and the numbers of parameters that the models' pages give.
#include "sim/workload/importers/huggingface_config.h"

#include <catch2/catch.hpp>

#include "tests/unit/workload/graphs.h"

using namespace systole;
using namespace systole::test;

namespace {

std::string model(const std::string& type, const std::string& more) {
    return "{\"model_type\": \"" + type + "\", " + more + "}";
}

const std::string kLlama3 =
    "\"hidden_size\": 4096, \"intermediate_size\": 14336, \"num_attention_heads\": 32, "
    "\"num_hidden_layers\": 32,"
    "\"num_key_value_heads\": 8, \"max_position_embeddings\": 8192, \"vocab_size\": 128256, \"hidden_act\": "
    "\"silu\"";

Imported imported(const std::string& text) {
    return import_huggingface_config(text, "config.json");
}

/// All that is stored but tables of positions, which a model computes.
std::int64_t parameters(const Graph& graph) {
    std::int64_t sum = 0;
    for (const Layer& layer : graph.layers)
        for (const std::optional<TensorId>& stored : {layer.weights, layer.bias})
            if (stored && !std::holds_alternative<Rotary>(layer.op))
                sum += elements(graph.tensors[*stored].shape);
    return sum;
}

std::string refusal(const std::string& text) {
    try {
        imported(text);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("models have the parameters that are published") {
    struct Case {
        const char *type, *sizes;
        std::int64_t parameters;
    };
    const auto [type, sizes, published] = GENERATE(values<Case>({
        // Meta-Llama-3-8B and -70B
        {"llama",
         "\"hidden_size\": 4096, \"intermediate_size\": 14336, \"num_attention_heads\": 32, "
         "\"num_hidden_layers\": 32,"
         "\"num_key_value_heads\": 8, \"vocab_size\": 128256",
         8'030'261'248},
        {"llama",
         "\"hidden_size\": 8192, \"intermediate_size\": 28672, \"num_attention_heads\": 64, "
         "\"num_hidden_layers\": 80,"
         "\"num_key_value_heads\": 8, \"vocab_size\": 128256",
         70'553'706'496},
        // Mistral-7B-v0.1
        {"mistral",
         "\"hidden_size\": 4096, \"intermediate_size\": 14336, \"num_attention_heads\": 32, "
         "\"num_hidden_layers\": 32,"
         "\"num_key_value_heads\": 8, \"vocab_size\": 32000, \"sliding_window\": 4096",
         7'241'732'096},
        // Qwen2-7B, whose queries, keys and values have a bias
        {"qwen2",
         "\"hidden_size\": 3584, \"intermediate_size\": 18944, \"num_attention_heads\": 28, "
         "\"num_hidden_layers\": 28,"
         "\"num_key_value_heads\": 4, \"vocab_size\": 152064, \"sliding_window\": 131072, "
         "\"use_sliding_window\": false",
         7'615'616'512},
        // Qwen3-8B, whose heads are normed
        {"qwen3",
         "\"hidden_size\": 4096, \"intermediate_size\": 12288, \"num_attention_heads\": 32, "
         "\"num_hidden_layers\": 36,"
         "\"num_key_value_heads\": 8, \"head_dim\": 128, \"vocab_size\": 151936, \"tie_word_embeddings\": "
         "false",
         8'190'735'360},
        // gemma-7b: the head is the embedding, stored once more
        {"gemma",
         "\"hidden_size\": 3072, \"intermediate_size\": 24576, \"num_attention_heads\": 16, "
         "\"num_hidden_layers\": 28,"
         "\"num_key_value_heads\": 16, \"head_dim\": 256, \"vocab_size\": 256000",
         8'537'680'896 + 786'432'000},
    }));
    INFO(type << " " << published);
    CHECK(parameters(graph_of(imported(model(type, sizes)).trace)) == published);
}

TEST_CASE("encoders have the parameters that are published") {
    struct Case {
        const char *type, *sizes;
        std::int64_t parameters;
    };
    const auto [type, sizes, published] = GENERATE(values<Case>({
        // bert-large-uncased without its pooler: 335,141,888 less 1,024 x 1,025
        {"bert",
         "\"hidden_size\": 1024, \"num_hidden_layers\": 24, \"num_attention_heads\": 16, "
         "\"intermediate_size\": 4096,"
         "\"vocab_size\": 30522",
         335'141'888 - 1'049'600},
        // gpt2-xl, which counts the table once
        {"gpt2", "\"n_embd\": 1600, \"n_layer\": 48, \"n_head\": 25, \"vocab_size\": 50257",
         1'557'611'200 + 50257 * 1600},
        // vit-large-patch16-224
        {"vit",
         "\"hidden_size\": 1024, \"num_hidden_layers\": 24, \"num_attention_heads\": 16, "
         "\"intermediate_size\": 4096, \"num_labels\": 1000",
         304'326'632},
    }));
    INFO(type);
    CHECK(parameters(graph_of(imported(model(type, sizes)).trace)) == published);
}

TEST_CASE("a decode step multiplies each weight once for each token, and reads the cache") {
    const Graph graph = graph_of(imported(model("llama", kLlama3)).trace, {{"batch", "2", {}}});
    const std::int64_t weights =
        8'030'261'248 - 128256LL * 4096 - (2 * 32 + 1) * 4096;  // neither table nor norms
    const std::int64_t attention = 2LL * 32 * 128 * 8192 * 32;  // scores, sums; heads; layers
    CHECK(total_macs(graph) == Macs(2 * (weights + attention)));
    CHECK(tensor(graph, "decoder.0.keys").shape == Shape{2, 8, 8192, 128});
}

TEST_CASE(
    "defaults are the architecture's: as many heads of keys as of queries, heads that share the width") {
    const Graph graph = graph_of(
        imported(model("llama",
                       "\"hidden_size\": 64, \"intermediate_size\": 128, \"num_attention_heads\": 4, "
                       "\"num_hidden_layers\": 2, \"vocab_size\": 100, \"max_position_embeddings\": 512, "
                       "\"_name_or_path\": \"some/tiny-model\""))
            .trace);
    CHECK(graph.name == "tiny_model");
    CHECK(tensor(graph, "decoder.1.keys").shape == Shape{1, 4, 512, 16});
    CHECK(graph.blocks.at(0).turns == 2);
}

TEST_CASE("what the trace says in another way is told") {
    const Imported gemma =
        imported(model("gemma", kLlama3 + ", \"head_dim\": 128,\n\"tie_word_embeddings\": true"));
    CHECK(gemma.notes.size() == 2);
    CHECK(to_string(gemma.notes.at(0))
              .starts_with("config.json:2: note: the head has the embedding's weights"));
    const Imported window = imported(model("mistral", kLlama3 + ", \"sliding_window\": 4096"));
    CHECK_THAT(to_string(window.notes.at(0)), Catch::Contains("longer caches than workload.kv_len=4096"));
    CHECK(tensor(graph_of(window.trace), "decoder.0.keys").shape == Shape{1, 8, 4096, 128});
    CHECK(imported(model("llama", kLlama3)).notes.empty());
    CHECK(imported(model("llama", kLlama3 + ", \"torch_dtype\": \"bfloat16\"")).notes.empty());
    const Imported stored = imported(
        model("llama", kLlama3 + ", \"torch_dtype\": \"float16\", \"quantization_config\": {\"bits\": 4}"));
    CHECK(stored.notes.size() == 2);
    CHECK_THAT(to_string(imported(model("mistral", kLlama3)).notes.at(0)),
               Catch::Contains("'sliding_window' is missing"));
    CHECK(imported(model("mistral", kLlama3 + ", \"sliding_window\": null")).notes.empty());
    CHECK(imported(model("qwen2", kLlama3 + ", \"use_sliding_window\": true, \"sliding_window\": 4096, "
                                            "\"max_window_layers\": 32"))
              .notes.empty());
}

TEST_CASE("configurations that cannot be read are refused with each reason") {
    CHECK_THAT(refusal("{}"), Catch::Contains("config.json:1:1: error: 'model_type' is missing"));
    CHECK_THAT(refusal(model("lama", kLlama3)),
               Catch::Contains("config.json:1:2: error: 'lama' is not known here") &&
                   Catch::Contains("did you mean 'llama'?"));
    const std::string several = refusal(model("llama", "\"hidden_size\": 0, \"num_hidden_layers\": \"32\""));
    for (const char* missing :
         {"'hidden_size' must be", "'num_hidden_layers' must be", "'vocab_size' is missing",
          "'intermediate_size' is missing", "'num_attention_heads' is missing"})
        CHECK_THAT(several, Catch::Contains(missing));
    CHECK_THAT(refusal(model("gemma", kLlama3 + ", \"head_dim\": 128, \"hidden_activation\": \"mish\"")),
               Catch::Contains("'mish'; expected"));
    const std::string small =
        "\"hidden_size\": 64, \"num_hidden_layers\": 1, \"num_attention_heads\": 4, \"intermediate_size\": "
        "96";
    CHECK_THAT(refusal(model("vit", small + ", \"patch_size\": 15")),
               Catch::Contains("patches of 15 do not divide"));
    CHECK_THAT(refusal(model("vit", small + ", \"id2label\": {}")),
               Catch::Contains("'id2label' must be an object"));
    CHECK_THAT(refusal(model("bert", small)), Catch::Contains("'vocab_size' is missing"));
    CHECK_THAT(refusal(model("gpt2", "\"n_embd\": 10, \"n_layer\": 1, \"n_head\": 3, \"vocab_size\": 9")),
               Catch::Contains("3 heads do not divide 'n_embd' of 10"));
    CHECK(
        tensor(graph_of(imported(model("vit", small + ", \"id2label\": {\"0\": \"a\", \"1\": \"b\"}")).trace),
               "classes")
            .shape == Shape{1, 2});
    CHECK(tensor(graph_of(imported(model("vit", small)).trace), "encoder.0.expand").shape ==
          Shape{1, 197, 96});
    CHECK(tensor(graph_of(imported(model("vit", small + ", \"num_labels\": 7")).trace), "classes").shape ==
          Shape{1, 7});
    const std::string without =
        "\"hidden_size\": 64, \"num_hidden_layers\": 1, \"num_attention_heads\": 4, \"intermediate_size\": "
        "96, \"vocab_size\": 9";
    CHECK_THAT(refusal(model("mistral", without)), Catch::Contains("'num_key_value_heads' is missing"));
    CHECK_THAT(refusal(model("qwen3", without + ", \"num_key_value_heads\": 4")),
               Catch::Contains("'head_dim' is missing"));
    CHECK_THAT(refusal(model("bert", without + ", \"is_decoder\": true")),
               Catch::Contains("'is_decoder': such a network"));
    CHECK_THAT(refusal(model("gemma9", without)), !Catch::Contains("did you mean"));
    CHECK_THAT(refusal(model("llama", "\"hidden_size\": 4096.0, \"num_attention_heads\": 3")),
               !Catch::Contains("divide"));
    const std::string sizes =
        "\"hidden_size\": 100, \"intermediate_size\": 8, \"num_hidden_layers\": 1, \"vocab_size\": 9, ";
    CHECK_THAT(refusal(model("llama", sizes + "\"num_attention_heads\": 3")),
               Catch::Contains("3 heads do not divide"));
    CHECK_THAT(refusal(model("llama", sizes + "\"num_attention_heads\": 4, \"num_key_value_heads\": 3")),
               Catch::Contains("do not share 3 heads"));
}

TEST_CASE("experts, latents and other decoders that cannot be are refused with each reason") {
    const std::string sizes =
        "\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"vocab_size\": 9, "
        "\"intermediate_size\": 96, \"num_key_value_heads\": 4";
    const std::string mixtral = sizes + ", \"num_local_experts\": 4, \"num_experts_per_tok\": ";
    CHECK(refusal(model("mixtral", mixtral + "4")).empty());
    CHECK_THAT(refusal(model("mixtral", mixtral + "5")),
               Catch::Contains("a token cannot choose 5 of 4 experts"));
    CHECK_THAT(refusal(model("mixtral", sizes)), Catch::Contains("'num_local_experts' is missing") &&
                                                     Catch::Contains("'num_experts_per_tok' is missing"));
    const std::string qwen =
        sizes +
        ", \"num_experts\": 4, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 32, "
        "\"shared_expert_intermediate_size\": 48";
    CHECK(refusal(model("qwen2_moe", qwen + ", \"mlp_only_layers\": []")).empty());
    CHECK_THAT(refusal(model("qwen2_moe", qwen + ", \"mlp_only_layers\": [0]")),
               Catch::Contains("'mlp_only_layers'"));
    CHECK_THAT(refusal(model("qwen2_moe", qwen + ", \"decoder_sparse_step\": 2")),
               Catch::Contains("'decoder_sparse_step': only networks with experts in all layers"));
    const std::string latents = sizes +
                                ", \"kv_lora_rank\": 16, \"qk_nope_head_dim\": 8, \"qk_rope_head_dim\": 4, "
                                "\"v_head_dim\": 8, \"n_routed_experts\": 4, \"num_experts_per_tok\": 2, "
                                "\"moe_intermediate_size\": 32";
    CHECK(refusal(model("deepseek_v3", latents + ", \"first_k_dense_replace\": 0")).empty());
    CHECK_THAT(refusal(model("deepseek_v2", latents + ", \"first_k_dense_replace\": 2")),
               Catch::Contains("2 of 2 layers are dense, and none has experts"));
    CHECK_THAT(refusal(model("deepseek_v2", latents + ", \"first_k_dense_replace\": -1")),
               Catch::Contains("'first_k_dense_replace' must be"));
    CHECK_THAT(refusal(model("deepseek_v2", sizes)), Catch::Contains("'kv_lora_rank' is missing"));
    std::string wide = latents;
    wide.replace(wide.find("heads\": 4"), 9, "heads\": 2147483647");
    CHECK_THAT(refusal(model("deepseek_v2", wide)),
               Catch::Contains("2147483647 heads with latents; at most 4096"));
    const std::string opt = sizes + ", \"ffn_dim\": 96";
    CHECK(refusal(model("opt", opt)).empty());
    CHECK_THAT(refusal(model("opt", opt + ", \"do_layer_norm_before\": false")),
               Catch::Contains("norms behind"));
    CHECK_THAT(refusal(model("opt", opt + ", \"word_embed_proj_dim\": 32")),
               Catch::Contains("embeddings of another width"));
    CHECK_THAT(refusal(model("whisper", "\"d_model\": 10, \"encoder_attention_heads\": 3")),
               Catch::Contains("3 heads do not divide 'd_model' of 10") &&
                   Catch::Contains("'encoder_layers' is missing"));
}

TEST_CASE("what an import of experts, latents and tied heads does otherwise is told") {
    const auto notes = [](const std::string& type, const std::string& more) {
        std::string all;
        for (const ImportNote& note : imported(model(type, more)).notes) all += to_string(note) + "\n";
        return all;
    };
    const std::string sizes =
        "\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"vocab_size\": 9, "
        "\"intermediate_size\": 96, \"num_key_value_heads\": 4";
    CHECK_THAT(notes("mixtral", sizes + ", \"num_local_experts\": 4, \"num_experts_per_tok\": 2"),
               Catch::Contains("tokens choose evenly among experts"));
    const std::string deepseek = notes(
        "deepseek_v3", sizes +
                           ", \"kv_lora_rank\": 16, \"qk_nope_head_dim\": 8, \"qk_rope_head_dim\": 4, "
                           "\"v_head_dim\": 8, \"n_routed_experts\": 4, \"num_experts_per_tok\": 2, "
                           "\"moe_intermediate_size\": 32, \"n_group\": 2, \"num_nextn_predict_layers\": 1");
    for (const char* told :
         {"cache of latents itself", "few groups of experts", "behind the next one are left out"})
        CHECK_THAT(deepseek, Catch::Contains(told));
    CHECK_THAT(notes("opt", sizes + ", \"ffn_dim\": 96"), Catch::Contains("once more (576 parameters)"));
    CHECK_THAT(notes("gemma2", sizes + ", \"head_dim\": 16"),
               Catch::Contains("tanh") && Catch::Contains("some layers see 4096 tokens only"));
}
