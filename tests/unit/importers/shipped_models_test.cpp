// SPDX-License-Identifier: Apache-2.0
// The models of configs/models: parameters as they are published, and the work of a step by formulas of its
// own.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "sim/workload/importers/huggingface_config.h"
#include "tests/unit/workload/graphs.h"

using namespace systole;
using namespace systole::test;

namespace {

std::string text_of(const std::string& model) {
    std::ifstream file("configs/models/" + model + ".json");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

Graph step_of(const std::string& model, const std::vector<TraceOverride>& overrides = {}) {
    return graph_of(import_huggingface_config(text_of(model), model + ".json").trace, overrides);
}

/// All that is stored but tables of positions that a model computes.
std::int64_t parameters(const Graph& graph) {
    std::int64_t sum = 0;
    for (const Layer& layer : graph.layers)
        for (const std::optional<TensorId>& stored : {layer.weights, layer.bias})
            if (stored && !std::holds_alternative<Rotary>(layer.op))
                sum += elements(graph.tensors[*stored].shape);
    return sum;
}

/// Parameters that the models' pages give; `head`: of the embedding, which the model uses as its head and a
/// trace stores once more.
struct Published {
    std::int64_t parameters, head = 0;
};
const std::map<std::string, Published>& published() {
    static const std::map<std::string, Published> all{
        {"llama2_7b", {6'738'415'616}},
        {"llama2_13b", {13'015'864'320}},
        {"llama2_70b", {68'976'648'192}},
        {"llama3_8b", {8'030'261'248}},
        {"llama3_70b", {70'553'706'496}},
        {"llama3_405b", {405'853'388'800}},
        {"mistral_7b", {7'241'732'096}},
        {"mixtral_8x7b", {46'702'792'704}},
        {"mixtral_8x22b", {140'620'634'112}},
        {"qwen2_7b", {7'615'616'512}},
        {"qwen3_30b_a3b", {30'532'122'624}},
        {"gemma_7b", {8'537'680'896, 256'000LL * 3072}},
        {"gemma2_9b", {9'241'705'984, 256'000LL * 3584}},
        {"gemma3_1b", {999'885'952, 262'144LL * 1152}},
        {"gpt2", {124'439'808, 50'257LL * 768}},
        {"opt_125m", {125'239'296, 50'272LL * 768}},
        {"opt_6b7", {6'658'473'984, 50'272LL * 4096}},
        {"deepseek_v2_lite", {15'706'484'224}},
        {"deepseek_v2", {235'741'434'880}},
        // Less a number for each expert that the router adds to its scores, and nobody here does.
        {"deepseek_v3", {671'026'419'200 - 58 * 256}}};
    return all;
}

std::int64_t routed_macs(const Graph& graph) {
    std::int64_t sum = 0;
    for (const Layer& layer : graph.layers)
        if (const auto* product = std::get_if<MatMul>(&layer.op))
            if (product->experts > 0 && layer.name.find("absorbed") == std::string::npos &&
                layer.name.find("context") == std::string::npos)
                sum += macs(layer.op).value();
    return sum;
}

}  // namespace

TEST_CASE("shipped models have the parameters that are published") {
    for (const auto& [model, count] : published()) {
        INFO(model);
        CHECK(parameters(step_of(model)) == count.parameters + count.head);
    }
    // The paper says 175 billion.
    const auto gpt3 = static_cast<double>(parameters(step_of("gpt3_175b")) - 50'257LL * 12'288);
    CHECK(gpt3 == Approx(175e9).epsilon(0.005));
}

TEST_CASE("every shipped model is imported") {
    int models = 0;
    for (const auto& entry : std::filesystem::directory_iterator("configs/models")) {
        if (entry.path().extension() != ".json") continue;
        INFO(entry.path());
        const std::string name = entry.path().stem();
        CHECK(text_of(name).find("\"source\"") != std::string::npos);
        CHECK(step_of(name).name == name);
        ++models;
    }
    CHECK(models == static_cast<int>(published().size()) + 1);
}

TEST_CASE("experts: a token's work is that of the active parameters") {
    // Products of one token in a step that sees itself only: all active weights but norms and the table of
    // words.
    const Graph graph = step_of("mixtral_8x7b", {{"kv_len", "1", {}}});
    constexpr std::int64_t active = 12'879'925'248;  // "uses 13B active parameters", section 1
    const std::int64_t attention = 2LL * 32 * 128 * 32;
    CHECK(total_macs(graph).value() == active - 32'000LL * 4096 - (2 * 32 + 1) * 4096 + attention);
    CHECK(tensor(graph, "decoder.0.gate").shape == Shape{2, 1, 14336});
    CHECK(tensor(graph, "decoder.0.gate.weights").shape == Shape{8, 4096, 14336});
}

TEST_CASE("tokens meet experts evenly, as many as there can be, unless somebody says how many") {
    const std::int64_t expert = 3LL * 4096 * 14336 * 32;
    CHECK(routed_macs(step_of("mixtral_8x7b", {{"batch", "3", {}}})) ==
          6 * expert);  // six experts, a row each
    CHECK(routed_macs(step_of("mixtral_8x7b", {{"batch", "16", {}}})) ==
          32 * expert);  // eight, four rows each
    CHECK(routed_macs(step_of("mixtral_8x7b", {{"batch", "5", {}}})) ==
          16 * expert);  // eight, rounded up to two
    const Graph few = step_of("mixtral_8x7b", {{"batch", "16", {}}, {"met", "2", {}}});
    CHECK(tensor(few, "decoder.0.gate").shape == Shape{2, 16, 14336});
    CHECK(tensor(few, "decoder.0.routed").shape == Shape{16, 1, 4096});
}

TEST_CASE("latents: the cache holds 576 numbers for a token, and queries meet it") {
    const Graph graph = step_of("deepseek_v2_lite", {{"kv_len", "100", {}}});
    CHECK(tensor(graph, "decoder.0.cache").shape == Shape{1, 1, 100, 576});
    std::int64_t caches = 0, seen = 0;
    for (const Layer& layer : graph.layers) {
        if (std::holds_alternative<CacheAppend>(layer.op)) ++caches;
        if (std::holds_alternative<Attention>(layer.op)) seen += macs(layer.op).value();
    }
    CHECK(caches == 27);
    CHECK(seen == 27LL * 16 * 100 * (576 + 512));
    CHECK(tensor(graph, "dense_decoder.0.gate").shape == Shape{1, 1, 10944});
    CHECK(tensor(graph, "decoder.25.gate.weights").shape == Shape{64, 2048, 1408});
}

TEST_CASE("fewer layers behind dense ones are fewer layers of experts") {
    for (const std::int64_t layers : {2, 5, 27}) {
        const Graph graph = step_of("deepseek_v2_lite", {{"layers", std::to_string(layers), {}}});
        std::int64_t dense = 0, sparse = 0;
        for (const Layer& layer : graph.layers) {
            dense += layer.name.starts_with("dense_decoder.") && layer.name.ends_with(".gate") ? 1 : 0;
            sparse += layer.name.starts_with("decoder.") && layer.name.ends_with(".gate") ? 1 : 0;
        }
        CHECK(dense == 1);
        CHECK(sparse == layers - 1);
    }
}

TEST_CASE("Whisper has the parameters that are published") {
    struct Size {
        std::int64_t width, layers, heads, parameters;
    };
    // Those of the released models; a trace stores the head once more.
    const auto [width, layers, heads, count] = GENERATE(values<Size>({{384, 4, 6, 37'760'640},
                                                                      {512, 6, 8, 72'593'920},
                                                                      {768, 12, 12, 241'734'912},
                                                                      {1280, 32, 20, 1'543'304'960}}));
    const auto number = [](std::int64_t value) { return std::to_string(value); };
    const std::string config =
        R"({"model_type": "whisper", "vocab_size": 51865, "d_model": )" + number(width) +
        R"(, "encoder_layers": )" + number(layers) + R"(, "decoder_layers": )" + number(layers) +
        R"(, "encoder_attention_heads": )" + number(heads) + R"(, "decoder_attention_heads": )" +
        number(heads) + R"(, "encoder_ffn_dim": )" + number(4 * width) + R"(, "decoder_ffn_dim": )" +
        number(4 * width) + "}";
    const Graph graph = graph_of(import_huggingface_config(config, "config.json").trace);
    CHECK(parameters(graph) == count + 51865 * width);
    CHECK(tensor(graph, "heard").shape == Shape{1, 1500, width});
    CHECK(tensor(graph, "head").shape == Shape{1, 1, 51865});
}
