// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/network/products.h"

#include <catch2/catch.hpp>

#include "networks.h"
#include "sim/workload/importers/network/vectors.h"

using namespace systole;
using namespace systole::test;

namespace {

/// Layers and multiply-accumulates of one product.
std::pair<std::string, std::int64_t> product_of(const Shape& a, const Shape& b, bool stored_a,
                                                bool stored_b) {
    Network network;
    const Value x = stored_a ? network.stored("x", a, kF) : network.input("x", a, kF);
    const Value y = stored_b ? network.stored("y", b, kF) : network.input("y", b, kF);
    network.output(matmul(network, "out", x, y));
    const Graph graph = graph_of(network);
    return {layers_of(graph), total_macs(graph).value()};
}

}  // namespace

TEST_CASE("a stored operand is the weights of a matmul, on whichever side it stands") {
    CHECK(product_of({4, 5}, {5, 6}, false, true) == std::pair(std::string("matmul"), std::int64_t{120}));
    CHECK(product_of({2, 3, 4, 5}, {5, 6}, false, true) ==
          std::pair(std::string("matmul"), std::int64_t{720}));
    CHECK(product_of({1, 1, 5}, {1, 5, 6}, false, true) ==
          std::pair(std::string("matmul"), std::int64_t{30}));
    // The result is what the array makes, turned.
    CHECK(product_of({4, 5}, {5, 6}, true, false) ==
          std::pair(std::string("transpose matmul transpose"), std::int64_t{120}));
    CHECK(product_of({5}, {5, 6}, false, true).second == 30);
    CHECK(product_of({4, 5}, {5}, false, true).second == 20);
}

TEST_CASE("dimensions that only one operand has are rows of the other's product") {
    CHECK(product_of({3, 4, 5}, {3, 5, 6}, false, false) ==
          std::pair(std::string("matmul"), std::int64_t{360}));
    CHECK(product_of({3, 4, 5}, {5, 6}, false, false) == std::pair(std::string("matmul"), std::int64_t{360}));
    CHECK(product_of({2, 3, 4, 5}, {2, 1, 5, 6}, false, false) ==
          std::pair(std::string("matmul"), std::int64_t{720}));
    CHECK(product_of({4, 5}, {3, 5, 6}, false, false).second == 360);
    Network network;
    const Value out =
        matmul(network, "out", network.input("x", {1, 3, 4, 5}, kF), network.input("y", {2, 1, 5, 6}, kF));
    CHECK(network.shape(out) == Shape{2, 3, 4, 6});
    CHECK_THROWS_AS(
        matmul(network, "o", network.input("a", {2, 4, 5}, kF), network.input("b", {3, 5, 6}, kF)),
        Unsayable);
    CHECK_THROWS_AS(matmul(network, "o", network.input("a", {4, 5}, kF), network.input("b", {4, 6}, kF)),
                    Unsayable);
}

TEST_CASE("attention as exporters write it is the native trace's, keys turned once") {
    Network network;
    const Value x = network.input("x", {1, 128, 768}, kF);
    const auto heads = [&](const char* name) {
        const Value all = matmul(network, name, x, network.stored("w", {768, 768}, kF));
        return network.reshape(all, {1, 128, 12, 64});
    };
    const Value q = network.transpose(heads("q"), {0, 2, 1, 3}),
                k = network.transpose(heads("k"), {0, 2, 3, 1}),
                v = network.transpose(heads("v"), {0, 2, 1, 3});
    const Value shares = softmax(network, "shares", matmul(network, "scores", q, k), {3});
    const Value context = network.transpose(matmul(network, "context", shares, v), {0, 2, 1, 3});
    const Value joined = network.reshape(context, {1, 128, 768});
    network.output(matmul(network, "out", joined, network.stored("w", {768, 768}, kF)));
    const Graph graph = graph_of(network);
    CHECK(layers_of(graph) ==
          "matmul matmul matmul transpose transpose matmul softmax transpose matmul transpose matmul");
    CHECK(total_macs(graph).value() == 4 * 128 * 768 * 768 + 2 * 12 * 128 * 128 * 64);
    const auto& scores = std::get<MatMul>(layer(graph, "scores").op);
    CHECK(
        (scores.batch == 12 && scores.m == 128 && scores.n == 128 && scores.k == 64 && scores.transposed_b));
    CHECK(out_shape(graph) == Shape{128, 768});
}

TEST_CASE("a bias and a function join the product before them, if nobody else reads it") {
    for (const bool twice : {false, true}) {
        Network network;
        const Value product =
            matmul(network, "product", network.input("x", {4, 5}, kF), network.stored("w", {5, 6}, kF));
        const Value biased = elementwise(network, "bias", "add", product, network.stored("b", {6}, kF));
        network.output(apply(network, "act", "gelu", biased));
        if (twice) network.output(product);
        const Graph graph = graph_of(network);
        CHECK(layers_of(graph) == (twice ? "matmul add" : "matmul"));
        const auto& op = std::get<MatMul>(layer(graph, "product").op);
        CHECK(op.bias == !twice);
        CHECK(op.post == (twice ? Function::None : Function::Gelu));
        if (twice) CHECK(std::get<Elementwise>(layer(graph, "bias").op).post == Function::Gelu);
    }
}

TEST_CASE("contractions of any dimensions count each product once") {
    Network network;
    const Value a = network.input("a", {2, 3, 4, 5}, kF), b = network.input("b", {5, 7, 2, 3}, kF);
    // over dimensions 1 and 3 of a; 0 is the batch
    const Value out = contract(network, "out", a, b, {{0}, {2}, {1, 3}, {3, 0}});
    CHECK(network.shape(out) == Shape{2, 4, 7});
    network.output(out);
    CHECK(total_macs(graph_of(network)).value() == 2 * 4 * 7 * 15);
}
