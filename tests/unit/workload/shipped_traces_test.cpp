// SPDX-License-Identifier: Apache-2.0
// The traces we ship, against published counts and formulas written down here. Run from the repository root.
#include "graphs.h"

using namespace systole;
using namespace systole::test;

namespace {

std::int64_t parameters(const Graph& graph) {
    std::int64_t count = 0;
    for (const Tensor& each : graph.tensors)
        if (each.role == TensorRole::Weights) count += elements(each.shape);
    return count;
}

}  // namespace

TEST_CASE("ResNet-50 v1.5 has 4,089,184,256 MACs and 25,530,472 parameters", "[workload]") {
    const Graph graph = read_trace("traces/cnn/resnet50.yaml", {});
    CHECK(total_macs(graph).value() == 4'089'184'256);
    // torchvision counts 25,557,032 with scale and shift of every normalized channel (2 x 26,560); folded
    // into the convolutions they leave one bias each.
    CHECK(parameters(graph) == 25'557'032 - 26'560);
    CHECK(tensor(graph, "stage5.1.add").shape == Shape{1, 7, 7, 2048});
}

TEST_CASE("ResNet-50 v1 has 3,857,973,248 MACs and the same parameters", "[workload]") {
    const Graph graph = read_trace("traces/cnn/resnet50_v1.yaml", {});
    CHECK(total_macs(graph).value() == 3'857'973'248);
    CHECK(parameters(graph) == 25'557'032 - 26'560);
}

TEST_CASE("BERT-base has the MACs of its formula at any batch and length", "[workload]") {
    const auto [batch, seq] = GENERATE(table<std::int64_t, std::int64_t>({{1, 128}, {4, 384}, {3, 17}}));
    const Graph graph = read_trace("traces/llm/bert_base.yaml",
                                   {{"batch", std::to_string(batch), {}}, {"seq", std::to_string(seq), {}}});
    constexpr std::int64_t layers = 12, hidden = 768;
    const std::int64_t projections = 4 * hidden * hidden, feed_forward = 2 * hidden * 4 * hidden;
    const std::int64_t attention = 2 * seq * hidden;  // scores and context, a token
    CHECK(total_macs(graph).value() == batch * seq * layers * (projections + feed_forward + attention));
    // The released model has 109,482,240 parameters with its pooler of 768 x 768 + 768.
    CHECK(parameters(graph) == 109'482'240 - (768 * 768 + 768));
}

TEST_CASE("VGG-16 has 15,470,264,320 MACs and 138,357,544 parameters", "[workload]") {
    const Graph graph = read_trace("traces/cnn/vgg16.yaml", {});
    // Both as torchvision's vgg16 counts them.
    CHECK(total_macs(graph).value() == 15'470'264'320);
    CHECK(parameters(graph) == 138'357'544);
    CHECK(graph.layers.size() == 13 + 5 + 3);
}

TEST_CASE("MobileNetV2 has 300,774,272 MACs and 3,487,816 parameters", "[workload]") {
    const Graph graph = read_trace("traces/cnn/mobilenet_v2.yaml", {});
    // The paper rounds to 300 M and 3.4 M. torchvision counts 3,504,872 parameters with scale and shift of
    // every normalized channel (2 x 17,056); folded into the convolutions they leave one bias each.
    CHECK(total_macs(graph).value() == 300'774'272);
    CHECK(parameters(graph) == 3'504'872 - 17'056);
    CHECK(tensor(graph, "stage6.1.add").shape == Shape{1, 7, 7, 160});
    CHECK(tensor(graph, "conv9").shape == Shape{1, 7, 7, 1280});
    std::int64_t depthwise = 0;
    for (const Layer& each : graph.layers)
        if (const auto* conv = std::get_if<Conv2d>(&each.op)) depthwise += conv->depthwise();
    CHECK(depthwise == 17);
}

TEST_CASE("EfficientNet-B0 has 385,814,752 MACs and 5,267,540 parameters", "[workload]") {
    const Graph graph = read_trace("traces/cnn/efficientnet.yaml", {});
    // The paper rounds to 0.39 billion and 5.3 million, torchvision counts 0.386 billion and 5,288,548
    // parameters, with scale and shift of every normalized channel; folded into the convolutions they leave
    // one bias each.
    CHECK(total_macs(graph).value() == 385'814'752);
    std::int64_t normalized = 0, depthwise = 0, squeezes = 0;
    for (const Layer& each : graph.layers) {
        if (const auto* pool = std::get_if<Pool>(&each.op)) squeezes += pool->out_h() == 1;
        const auto* conv = std::get_if<Conv2d>(&each.op);
        if (conv == nullptr) continue;
        depthwise += conv->depthwise();
        const bool excitation = conv->batch * conv->in_h * conv->in_w == 1;  // on means of channels
        if (!excitation) normalized += conv->out_c;
    }
    CHECK(normalized == 21'008);  // torchvision keeps a mean and a variance of each: 42,016
    CHECK(parameters(graph) == 5'288'548 - 21'008);
    CHECK(depthwise == 16);
    CHECK(squeezes == 16 + 1);
    CHECK(tensor(graph, "stage3.0.add").shape == Shape{1, 56, 56, 24});
    CHECK(tensor(graph, "stage7.2.add").shape == Shape{1, 7, 7, 192});
    CHECK(tensor(graph, "head").shape == Shape{1, 7, 7, 1280});
    CHECK(tensor(graph, "classes").shape == Shape{1, 1000});
}

TEST_CASE("EfficientNet-B0 takes images of other sizes, and scales each image of a batch by its own means",
          "[workload]") {
    const Graph graph =
        read_trace("traces/cnn/efficientnet.yaml", {{"batch", "3", {}}, {"resolution", "240", {}}});
    CHECK(tensor(graph, "head").shape == Shape{3, 8, 8, 1280});
    CHECK(parameters(graph) == 5'267'540);
    const auto& scale = std::get<Elementwise>(layer(graph, "stage2_scale").op);
    CHECK(scale.items == 3);
    CHECK(scale.times == 120 * 120);
    CHECK(scale.elements == 3 * 120 * 120 * 32);
}

TEST_CASE("GPT-2 has 124,439,808 parameters and its head, and the MACs of its formula at any length",
          "[workload]") {
    const auto [batch, seq] = GENERATE(table<std::int64_t, std::int64_t>({{1, 128}, {4, 1024}, {3, 17}}));
    const Graph graph = read_trace("traces/llm/gpt2.yaml",
                                   {{"batch", std::to_string(batch), {}}, {"seq", std::to_string(seq), {}}});
    constexpr std::int64_t layers = 12, hidden = 768;
    CHECK(total_macs(graph).value() ==
          batch * seq * layers * (12 * hidden * hidden + 2 * seq * hidden) + batch * hidden * 50257);
    CHECK(parameters(graph) == 124'439'808 + hidden * 50257);
}

namespace {

/// What the paper's table 3 gives, and the released configurations.
struct Llama {
    std::string name;
    std::int64_t layers, hidden, heads, ffn, parameters;
};

std::int64_t table_bytes(const Graph& graph) {
    std::int64_t count = 0;
    for (const Layer& each : graph.layers)
        if (std::holds_alternative<Rotary>(each.op)) count += elements(graph.tensors[*each.weights].shape);
    return count;
}

std::int64_t cache_bytes(const Graph& graph) {
    std::int64_t bytes = 0;
    for (const Tensor& each : graph.tensors)
        if (each.role == TensorRole::KvCache) bytes += stored_bytes(each).value();
    return bytes;
}

}  // namespace

TEST_CASE("Llama 3 has the parameters of the released models, and the MACs of its formula", "[workload]") {
    const Llama model = GENERATE(Llama{"llama3_8b", 32, 4096, 32, 14336, 8'030'261'248},
                                 Llama{"llama3_70b", 80, 8192, 64, 28672, 70'553'706'496});
    const auto [batch, q_len, kv_len] = GENERATE(
        table<std::int64_t, std::int64_t, std::int64_t>({{16, 1, 8192}, {1, 2048, 2048}, {2, 3, 100}}));
    const Graph graph =
        read_trace("traces/llm/" + model.name + ".yaml", {{"batch", std::to_string(batch), {}},
                                                          {"q_len", std::to_string(q_len), {}},
                                                          {"kv_len", std::to_string(kv_len), {}}});
    CHECK(parameters(graph) - table_bytes(graph) == model.parameters);
    constexpr std::int64_t head_dim = 128, kv_heads = 8, vocabulary = 128'256;
    const std::int64_t h = model.hidden;
    const std::int64_t weights = 2 * h * h + 2 * h * kv_heads * head_dim + 3 * h * model.ffn;
    std::int64_t pairs = 0;  // of a query and a key that it sees
    for (std::int64_t i = 0; i < q_len; ++i) pairs += kv_len - q_len + i + 1;
    CHECK(total_macs(graph).value() ==
          batch * model.layers * (q_len * weights + 2 * pairs * h) + batch * h * vocabulary);
    // Two bytes for keys and for values of every token and head.
    CHECK(cache_bytes(graph) == batch * model.layers * kv_len * 2 * kv_heads * head_dim * 2);
}

TEST_CASE("ViT-B/16 has the parameters that are published, and the MACs of its formula", "[workload]") {
    const Graph graph = read_trace("traces/llm/vit_b16.yaml", {});
    CHECK(parameters(graph) == 86'567'656);
    constexpr std::int64_t layers = 12, hidden = 768, tokens = 197;
    const std::int64_t encoder = layers * (tokens * 12 * hidden * hidden + 2 * tokens * tokens * hidden);
    CHECK(total_macs(graph).value() == 196 * 768 * hidden + encoder + hidden * 1000);
    CHECK(total_macs(graph).value() == 17'563'828'224);  // torchvision rounds to 17.56 G
}

TEST_CASE("U-Net maps 572 x 572 to 388 x 388 with the MACs and parameters of figure 1", "[workload]") {
    const Graph graph = read_trace("traces/cnn/unet.yaml", {});
    std::int64_t macs = 0, count = 0, size = 572, in = 1;
    const auto convolved = [&](std::int64_t out, std::int64_t kernel) {
        size -= kernel - 1;
        macs += size * size * kernel * kernel * in * out;
        count += kernel * kernel * in * out + out;
        in = out;
    };
    for (const std::int64_t channels : {64, 128, 256, 512, 1024}) {
        if (channels > 64) size /= 2;
        convolved(channels, 3);
        convolved(channels, 3);
    }
    std::int64_t biases = 0;  // beyond those of the network: four places of an up-convolution have one each
    for (const std::int64_t channels : {512, 256, 128, 64}) {
        macs += size * size * 4 * in * channels;
        count += 4 * in * channels + channels;
        biases += 3 * channels;
        size *= 2;
        in = 2 * channels;
        convolved(channels, 3);
        convolved(channels, 3);
    }
    convolved(2, 1);
    CHECK(size == 388);
    CHECK(tensor(graph, "map").shape == Shape{1, 388, 388, 2});
    CHECK(total_macs(graph).value() == macs);
    CHECK(count == 31'030'658);  // as implementations of figure 1 with one channel in count
    CHECK(parameters(graph) == count + biases);
    CHECK(tensor(read_trace("traces/cnn/unet.yaml", {{"bottom", "4", {}}}), "map").shape ==
          Shape{1, 4, 4, 2});
}

TEST_CASE("DLRM has the layers of the benchmark's model", "[workload]") {
    const Graph graph = read_trace("traces/rec/dlrm.yaml", {});
    constexpr std::int64_t batch = 128, pairs = 27 * 26 / 2, top = 128 + pairs;
    const std::int64_t bottom = 13 * 512 + 512 * 256 + 256 * 128;
    const std::int64_t dense = bottom + top * 1024 + 1024 * 1024 + 1024 * 512 + 512 * 256 + 256;
    CHECK(top == 479);
    CHECK(total_macs(graph).value() == batch * (dense + 27 * 27 * 128));
    constexpr std::int64_t biases = 512 + 256 + 128 + 1024 + 1024 + 512 + 256 + 1;
    CHECK(parameters(graph) == std::int64_t{26} * 1'000'000 * 128 + dense + biases);
}

TEST_CASE("the teaching net has the numbers its comment tells", "[workload]") {
    const Graph graph = read_trace("traces/teaching/three_layers.yaml", {});
    CHECK(total_macs(graph).value() == 624);
    CHECK(parameters(graph) == 84);
    CHECK(tensor(graph, "conv").shape == Shape{1, 4, 4, 4});
    CHECK(tensor(graph, "pool").shape == Shape{1, 2, 2, 4});
    CHECK(tensor(graph, "classes").shape == Shape{1, 3});
}
