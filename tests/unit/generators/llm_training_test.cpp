// SPDX-License-Identifier: Apache-2.0
// Steps of training of language models, held to closed forms: six operations for each weight of a product and
// token (Kaplan et al., 2020), bytes to parameters, sums over chips to Megatron's four for each layer
// (Shoeybi et al., 2019).
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "sim/workload/generators/llm_trace.h"
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

LlmRequest request(std::int64_t batch, std::int64_t context) {
    LlmRequest r;
    r.step.phase = ServingStep::Phase::Train;
    r.step.batch = batch;
    r.step.context = context;
    return r;
}

Graph step_of(const std::string& model, const LlmRequest& r) {
    return graph_of(llm_trace(text_of(model), model + ".json", r).trace);
}

std::int64_t product_macs(const Graph& graph) {
    std::int64_t sum = 0;
    for (const Layer& layer : graph.layers)
        if (std::holds_alternative<MatMul>(layer.op)) sum += macs(layer.op).value();
    return sum;
}

std::int64_t bytes_of(const Graph& graph, TensorRole role) {
    std::int64_t sum = 0;
    for (const Tensor& tensor : graph.tensors)
        if (tensor.role == role) sum += stored_bytes(tensor).value();
    return sum;
}

/// Bytes of gradients that are summed over replicas.
std::int64_t summed_bytes(const Graph& graph) {
    std::int64_t sum = 0;
    for (const Layer& layer : graph.layers)
        if (layer.name.ends_with("gradient.sum")) sum += stored_bytes(graph.tensors[layer.output]).value();
    return sum;
}

int sums_over(const Graph& graph, std::int64_t chips) {
    int count = 0;
    for (const Layer& layer : graph.layers)
        if (const auto* op = std::get_if<Collective>(&layer.op))
            count += op->kind == Collective::Kind::AllReduce && op->chips == chips;
    return count;
}

// Llama 3 8B: weights of products, and all parameters as published.
constexpr std::int64_t kLayers = 32, kHidden = 4096, kFfn = 14336, kWords = 128256;
constexpr std::int64_t kProducts =
    kLayers * (2 * kHidden * kHidden + 2 * kHidden * 1024 + 3 * kHidden * kFfn) + kHidden * kWords;
constexpr std::int64_t kParameters = 8'030'261'248;

}  // namespace

TEST_CASE("a step of Llama 3 8B has six operations for each weight and token") {
    const Graph step = step_of("llama3_8b", request(2, 1024));
    CHECK(2 * product_macs(step) == 6 * kProducts * 2 * 1024);
    // Of each pair of a query and a key that see each other two products there and five back, of 32 heads of
    // 128.
    CHECK(total_macs(step).value() - product_macs(step) == 2 * kLayers * 32 * (1024 * 1025 / 2) * 128 * 7);
    REQUIRE(step.serving.has_value());
    CHECK(*step.serving == ServingStep{ServingStep::Phase::Train, 2, 1024, 1, 1, 1});
    CHECK(bytes_of(step, TensorRole::KvCache) == 0);
}

TEST_CASE("sums over replicas have two bytes for each parameter, and the state of Adam twelve") {
    LlmRequest r = request(1, 16);
    r.step.data_parallel = 8;
    const Graph step = step_of("llama3_8b", r);
    CHECK(summed_bytes(step) == 2 * kParameters);
    CHECK(bytes_of(step, TensorRole::OptimizerState) == 12 * kParameters);
    CHECK(step.serving->chips() == 8);
    r.gradients = "fp32";
    r.optimizer = "sgd";
    const Graph wide = step_of("llama3_8b", r);
    CHECK(summed_bytes(wide) == 4 * kParameters);
    CHECK(bytes_of(wide, TensorRole::OptimizerState) == 4 * kParameters);
}

TEST_CASE("a step of GPT-2 has six operations for each weight and token") {
    LlmRequest r = request(3, 64);
    r.step.data_parallel = 2;
    const Graph step = step_of("gpt2", r);
    CHECK(2 * product_macs(step) == 6 * (12LL * 12 * 768 * 768 + 768 * 50257) * 3 * 64);
    // 124,439,808 as published; the head, which the model shares with the embedding, is stored once more.
    CHECK(bytes_of(step, TensorRole::OptimizerState) == 12 * (124'439'808LL + 768 * 50257));
    // A table of positions is trained as that of words is.
    CHECK(tensor(step, "position_embedding.weights_gradient").shape == Shape{1024, 768});
}

TEST_CASE("chips that share layers sum four times for each layer") {
    LlmRequest r = request(2, 256);
    r.step.tensor_parallel = 4;
    r.step.data_parallel = 8;
    const Graph step = step_of("llama3_8b", r);
    // Two there and two back for each layer; the embedding's there; the head's back.
    CHECK(sums_over(step, 4) == 4 * kLayers + 2);
    CHECK(2 * product_macs(step) * 4 == 6 * kProducts * 2 * 256);
    CHECK(step.serving->chips() == 32);
    // Norms are stored by every chip; the rest is shared.
    constexpr std::int64_t norms = kHidden * (2 * kLayers + 1);
    CHECK(summed_bytes(step) == 2 * ((kParameters - norms) / 4 + norms));
    CHECK(tensor(step, "head").shape == Shape{2, 256, kWords / 4});
}

TEST_CASE("all turns of a step are alike, there and back") {
    const Graph step = step_of("llama3_8b", request(1, 32));
    std::vector<std::string> names;
    for (const RepeatedBlock& block : step.blocks) {
        names.push_back(block.name);
        CHECK(block.turns == 32);
    }
    CHECK(names == std::vector<std::string>{"decoder", "decoder.backward", "decoder.update"});
}

TEST_CASE("a step whose layers are computed again has eight operations for each weight of theirs and token") {
    LlmRequest r = request(1, 128);
    r.recompute = "blocks";
    const Graph step = step_of("llama3_8b", r);
    // What the feed-forward's second product makes goes nowhere but to the sum that is kept.
    constexpr std::int64_t head = kHidden * kWords, last = kLayers * kFfn * kHidden;
    CHECK(2 * product_macs(step) == (8 * (kProducts - head - last) + 6 * (head + last)) * 128);
}

TEST_CASE("every dense decoder that is shipped can be trained") {
    const std::string model =
        GENERATE(as<std::string>{}, "gpt2", "gpt3_175b", "llama2_7b", "llama3_405b", "mistral_7b", "opt_125m",
                 "qwen2_7b", "gemma_7b", "gemma2_9b", "gemma3_1b");
    const Graph step = step_of(model, request(1, 8));
    CHECK(2 * product_macs(step) % 6 == 0);
    CHECK(step.training.has_value());
}

TEST_CASE("a step with experts has six operations for each weight that a token meets") {
    struct Published {
        std::string model;
        std::int64_t all, met;  ///< weights of products; those that a token meets
        std::int64_t stored;    ///< parameters, with norms and the table of words
    };
    // Mixtral: 46.7 G parameters, of which a token meets 12.9 G (Jiang et al., 2024); with the table of words
    // that is no product, of 131 M. A layer: queries, keys, values and their projection; the router; three
    // matrices of each expert.
    constexpr std::int64_t expert = 3LL * 4096 * 14336, attention = 2LL * 4096 * 4096 + 2LL * 4096 * 1024;
    constexpr std::int64_t words = 32000LL * 4096, router = 4096LL * 8;
    const Published mixtral{"mixtral_8x7b", 32 * (attention + router + 8 * expert) + words,
                            32 * (attention + router + 2 * expert) + words, 46'702'792'704};
    CHECK(mixtral.met + words == Approx(12.9e9).epsilon(0.002));
    const Graph step = step_of(mixtral.model, request(1, 64));
    CHECK(2 * product_macs(step) == 6 * mixtral.met * 64);
    CHECK(bytes_of(step, TensorRole::OptimizerState) == 12 * mixtral.stored);
    LlmRequest r = request(1, 64);
    r.step.data_parallel = 2;
    CHECK(summed_bytes(step_of(mixtral.model, r)) == 2 * mixtral.stored);
}

TEST_CASE("a step of DeepSeek-V2 and V3 has the published weights, all and those that a token meets") {
    // 236 G and 21 G (DeepSeek-AI, 2024, "DeepSeek-V2"); 671 G and 37 G (the same, "DeepSeek-V3").
    const bool third = GENERATE(false, true);
    const std::int64_t tokens = third ? 64 : 80;  // of which each expert gets as many
    const Graph step = step_of(third ? "deepseek_v3" : "deepseek_v2", request(1, tokens));
    const double table = third ? 129280.0 * 7168 : 102400.0 * 5120;
    const double met = static_cast<double>(product_macs(step)) / 3 / static_cast<double>(tokens) + table;
    CHECK(met == Approx(third ? 37.0e9 : 21.0e9).epsilon(0.02));
    const double all = static_cast<double>(bytes_of(step, TensorRole::OptimizerState)) / 12;
    CHECK(all == Approx(third ? 671.0e9 : 235.7e9).epsilon(0.005));
    CHECK(bytes_of(step, TensorRole::KvCache) == 0);
}

TEST_CASE("experts that no token meets are updated all the same") {
    // One token chooses two of eight: gradients of six are zeros, which are written, summed and read.
    LlmRequest r = request(1, 1);
    r.step.data_parallel = 2;
    const Graph step = step_of("mixtral_8x7b", r);
    CHECK(tensor(step, "decoder.0.gate.weights_gradient_met").shape == Shape{2, 4096, 14336});
    CHECK(tensor(step, "decoder.0.gate.weights_gradient.sum").shape == Shape{8, 4096, 14336});
    CHECK(std::get<Slice>(layer(step, "decoder.0.gate.weights_gradient").op) ==
          Slice{1, 4096LL * 14336, 8, 0, 2, true});
    CHECK(bytes_of(step, TensorRole::OptimizerState) == 12 * 46'702'792'704);
}

TEST_CASE("chips that share experts sum what comes back to scores, and to latents") {
    LlmRequest r = request(1, 64);
    r.step.tensor_parallel = 4;
    const Graph experts = step_of("mixtral_8x7b", r);
    // Two there and three back for each layer; the embedding's there; the head's back.
    CHECK(sums_over(experts, 4) == 5 * 32 + 2);
    CHECK(tensor(experts, "decoder.0.router_scores_replica.gradient_sum").shape == Shape{64, 8});
    // Of a layer with latents (of queries, of keys, and the key of the position) two there; back three
    // instead of one for attention, one for the feed-forward, one for scores.
    const Graph both = step_of("deepseek_v2", r);
    CHECK(sums_over(both, 4) == 60 * (2 + 3 + 1) + 59 + 2);
    CHECK(tensor(both, "decoder.0.latents_replica.gradient_sum").shape == Shape{1, 64, 512});
    CHECK(tensor(both, "decoder.0.key_turned_replica.gradient_sum").shape == Shape{1, 64, 1, 64});
}

TEST_CASE("every decoder with experts or latents that is shipped can be trained") {
    const std::string model = GENERATE(as<std::string>{}, "mixtral_8x7b", "mixtral_8x22b", "qwen3_30b_a3b",
                                       "deepseek_v2_lite", "deepseek_v2", "deepseek_v3");
    LlmRequest r = request(1, 8);
    r.recompute = GENERATE(as<std::string>{}, "none", "blocks");
    const Graph step = step_of(model, r);
    if (r.recompute == "none") CHECK(2 * product_macs(step) % 6 == 0);
    CHECK(step.training.has_value());
}
