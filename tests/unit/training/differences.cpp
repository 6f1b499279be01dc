// SPDX-License-Identifier: Apache-2.0
#include "differences.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "interpreter.h"
#include "tests/unit/workload/graphs.h"

namespace systole::test {
namespace {

/// Random numbers for the inputs and stored tensors of a network, by name. Gains are one and shifts zero, as
/// when training begins.
std::map<std::string, Numbers> random_numbers(const Graph& graph, std::mt19937& random) {
    std::map<std::string, Numbers> all;
    std::uniform_real_distribution<double> some(-1, 1);
    const auto fill = [&](TensorId id, double constant) {
        Numbers& numbers = all[graph.tensors[id].name];
        for (std::int64_t i = 0; i < elements(graph.tensors[id].shape); ++i)
            numbers.push_back(std::isnan(constant) ? some(random) : constant);
    };
    for (const TensorId input : graph.inputs) {
        fill(input, NAN);
        if (graph.tensors[input].dtype != DType::Int32) continue;
        for (double& index : all[graph.tensors[input].name]) index = std::floor((index + 1) * 2.5);
    }
    for (const Layer& layer : graph.layers) {
        const bool norm = std::holds_alternative<Norm>(layer.op);
        if (layer.weights) fill(*layer.weights, norm ? 1 : NAN);
        if (layer.bias) fill(*layer.bias, norm ? 0 : NAN);
    }
    return all;
}

std::vector<Numbers> values(const Graph& graph, const std::map<std::string, Numbers>& named) {
    std::vector<Numbers> given(graph.tensors.size());
    for (TensorId id = 0; id < graph.tensors.size(); ++id)
        if (const auto found = named.find(graph.tensors[id].name);
            found != named.end() && graph.tensors[id].role != TensorRole::Activation)
            given[id] = found->second;
    return interpret(graph, std::move(given));
}

double loss(const Graph& graph, const std::map<std::string, Numbers>& named) {
    const auto& shape = graph.tensors[graph.outputs[0]].shape;
    const auto all = values(graph, named);
    const Numbers& out = all[graph.tensors[graph.outputs[0]].view_of.value_or(graph.outputs[0])];
    const auto cols = static_cast<std::size_t>(shape.back());
    double sum = 0;
    for (std::size_t row = 0; row < out.size(); row += cols) {
        double exponentials = 0;
        for (std::size_t c = 0; c < cols; ++c) exponentials += std::exp(out[row + c]);
        sum += std::log(exponentials);
    }
    return sum;
}

}  // namespace

void expect_gradients(const std::string& trace, std::size_t updates, const std::string& more) {
    const unsigned seed = 7;
    std::mt19937 random(seed);
    CAPTURE(seed, trace);
    const Graph network = graph_of(trace);
    const Graph step = graph_of("training: {optimizer: adam" + more + "}\n" + trace);
    std::map<std::string, Numbers> named = random_numbers(network, random);
    const std::vector<Numbers> made = values(step, named);
    std::size_t met = 0;
    for (const Layer& layer : step.layers) {
        if (!std::holds_alternative<Optimizer>(layer.op)) continue;
        ++met;
        const std::string& stored = step.tensors[*layer.weights].name;
        const TensorId gradient = layer.inputs[0];
        const Numbers& computed = made[step.tensors[gradient].view_of.value_or(gradient)];
        Numbers& numbers = named.at(stored);
        REQUIRE(computed.size() == numbers.size());
        double most = 0;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const double own = numbers[i], h = 1e-4;
            numbers[i] = own + h;
            const double above = loss(network, named);
            numbers[i] = own - h;
            const double below = loss(network, named);
            numbers[i] = own;
            CAPTURE(stored, i);
            CHECK(computed[i] == Approx((above - below) / (2 * h)).epsilon(1e-5).margin(1e-6));
            most = std::max(most, std::abs(computed[i]));
        }
        CAPTURE(stored);
        CHECK(most > 0);
    }
    CHECK(met == updates);
}

}  // namespace systole::test
