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

TEST_CASE("MLP0 has the 20 million weights of the TPU paper", "[workload]") {
    const Graph graph = read_trace("traces/classic/mlp0.yaml", {});
    CHECK(parameters(graph) == 20'971'520);
    CHECK(total_macs(graph).value() == 200 * std::int64_t{20'971'520});
    CHECK(graph.layers.size() == 5);
    for (const Layer& each : graph.layers) CHECK(std::get<MatMul>(each.op).post == Function::Relu);
}

TEST_CASE("the teaching net has the numbers its comment tells", "[workload]") {
    const Graph graph = read_trace("traces/teaching/three_layers.yaml", {});
    CHECK(total_macs(graph).value() == 624);
    CHECK(parameters(graph) == 84);
    CHECK(tensor(graph, "conv").shape == Shape{1, 4, 4, 4});
    CHECK(tensor(graph, "pool").shape == Shape{1, 2, 2, 4});
    CHECK(tensor(graph, "classes").shape == Shape{1, 3});
}
