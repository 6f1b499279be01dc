// SPDX-License-Identifier: Apache-2.0
// The six networks of Jouppi et al., ISCA 2017, table 1, against what that table publishes. Run from the
// repository root.
#include <array>
#include <cmath>
#include <string>

#include "graphs.h"

using namespace systole;
using namespace systole::test;

namespace {

/// A row of the table: layers by kind, millions of weights, operations a weight byte, batch.
struct Published {
    const char* name;
    std::int64_t connected, convolutions, vectors, pools;
    double million_weights;
    double intensity;
    std::int64_t batch;
};

constexpr std::array<Published, 6> kTable = {{{"mlp0", 5, 0, 0, 0, 20, 200, 200},
                                              {"mlp1", 4, 0, 0, 0, 5, 168, 168},
                                              {"lstm0", 24, 0, 34, 0, 52, 64, 64},
                                              {"lstm1", 37, 0, 19, 0, 34, 96, 96},
                                              {"cnn0", 0, 16, 0, 0, 8, 2888, 8},
                                              {"cnn1", 4, 72, 0, 13, 100, 1750, 32}}};

template <class Op>
std::int64_t count(const Graph& graph) {
    std::int64_t found = 0;
    for (const Layer& each : graph.layers) found += std::holds_alternative<Op>(each.op);
    return found;
}

std::int64_t weight_bytes(const Graph& graph) {
    std::int64_t bytes = 0;
    for (const Tensor& each : graph.tensors)
        if (each.role == TensorRole::Weights) bytes += elements(each.shape) * bits_of(each.dtype).value() / 8;
    return bytes;
}

}  // namespace

TEST_CASE("the networks of TPU v1 have the layers, weights and intensity of its paper", "[workload]") {
    for (const Published& published : kTable) {
        CAPTURE(published.name);
        const Graph graph = read_trace(std::string("traces/classic/tpu_v1_") + published.name + ".yaml", {});
        CHECK(count<MatMul>(graph) == published.connected);
        CHECK(count<Conv2d>(graph) == published.convolutions);
        CHECK(count<Elementwise>(graph) + count<Activation>(graph) == published.vectors);
        CHECK(count<Pool>(graph) == published.pools);
        CHECK(static_cast<std::int64_t>(graph.layers.size()) ==
              published.connected + published.convolutions + published.vectors + published.pools);
        // The table rounds weights to millions; a multiply-accumulate is one operation in it.
        CHECK(std::abs(static_cast<double>(weight_bytes(graph)) / 1e6 - published.million_weights) < 0.1);
        CHECK(static_cast<double>(total_macs(graph).value()) / static_cast<double>(weight_bytes(graph)) ==
              Approx(published.intensity).epsilon(1e-3));
        for (const Tensor& each : graph.tensors)
            if (each.role != TensorRole::Weights) CHECK(each.shape[0] == published.batch);
    }
}

TEST_CASE("CNN0 of TPU v1 begins and ends as AlphaGo's policy network does", "[workload]") {
    const Graph graph = read_trace("traces/classic/tpu_v1_cnn0.yaml", {});
    CHECK(graph.tensors[graph.inputs.at(0)].shape == Shape{8, 19, 19, 48});  // Silver et al. 2016, methods
    CHECK(graph.tensors[graph.outputs.at(0)].shape == Shape{8, 19, 19, 1});
    const std::int64_t c = 250;  // 9 x 48 c + 14 x 9 c^2 + c = 8 M
    CHECK(weight_bytes(graph) == 9 * 48 * c + 14 * 9 * c * c + c);
    const auto published = [](std::int64_t n) { return 9 * 48 * n + 14 * 9 * n * n + n - 8'000'000; };
    CHECK(std::abs(published(c)) < std::abs(published(c - 1)));
    CHECK(std::abs(published(c)) < std::abs(published(c + 1)));
}

TEST_CASE("the fully connected layers of TPU v1 are as wide as their square says", "[workload]") {
    const auto width = [](const std::string& name) {
        const Graph graph = read_trace("traces/classic/tpu_v1_" + name + ".yaml", {});
        std::int64_t found = 0;
        for (const Layer& each : graph.layers) {
            const auto* matmul = std::get_if<MatMul>(&each.op);
            if (!matmul) continue;
            CHECK(matmul->n == matmul->k);
            found = matmul->n;
        }
        return found;
    };
    CHECK(width("mlp0") == 2000);   // 5 x 2000^2 = 20 M
    CHECK(width("mlp1") == 1118);   // sqrt(1.25 M) = 1118.03
    CHECK(width("lstm0") == 1472);  // sqrt(2.1667 M) = 1471.96
    CHECK(width("lstm1") == 959);   // sqrt(0.9189 M) = 958.6
    CHECK(width("cnn1") == 4716);   // 6 x 6 x 131
}
