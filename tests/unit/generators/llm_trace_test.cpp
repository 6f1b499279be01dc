// SPDX-License-Identifier: Apache-2.0
// Steps of language models, held to closed forms: bytes to parameters times bits, multiply-accumulates to the
// published formulas, shares to the whole.
#include "sim/workload/generators/llm_trace.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <random>
#include <sstream>

#include "sim/workload/generators/decoder_share.h"
#include "tests/unit/workload/graphs.h"

using namespace systole;
using namespace systole::test;
using Phase = ServingStep::Phase;

namespace {

std::string text_of(const std::string& model) {
    std::ifstream file("configs/models/" + model + ".json");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

LlmRequest request(Phase phase, std::int64_t batch, std::int64_t context, std::int64_t chips = 1) {
    LlmRequest r;
    r.step.phase = phase;
    r.step.batch = batch;
    r.step.context = context;
    r.step.tensor_parallel = chips;
    return r;
}

Graph step_of(const std::string& model, const LlmRequest& r) {
    return graph_of(llm_trace(text_of(model), model + ".json", r).trace);
}

std::string refusal(const std::string& text, const LlmRequest& r) {
    try {
        llm_trace(text, "config.json", r);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

/// Of products: stored weights, with scales where they have some; in bytes.
std::int64_t product_bytes(const Graph& graph, bool with_head = false) {
    std::int64_t sum = 0;
    for (const Layer& layer : graph.layers) {
        if (!std::holds_alternative<MatMul>(layer.op) || (layer.name == "head" && !with_head)) continue;
        sum += stored_bytes(graph.tensors[*layer.weights]).value();
        if (layer.scales) sum += stored_bytes(graph.tensors[*layer.scales]).value();
    }
    return sum;
}

std::int64_t cache_bytes(const Graph& graph) {
    std::int64_t sum = 0;
    for (const Layer& layer : graph.layers)
        if (std::holds_alternative<CacheAppend>(layer.op))
            sum += stored_bytes(graph.tensors[layer.output]).value();
    return sum;
}

std::int64_t product_macs(const Graph& graph) {
    std::int64_t sum = 0;
    for (const Layer& layer : graph.layers)
        if (std::holds_alternative<MatMul>(layer.op)) sum += macs(layer.op).value();
    return sum;
}

int collectives(const Graph& graph, Collective::Kind kind) {
    int count = 0;
    for (const Layer& layer : graph.layers)
        if (const auto* op = std::get_if<Collective>(&layer.op)) count += op->kind == kind;
    return count;
}

// Llama 3 70B: products of a layer.
constexpr std::int64_t kLayers = 80, kHidden = 8192, kFfn = 28672, kWords = 128256;
constexpr std::int64_t kProducts = 2 * kHidden * kHidden + 2 * kHidden * 1024 + 3 * kHidden * kFfn;

}  // namespace

TEST_CASE("weights take their bits, and their scales") {
    LlmRequest r = request(Phase::Decode, 16, 8192);
    const auto [format, eighths, scales] = GENERATE(table<std::string, std::int64_t, std::int64_t>(
        // In eighths of a bit for each weight; scales of columns are two bytes each.
        {{"bf16", 128, 0},
         {"int8", 64, 1},
         {"fp8", 64, 1},
         {"int4", 32 + 1, 0},
         {"mxfp8", 64 + 2, 0},
         {"mxfp4", 32 + 2, 0},
         {"nvfp4", 32 + 4, 0}}));
    r.weights = format;
    const Graph graph = step_of("llama3_70b", r);
    constexpr std::int64_t columns = 2 * kHidden + 2 * 1024 + 2 * kFfn + kHidden;
    CHECK(product_bytes(graph) == kLayers * (kProducts * eighths / 64 + scales * 2 * columns));
    CHECK(tensor(graph, "head.weights").dtype == DType::Bf16);
    CHECK(tensor(graph, "embedding.weights").dtype == DType::Bf16);
}

TEST_CASE("what products with narrow weights read is quantized once for all that read it") {
    const auto quantized = [](const LlmRequest& r, const std::string& model) {
        const Graph graph = step_of(model, r);
        std::vector<std::string> names;
        for (const Layer& layer : graph.layers) {
            if (std::holds_alternative<Scaling>(layer.op)) names.push_back(layer.name);
            const auto* matmul = std::get_if<MatMul>(&layer.op);
            if (matmul == nullptr || !layer.weights) continue;
            // Both operands have one format, and results are bf16.
            CHECK(graph.tensors[layer.inputs.at(0)].dtype == graph.tensors[*layer.weights].dtype);
            CHECK(graph.tensors[layer.output].dtype == DType::Bf16);
        }
        return names;
    };
    LlmRequest r = request(Phase::Decode, 16, 1024);
    CHECK(quantized(r, "llama3_8b").empty());
    for (const std::string weights : {"fp8", "int8"}) {
        r.weights = weights;
        r.activations = "as-weights";
        const std::vector<std::string> names = quantized(r, "llama3_8b");
        REQUIRE(names.size() == 4 * 32);
        CHECK(names[0] == "decoder.0.attention_norm_narrow");
        CHECK(names[1] == "decoder.0.context_narrow");
        CHECK(names[2] == "decoder.0.feed_forward_norm_narrow");
        CHECK(names[3] == "decoder.0.gated_narrow");
    }
    r.activations.clear();
    for (const std::string weights : {"mxfp8", "mxfp4", "nvfp4"})
        for (const std::string model : {"llama3_8b", "mixtral_8x7b", "deepseek_v2_lite", "gpt3_175b"}) {
            r.weights = weights;
            INFO(weights << " " << model);
            CHECK_FALSE(quantized(r, model).empty());
        }
    r.weights = "bf16";
    r.activations = "as-weights";
    CHECK_THAT(refusal(text_of("llama3_8b"), r), Catch::Contains("the weights are bf16"));
    r.weights = "int4";
    CHECK_THAT(refusal(text_of("llama3_8b"), r), Catch::Contains("by scales of groups"));
    r.weights = "nvfp4";
    r.activations = "bf16";
    CHECK_THAT(refusal(text_of("llama3_8b"), r), Catch::Contains("read activations in blocks, too"));
    r.weights = "fp8";
    CHECK_NOTHROW(step_of("llama3_8b", r));
}

TEST_CASE("the cache takes two rows of each layer for each token, in its format") {
    LlmRequest r = request(Phase::Decode, 16, 8192);
    CHECK(cache_bytes(step_of("llama3_70b", r)) == 16 * kLayers * 8192 * 2 * 1024 * 2);
    r.cache = "int8";
    CHECK(cache_bytes(step_of("llama3_70b", r)) == 16 * kLayers * 8192 * 2 * 1024);
    r.cache = "fp8";
    // DeepSeek-AI, "DeepSeek-V2", 2024, section 2.1.4: (d_c + d_h^R) l numbers for each token.
    CHECK(cache_bytes(step_of("deepseek_v2", r)) == 16LL * 8192 * (512 + 64) * 60);
}

TEST_CASE("a decode step multiplies every weight once for each sequence, and sees its context") {
    const Graph graph = step_of("llama3_70b", request(Phase::Decode, 16, 1000));
    CHECK(product_macs(graph) == 16 * (kLayers * kProducts + kHidden * kWords));
    CHECK(total_macs(graph).value() - product_macs(graph) == 16 * kLayers * 2 * 1000 * kHidden);
    REQUIRE(graph.serving.has_value());
    CHECK(*graph.serving == ServingStep{Phase::Decode, 16, 1000, 1, 1, 1});
}

TEST_CASE("of several new tokens the step in the middle is written") {
    LlmRequest r = request(Phase::Decode, 2, 100);
    r.new_tokens = 51;
    CHECK(tensor(step_of("llama3_8b", r), "decoder.0.keys").shape == Shape{2, 8, 125, 128});
}

TEST_CASE("a prefill multiplies every weight once for each token, and half of the pairs") {
    const Graph graph = step_of("llama3_8b", request(Phase::Prefill, 3, 512));
    // Two operations each: 2 N D of the products (Kaplan et al. 2020), but one head.
    constexpr std::int64_t products = 2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336;
    CHECK(product_macs(graph) == 3 * (512LL * 32 * products + 4096 * 128256));
    CHECK(total_macs(graph).value() - product_macs(graph) == 3LL * 32 * 2 * 4096 * (512 * 513 / 2));
}

TEST_CASE("a prefill of latents expands them into keys and values of each head") {
    const Graph graph = step_of("deepseek_v2_lite", request(Phase::Prefill, 2, 64));
    std::int64_t seen = 0;
    for (const Layer& layer : graph.layers)
        if (std::holds_alternative<Attention>(layer.op)) seen += macs(layer.op).value();
    CHECK(seen == 2 * 27 * 16 * (64 * 65 / 2) * (128 + 64 + 128));
    CHECK(tensor(graph, "decoder.0.key").shape == Shape{2, 64, 16, 192});
    CHECK(cache_bytes(graph) == 2 * 27 * 64 * 576 * 2);
    LlmRequest narrow = request(Phase::Prefill, 2, 64);
    narrow.cache = "int8";
    CHECK(cache_bytes(step_of("deepseek_v2_lite", narrow)) == 2 * 27 * 64 * 576);
}

TEST_CASE("shares of all chips are the whole") {
    const auto [phase, chips] =
        GENERATE(table<Phase, std::int64_t>({{Phase::Decode, 4}, {Phase::Prefill, 8}, {Phase::Decode, 2}}));
    const Graph whole = step_of("llama3_70b", request(phase, 2, 128));
    const Graph share = step_of("llama3_70b", request(phase, 2, 128, chips));
    CHECK(chips * product_bytes(share, true) == product_bytes(whole, true));
    CHECK(chips * total_macs(share).value() == total_macs(whole).value());
    CHECK(chips * cache_bytes(share) == cache_bytes(whole));
    // Behind the table of words, and twice a layer; all scores in the end.
    CHECK(collectives(share, Collective::Kind::AllReduce) == 1 + 2 * kLayers);
    CHECK(collectives(share, Collective::Kind::AllGather) == 1);
    CHECK(collectives(whole, Collective::Kind::AllReduce) == 0);
    CHECK(tensor(share, "scores").shape == Shape{2, 1, kWords});
    CHECK(share.serving->chips() == chips);
}

TEST_CASE("heads of keys and values that are fewer than chips are there several times") {
    const Graph share = step_of("llama3_70b", request(Phase::Decode, 2, 128, 16));
    CHECK(16 * cache_bytes(share) == 2 * cache_bytes(step_of("llama3_70b", request(Phase::Decode, 2, 128))));
    CHECK(tensor(share, "decoder.0.query").shape == Shape{2, 1, 512});
}

TEST_CASE("experts are dealt to chips, and routers are not") {
    const Graph share = step_of("mixtral_8x7b", request(Phase::Decode, 16, 128, 4));
    CHECK(tensor(share, "decoder.0.gate.weights").shape == Shape{2, 4096, 14336});
    CHECK(tensor(share, "decoder.0.router.weights").shape == Shape{4096, 8});
    CHECK(tensor(share, "decoder.0.gate").shape ==
          Shape{2, 4, 14336});  // 32 pairs, 8 of them here, by two experts
    const Graph deep = step_of("deepseek_v3", request(Phase::Decode, 16, 128, 8));
    CHECK(tensor(deep, "decoder.0.gate.weights").shape == Shape{32, 7168, 2048});
    CHECK(tensor(deep, "decoder.0.gate").shape == Shape{16, 1, 2048});
    CHECK(tensor(deep, "decoder.0.shared_up").shape == Shape{16, 1, 256});
}

TEST_CASE("as many experts are met as the routing says") {
    LlmRequest r = request(Phase::Decode, 4, 128);
    const auto met = [&](Routing routing, const std::string& model) {
        r.routing = routing;
        return tensor(step_of(model, r), "decoder.0.gate").shape;
    };
    CHECK(met(Routing::Even, "qwen3_30b_a3b") == Shape{32, 1, 768});
    CHECK(met(Routing::Expected, "qwen3_30b_a3b") == Shape{29, 2, 768});  // 128 (1 - (15/16)^4) = 29.1
    CHECK(met(Routing::Worst, "qwen3_30b_a3b") == Shape{8, 4, 768});
    r.step.tensor_parallel = 4;
    CHECK(met(Routing::Worst, "mixtral_8x7b") ==
          Shape{2, 4, 14336});  // all four tokens, and both of this chip's
    CHECK(expected_met(8, 2, 8, 1) == 2);
    CHECK(expected_met(8, 2, 8, 1'000'000) == 8);
    CHECK(expected_met(1, 8, 256, 1) == 1);
}

TEST_CASE("no expert has more rows than there are tokens, however they are dealt") {
    std::mt19937_64 random(5);
    INFO("seed 5");
    for (int turn = 0; turn < 300; ++turn) {
        const auto pick = [&](std::int64_t most) {
            return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
        };
        const std::int64_t chips = std::int64_t{1} << (random() % 3), experts = chips * pick(6),
                           chosen = pick(experts);
        LlmRequest r = request(Phase::Decode, pick(9), 4, chips);
        r.routing = static_cast<Routing>(random() % 3);
        const std::string config =
            R"({"model_type": "mixtral", "hidden_size": 16, "intermediate_size": 8, "num_attention_heads": 4, )"
            R"("num_key_value_heads": 4, "num_hidden_layers": 1, "vocab_size": 8, "num_local_experts": )" +
            std::to_string(experts) + R"(, "num_experts_per_tok": )" + std::to_string(chosen) + "}";
        INFO(config << " on " << chips << ", " << r.step.batch << ", " << static_cast<int>(r.routing));
        const Graph graph = graph_of(llm_trace(config, "config.json", r).trace);
        const Shape gate = tensor(graph, "decoder.0.gate").shape;
        CHECK(gate[0] <= experts / chips);
        CHECK(gate[1] <= r.step.batch);
        // All that is chosen of this chip's experts has a row.
        CHECK(gate[0] * gate[1] * chips >= r.step.batch * chosen);
    }
}

TEST_CASE("every shipped model has every step in every format") {
    for (const std::string model : {"llama2_7b", "mixtral_8x7b", "gemma_7b", "gpt3_175b", "opt_6b7",
                                    "qwen2_7b", "deepseek_v2_lite", "deepseek_v3"})
        for (const Phase phase : {Phase::Prefill, Phase::Decode})
            for (const std::string& weights : weight_formats())
                for (const std::string& cache : cache_formats()) {
                    INFO(model << " " << to_string(phase) << " " << weights << " " << cache);
                    // Halves of Llama 2's feed-forward are groups of 128, quarters are not; nor is
                    // DeepSeek's, whose quarters (2,736) are groups of 16.
                    const bool wide = weights == "int4" || weights == "mxfp8" || weights == "mxfp4";
                    if (wide && model == "deepseek_v2_lite") continue;
                    const bool alone = model == "qwen2_7b";
                    LlmRequest r = request(phase, 2, 128, alone ? 1 : weights == "int4" ? 2 : 4);
                    r.weights = weights;
                    r.cache = cache;
                    CHECK_NOTHROW(step_of(model, r));
                }
}

TEST_CASE("what chips do not divide is refused, each with what it is") {
    const std::string several = refusal(text_of("gpt3_175b"), request(Phase::Decode, 1, 128, 7));
    CHECK_THAT(several, Catch::Contains("7 chips do not divide the heads of 96") &&
                            Catch::Contains("the feed-forward of 49152"));
    CHECK_THAT(refusal(text_of("llama3_8b"), request(Phase::Decode, 1, 128, 12)),
               Catch::Contains("8 heads of keys and values do not go evenly to 12 chips"));
    CHECK_THAT(refusal(text_of("mixtral_8x7b"), request(Phase::Decode, 1, 128, 16)),
               Catch::Contains("16 chips do not divide the experts of 8"));
    LlmRequest groups = request(Phase::Decode, 1, 128, 4);
    groups.weights = "int4";
    CHECK_THAT(
        refusal(text_of("deepseek_v2_lite"), groups),
        Catch::Contains("groups of 128 that share a scale do not divide a chip's feed-forward of 2736"));
    CHECK_THAT(refusal(text_of("opt_6b7"), request(Phase::Prefill, 1, 4096)),
               Catch::Contains("positions for 2048 tokens, not for 4096"));
    CHECK_THAT(refusal(R"({"model_type": "bert"})", request(Phase::Decode, 1, 128)),
               Catch::Contains("'bert' is not known here"));
    CHECK_THAT(refusal("{", request(Phase::Decode, 1, 128)), Catch::Contains("config.json:1:"));
}

TEST_CASE(
    "a vocabulary is padded for its chips, and a context that nobody asked for is one that the model has") {
    const Imported padded = llm_trace(text_of("gpt3_175b"), "m.json", request(Phase::Decode, 1, 128, 4));
    CHECK_THAT(to_string(padded.notes.back()), Catch::Contains("the vocabulary of 50257 is padded to 50260"));
    CHECK_THAT(padded.trace, Catch::Contains("vocabulary: 12565"));
    LlmRequest any = request(Phase::Decode, 1, 4096);
    any.any_context = true;
    CHECK_THAT(llm_trace(text_of("opt_125m"), "m.json", any).trace, Catch::Contains("kv_len: 2048"));
    CHECK_THAT(llm_trace(text_of("llama3_8b"), "m.json", any).trace, Catch::Contains("kv_len: 4096"));
}

TEST_CASE("a context beyond what the model was made for is told") {
    const Imported made = llm_trace(text_of("llama2_7b"), "m.json", request(Phase::Decode, 1, 8192));
    REQUIRE(made.notes.size() == 1);
    CHECK_THAT(made.notes.front().text, Catch::Contains("made for 4096 tokens, not for 8192"));
}

TEST_CASE("what makes another network is refused, and formats that the step has not are told") {
    const std::string gpt = R"({"model_type": "gpt2", "n_embd": 32, "n_layer": 2, "n_head": 4,
                               "n_positions": 64, "vocab_size": 64, )";
    const LlmRequest r = request(Phase::Decode, 1, 16);
    CHECK(refusal(gpt + R"("add_cross_attention": true})", r).find("such a network is not taken") !=
          std::string::npos);
    const Imported made =
        llm_trace(gpt + R"("torch_dtype": "float32", "quantization_config": {}})", "c.json", r);
    std::string notes;
    for (const ImportNote& note : made.notes) notes += to_string(note) + "\n";
    CHECK(notes.find("stored as float32") != std::string::npos);
    CHECK(notes.find("how weights are quantized is not taken over: --weights says it, bf16") !=
          std::string::npos);
    // Routing is of experts.
    LlmRequest routed = r;
    routed.asks_routing = true;
    CHECK(refusal(gpt + R"("n_inner": 64})", routed).find("--routing: the model has no experts") !=
          std::string::npos);
}

TEST_CASE("a model's name stays within the comment that it stands in") {
    const Imported made = llm_trace(R"({"model_type": "gpt2", "n_embd": 32, "n_layer": 2, "n_head": 4,
        "n_positions": 64, "vocab_size": 64, "_name_or_path": "a\ninputs: {}\r\nb"})",
                                    "c.json", request(Phase::Decode, 1, 16));
    CHECK(made.trace.find("\ninputs: {}") == std::string::npos);
    CHECK(graph_of(made.trace).layers.size() > 2);
}
