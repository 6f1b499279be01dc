// SPDX-License-Identifier: Apache-2.0
// Which layers a step of training has, in which order, and what they cost.
#include "tests/unit/workload/graphs.h"

#include "sim/workload/shorter_graph.h"
#include "tests/support/seeds.h"

using namespace systole;
using namespace systole::test;

namespace {

/// "NAME op out" of each layer.
std::vector<std::string> listed(const Graph& graph, std::size_t from = 0) {
    std::vector<std::string> lines;
    for (std::size_t i = from; i < graph.layers.size(); ++i) {
        const Layer& layer = graph.layers[i];
        lines.push_back(layer.name + " " + std::string(op_name(layer.op)) + " " +
                        to_string(graph.tensors[layer.output].shape));
    }
    return lines;
}

Graph trained(const std::string& trace, const std::string& how = "optimizer: adam") {
    return graph_of("training: {" + how + "}\n" + trace);
}

std::string perceptron(const std::string& first) {
    return trace_of("[8, 4]",
                    "  - {name: one, op: matmul, n: 6" + first + "}\n  - {name: out, op: matmul, n: 3}\n",
                    "bf16");
}

std::int64_t macs_of(const Graph& graph) {
    return total_macs(graph).value();
}

const RepeatedBlock* block(const Graph& graph, const std::string& name) {
    for (const RepeatedBlock& each : graph.blocks)
        if (each.name == name) return &each;
    return nullptr;
}

std::string deep(int turns) {
    return trace_of(
        "[8, 6]",
        "  - {name: first, op: matmul, n: 6}\n  - name: stack\n    repeat: " + std::to_string(turns) +
            "\n    layers:\n      - {name: norm, op: norm, kind: layer, in: block_in}\n"
            "      - {name: up, op: matmul, n: 10, activation: gelu, bias: true}\n"
            "      - {name: down, op: matmul, n: 6}\n"
            "      - {name: sum, op: elementwise, kind: add, in: [down, block_in]}\n"
            "  - {name: out, op: matmul, n: 3}\n",
        "bf16");
}

}  // namespace

TEST_CASE("a step is the way there, the loss, the way back, and the optimizer") {
    const Graph step = trained(perceptron(", bias: true, activation: relu"));
    CHECK(listed(step) ==
          std::vector<std::string>{"one matmul [8, 6]", "out matmul [8, 3]", "out.loss softmax [8, 3]",
                                   "out.input_gradient matmul [8, 6]", "out.weights_gradient matmul [6, 3]",
                                   "one.activation_gradient elementwise [8, 6]",
                                   "one.weights_gradient matmul [4, 6]", "one.bias_gradient reduce [6]",
                                   "one.weights.update optimizer [3, 24]", "one.bias.update optimizer [3, 6]",
                                   "out.weights.update optimizer [3, 18]"});
    const Layer& back = layer(step, "out.input_gradient");
    CHECK(back.weights == layer(step, "out").weights);
    CHECK(std::get<MatMul>(back.op) == MatMul{1, 8, 6, 3, true, false, true});
    const Layer& weights = layer(step, "one.weights_gradient");
    CHECK(std::get<MatMul>(weights.op) == MatMul{1, 4, 6, 8, false, true, false});
    CHECK(step.tensors[weights.inputs[0]].name == "x");
    CHECK(step.tensors[weights.inputs[1]].name == "one.activation_gradient");
    // Relu tells its slope behind itself.
    const Layer& slope = layer(step, "one.activation_gradient");
    CHECK(std::get<Elementwise>(slope.op).slope == Function::Relu);
    CHECK(slope.inputs[1] == layer(step, "one").output);
    CHECK(tensor(step, "one.weights_gradient").dtype == DType::Bf16);
    CHECK(tensor(step, "one.weights.update").dtype == DType::Fp32);
    CHECK(tensor(step, "one.weights.update").role == TensorRole::OptimizerState);
    CHECK(layer(step, "one.bias.update").weights == layer(step, "one").bias);
    CHECK(step.outputs == std::vector<TensorId>{layer(step, "out").output});
    // Of the products all three times, but for the gradient of the input.
    CHECK(macs_of(step) == 3 * 8 * (4 * 6 + 6 * 3) - 8 * 4 * 6);
}

TEST_CASE("a function whose slope needs what went in becomes a layer") {
    const Graph step = trained(perceptron(", activation: gelu"));
    const std::vector<std::string> all = listed(step);
    REQUIRE(all.size() >= 3);
    CHECK(all[0] == "one matmul [8, 6]");
    CHECK(all[1] == "one.activation activation [8, 6]");
    CHECK(std::get<MatMul>(layer(step, "one").op).post == Function::None);
    CHECK(step.tensors[layer(step, "out").inputs[0]].name == "one.activation");
    const Layer& slope = layer(step, "one.activation.input_gradient");
    CHECK(std::get<Elementwise>(slope.op).slope == Function::Gelu);
    CHECK(slope.inputs[1] == layer(step, "one").output);
}

TEST_CASE("replicas sum each gradient right behind it") {
    const Graph step =
        trained(perceptron(", bias: true"), "optimizer: momentum, gradients: fp32, data_parallel: 2");
    CHECK(listed(step, 2) ==
          std::vector<std::string>{
              "out.loss softmax [8, 3]", "out.input_gradient matmul [8, 6]",
              "out.weights_gradient matmul [6, 3]", "out.weights_gradient.sum collective [6, 3]",
              "one.weights_gradient matmul [4, 6]", "one.weights_gradient.sum collective [4, 6]",
              "one.bias_gradient reduce [6]", "one.bias_gradient.sum collective [6]",
              "one.weights.update optimizer [2, 24]", "one.bias.update optimizer [2, 6]",
              "out.weights.update optimizer [2, 18]"});
    CHECK(std::get<Collective>(layer(step, "one.weights_gradient.sum").op) ==
          Collective{Collective::Kind::AllReduce, 2, 1, 24});
    CHECK(tensor(step, "one.weights_gradient").dtype == DType::Fp32);
    CHECK(tensor(step, "one.weights_gradient.sum").dtype == DType::Fp32);
    CHECK(tensor(step, "out.input_gradient").dtype == DType::Bf16);
    CHECK(layer(step, "one.weights.update").inputs ==
          std::vector{layer(step, "one.weights_gradient.sum").output});
    CHECK(std::get<Optimizer>(layer(step, "one.weights.update").op) ==
          Optimizer{Optimizer::Kind::Momentum, 24});
}

TEST_CASE("attention makes its shares again, and three gradients") {
    const Graph step =
        trained(trace_of("[2, 5, 6]",
                         "  - {name: q, op: matmul, n: 4 * 3, in: x}\n"
                         "  - {name: k, op: matmul, n: 2 * 3, in: x}\n"
                         "  - {name: v, op: matmul, n: 2 * 7, in: x}\n"
                         "  - {name: out, op: attention, in: [q, k, v], heads: 4, kv_heads: 2, "
                         "value_dim: 7, causal: true}\n",
                         "bf16"));
    CHECK(listed(step, 4) ==
          std::vector<std::string>{
              "out.loss softmax [2, 5, 28]", "out.scores attention_scores [2, 2, 5, 2, 5]",
              "out.shares softmax [2, 2, 5, 2, 5]", "out.value_gradient attention_keys [2, 5, 14]",
              "out.shares_gradient attention_scores [2, 2, 5, 2, 5]",
              "out.scores_gradient softmax_gradient [2, 2, 5, 2, 5]",
              "out.query_gradient attention_context [2, 5, 12]", "out.key_gradient attention_keys [2, 5, 6]",
              "v.weights_gradient matmul [6, 14]", "k.weights_gradient matmul [6, 6]",
              "q.weights_gradient matmul [6, 12]", "q.weights.update optimizer [3, 72]",
              "k.weights.update optimizer [3, 36]", "v.weights.update optimizer [3, 84]"});
    // 15 pairs of a query and a key see each other, of 4 heads of 2 items. There: 3 + 7 products each; back:
    // the scores again (3), gradients of values and shares (7 each), of queries and keys (3 each).
    CHECK(macs_of(step) == 120 * (10 + 3 + 14 + 6) + 2 * 10 * 6 * (12 + 6 + 14));
}

TEST_CASE("what several layers read has the sum of what comes back") {
    const Graph step = trained(deep(2));
    const Layer& sum = layer(step, "stack.0.sum.gradient");
    CHECK(std::get<Elementwise>(sum.op) == Elementwise{Elementwise::Kind::Add, 48});
    // The gradient of the stream goes by, and comes out of the norm.
    CHECK(step.tensors[sum.inputs[0]].name == "out.input_gradient");
    CHECK(step.tensors[sum.inputs[1]].name == "stack.1.norm.input_gradient");
    const Layer& norm = layer(step, "stack.1.norm.input_gradient");
    CHECK(std::get<Norm>(norm.op) == Norm{Norm::Kind::Layer, 8, 6, true});
    CHECK(norm.weights == layer(step, "stack.1.norm").weights);
    CHECK(norm.inputs[1] == layer(step, "stack.0.sum").output);
    const Layer& gains = layer(step, "stack.1.norm.weights_gradient");
    CHECK(std::get<Reduce>(gains.op) == Reduce{Reduce::Kind::Sum, 8, 6, true});
    CHECK(gains.inputs.size() == 2);
    CHECK(layer(step, "stack.1.norm.bias_gradient").inputs.size() == 1);
    // No layer of the way back makes a gradient of the network's input.
    for (const Layer& each : step.layers) CHECK(each.name != "first.input_gradient");
}

TEST_CASE("turns of the way back and of the optimizer are blocks, and none is left out") {
    const Graph step = trained(deep(5));
    const RepeatedBlock *there = block(step, "stack"), *back = block(step, "stack.backward"),
                        *update = block(step, "stack.update");
    REQUIRE(there);
    REQUIRE(back);
    REQUIRE(update);
    CHECK(there->layers == 5);   // with up.activation
    CHECK(back->layers == 10);   // products 5, gelu, norm 3, sum
    CHECK(update->layers == 5);  // norm 2, up 2, down
    CHECK(back->turns == 5);
    CHECK(step.layers[back->first_layer].name == "stack.4.down.input_gradient");
    CHECK(step.layers[back->first_layer + 5 * back->layers].name == "first.weights_gradient");
    CHECK(step.layers[update->first_layer].name == "stack.0.norm.weights.update");
    for (const RepeatedBlock* each : {there, back, update}) {
        CHECK_FALSE(turns_alike(step, *each));
        for (std::size_t i = 0; i < each->layers; ++i)
            for (std::size_t turn = 1; turn < each->turns; ++turn)
                CHECK(step.layers[each->first_layer + i].op ==
                      step.layers[each->first_layer + turn * each->layers + i].op);
    }
    const Graph network = graph_of(deep(5));
    CHECK(turns_alike(network, *block(network, "stack")));
}

TEST_CASE("of turns that are computed again only what enters them is kept") {
    const Graph step = trained(deep(2), "optimizer: sgd, recompute: blocks");
    const RepeatedBlock* back = block(step, "stack.backward");
    REQUIRE(back);
    const std::vector<std::string> all = listed(step, back->first_layer);
    const std::vector<std::string> turn(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(back->layers));
    // Gradients of weights read what went into the products; nobody reads the sum again, nor what `down`
    // made.
    CHECK(turn == std::vector<std::string>{
                      "stack.1.down.input_gradient matmul [8, 10]", "stack.1.again.norm norm [8, 6]",
                      "stack.1.again.up matmul [8, 10]", "stack.1.again.up.activation activation [8, 10]",
                      "stack.1.down.weights_gradient matmul [10, 6]",
                      "stack.1.up.activation.input_gradient elementwise [8, 10]",
                      "stack.1.up.input_gradient matmul [8, 6]", "stack.1.up.weights_gradient matmul [6, 10]",
                      "stack.1.up.bias_gradient reduce [10]",
                      "stack.1.norm.input_gradient norm_gradient [8, 6]",
                      "stack.0.sum.gradient elementwise [8, 6]", "stack.1.norm.weights_gradient reduce [6]",
                      "stack.1.norm.bias_gradient reduce [6]"});
    CHECK(layer(step, "stack.1.again.up").weights == layer(step, "stack.1.up").weights);
    CHECK(layer(step, "stack.1.again.up").bias == layer(step, "stack.1.up").bias);
    CHECK(layer(step, "stack.1.again.norm").inputs[0] == layer(step, "stack.0.sum").output);
    // Of the way there, nobody behind the loss reads what a turn made but its end.
    std::size_t i = 0;
    while (step.layers[i].name != "out.loss") ++i;
    for (; i < step.layers.size(); ++i)
        for (const TensorId input : step.layers[i].inputs) {
            const std::string& name = step.tensors[input].name;
            CAPTURE(step.layers[i].name, name);
            CHECK_FALSE((name == "stack.0.norm" || name == "stack.1.up" || name == "stack.0.up.activation" ||
                         name == "stack.1.down"));
        }
}

TEST_CASE("layers beside the way to weights have no gradients") {
    // x itself is not learnt; of a constant factor only the other factor's gradient is made.
    const Graph step = trained(trace_of("[8, 4]",
                                        "  - {name: fixed, op: activation, function: round}\n"
                                        "  - {name: one, op: matmul, n: 4, in: x}\n"
                                        "  - {name: out, op: elementwise, kind: mul, in: [one, fixed]}\n",
                                        "bf16"));
    CHECK(listed(step, 3) == std::vector<std::string>{"out.loss softmax [8, 4]",
                                                      "out.input_gradient elementwise [8, 4]",
                                                      "one.weights_gradient matmul [4, 4]",
                                                      "one.weights.update optimizer [3, 16]"});
}

TEST_CASE("gradients of a replica are summed over its chips, and nothing else is done for it") {
    const std::string layers =
        "  - {name: one, op: matmul, n: 6}\n  - {name: all, op: collective, kind: replicate, chips: 4}\n"
        "  - {name: rows, op: reshape, shape: [2, 4, 6]}\n"
        "  - {name: a, op: matmul, n: 5, in: all}\n  - {name: b, op: matmul, n: 5, in: rows}\n"
        "  - {name: flat, op: reshape, shape: [8, 5]}\n"
        "  - {name: sum, op: elementwise, kind: add, in: [a, flat]}\n"
        "  - {name: out, op: collective, kind: all_reduce, chips: 4}\n";
    const Graph network = graph_of(trace_of("[8, 4]", layers, "bf16"));
    CHECK(listed(network) == std::vector<std::string>{"one matmul [8, 6]", "a matmul [8, 5]",
                                                      "b matmul [2, 4, 5]", "sum elementwise [8, 5]",
                                                      "out collective [8, 5]"});
    const Graph step = trained(trace_of("[8, 4]", layers, "bf16"));
    CHECK(listed(step, 5) == std::vector<std::string>{
                                 "out.loss softmax [8, 5]", "b.input_gradient matmul [2, 4, 6]",
                                 "b.weights_gradient matmul [6, 5]", "a.input_gradient matmul [8, 6]",
                                 "all.gradient elementwise [8, 6]", "a.weights_gradient matmul [6, 5]",
                                 "all.gradient_sum collective [8, 6]", "one.weights_gradient matmul [4, 6]",
                                 "one.weights.update optimizer [3, 24]", "a.weights.update optimizer [3, 30]",
                                 "b.weights.update optimizer [3, 30]"});
    CHECK(std::get<Collective>(layer(step, "all.gradient_sum").op) ==
          Collective{Collective::Kind::AllReduce, 4, 1, 48});
}

TEST_CASE("a replica of a replica is summed first") {
    const Graph step = trained(trace_of("[8, 4]",
                                        "  - {name: one, op: matmul, n: 4}\n"
                                        "  - {name: a, op: collective, kind: replicate, chips: 2}\n"
                                        "  - {name: b, op: reshape, shape: [4, 8]}\n"
                                        "  - {name: c, op: collective, kind: replicate, chips: 4}\n"
                                        "  - {name: two, op: softmax}\n"
                                        "  - {name: out, op: elementwise, kind: add, in: [two, b]}\n",
                                        "bf16"));
    CHECK(listed(step, 3) ==
          std::vector<std::string>{"out.loss softmax [4, 8]", "two.input_gradient softmax_gradient [4, 8]",
                                   "c.gradient_sum collective [4, 8]", "a.gradient elementwise [8, 4]",
                                   "a.gradient_sum collective [8, 4]", "one.weights_gradient matmul [4, 4]",
                                   "one.weights.update optimizer [3, 16]"});
    CHECK(std::get<Collective>(layer(step, "c.gradient_sum").op).chips == 4);
    CHECK(std::get<Collective>(layer(step, "a.gradient_sum").op).chips == 2);
}

TEST_CASE("gradients of what chips gather and scatter go the other way") {
    const Graph step = trained(trace_of("[8, 4]",
                                        "  - {name: one, op: matmul, n: 6}\n"
                                        "  - {name: all, op: collective, kind: all_gather, chips: 2}\n"
                                        "  - {name: part, op: collective, kind: reduce_scatter, chips: 4}\n"
                                        "  - {name: out, op: collective, kind: all_to_all, chips: 3}\n",
                                        "bf16"));
    CHECK(listed(step, 4) ==
          std::vector<std::string>{"out.loss softmax [8, 3]", "out.input_gradient collective [8, 3]",
                                   "part.input_gradient collective [8, 12]",
                                   "all.input_gradient slice [8, 6]", "one.weights_gradient matmul [4, 6]",
                                   "one.weights.update optimizer [3, 24]"});
    CHECK(std::get<Collective>(layer(step, "part.input_gradient").op) ==
          Collective{Collective::Kind::AllGather, 4, 8, 3});
    CHECK(std::get<Slice>(layer(step, "all.input_gradient").op) == Slice{8, 1, 12, 0, 6});
}

TEST_CASE("the reader takes what training needs, and parameters in it") {
    const Graph step = graph_of(
        "params: {chips: 2, how: fp32}\ntraining: {optimizer: sgd, gradients: how, "
        "data_parallel: chips * 3}\n" +
        perceptron(""));
    REQUIRE(step.training.has_value());
    CHECK(step.training->optimizer == Optimizer::Kind::Sgd);
    CHECK(step.training->gradients == DType::Fp32);
    CHECK(step.training->data_parallel == 6);
    CHECK(tensor(step, "one.weights.update").shape == Shape{1, 24});
    CHECK_FALSE(graph_of(perceptron("")).training.has_value());
}

TEST_CASE("a network of very many layers becomes a step in time that grows with them") {
    const std::uint64_t turns = enough(50'000);
    const Graph step = trained(
        trace_of("[2, 2]",
                 "  - {name: first, op: matmul, n: 2}\n  - name: b\n    repeat: " + std::to_string(turns) +
                     "\n    layers:\n      - {name: m, op: matmul, n: 2}\n      - {name: s, op: "
                     "elementwise, kind: add, in: [m, first]}\n  - {name: out, op: matmul, n: 2}\n",
                 "bf16"));
    // Of each turn two layers, three gradients (one of them a sum into that of `first`), and an update; of
    // the two others two gradients less one, and an update each. The first reader of a tensor sums nothing.
    CHECK(step.layers.size() == turns * 6 - 1 + 2 + 1 + 3 + 2 + 1);
}
