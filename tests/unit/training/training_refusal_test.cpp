// SPDX-License-Identifier: Apache-2.0
// What is not trained is refused, in a line at its place.
#include "tests/unit/workload/graphs.h"

#include "sim/workload/training/training_step.h"

using namespace systole;
using namespace systole::test;
using Catch::Contains;

namespace {

std::string refused(const std::string& layers, const std::string& shape = "[8, 4]",
                    const std::string& dtype = "bf16", const std::string& how = "optimizer: adam") {
    return mistakes_of("training: {" + how + "}\n" + trace_of(shape, layers, dtype));
}

const std::string kOut = "  - {name: out, op: matmul, n: 2}\n";

}  // namespace

TEST_CASE("what the key 'training' cannot be is told") {
    CHECK_THAT(refused(kOut, "[8, 4]", "bf16", "optimizer: adan"), Contains("did you mean 'adam'?"));
    CHECK_THAT(refused(kOut, "[8, 4]", "bf16", "gradients: bf16"), Contains("'optimizer'"));
    CHECK_THAT(refused(kOut, "[8, 4]", "bf16", "optimizer: sgd, gradients: int8"),
               Contains("'gradients' must be bf16 or fp32, not int8"));
    CHECK_THAT(refused(kOut, "[8, 4]", "bf16", "optimizer: sgd, data_parallel: 0"),
               Contains("'data_parallel'"));
    CHECK_THAT(refused(kOut, "[8, 4]", "bf16", "optimizer: sgd, data_parallel: 100000"),
               Contains("at most 65536 chips, not 100000"));
    CHECK_THAT(refused(kOut, "[8, 4]", "bf16", "optimizer: sgd, rate: 1"), Contains("'rate'"));
    CHECK_THAT(mistakes_of("training: adam\n" + trace_of("[8, 4]", kOut, "bf16")),
               Contains("'training' must be a map with 'optimizer'"));
    CHECK_THAT(
        mistakes_of("serving: {phase: train, batch: 1, context: 8, data_parallel: 4}\ntraining: {optimizer: "
                    "sgd, data_parallel: 2}\n" +
                    trace_of("[8, 4]", kOut, "bf16")),
        Contains("'serving' has 4 replicas, but 'training' 2"));
}

TEST_CASE("a layer without a gradient is told at its place, once") {
    CHECK(refused("  - {name: one, op: matmul, n: 4}\n  - {name: out, op: reduce, kind: max}\n") ==
          "t:6:5: error: reduce 'out': has no gradient here (the operator is not trained)");
    CHECK(
        refused("  - {name: one, op: conv2d, filters: 4, kernel: 1}\n  - {name: two, op: pool, kind: max, "
                "window: "
                "2}\n  - {name: out, op: conv2d, filters: 1, kernel: 1}\n",
                "[1, 4, 4, 4]") ==
        "t:5:5: error: conv2d 'one': has no gradient here (convolutions are not trained)\n"
        "t:6:5: error: pool 'two': has no gradient here (of pools only averages of whole maps are trained)\n"
        "t:7:5: error: conv2d 'out': has no gradient here (convolutions are not trained)");
    CHECK(refused("  - {name: one, op: matmul, n: 4}\n  - name: b\n    repeat: 3\n    layers:\n"
                  "      - {name: m, op: elementwise, kind: max, in: [block_in, one]}\n" +
                  kOut) == "t:9:9: error: elementwise 'b.0.m': has no gradient here (of kind max)");
    CHECK_THAT(refused("  - {name: one, op: matmul, n: 4, activation: round}\n" + kOut),
               Contains("(rounding has no slope)"));
    CHECK_THAT(refused("  - {name: one, op: matmul, n: 4, out_dtype: fp32}\n" + kOut),
               Contains("matmul 'one': has no gradient here (it reads bf16 and makes fp32)"));
    CHECK_THAT(refused("  - {name: one, op: matmul, n: 4, weight_dtype: int8, scales: channel}\n" + kOut),
               Contains("(only plain floating-point weights are trained)"));
    CHECK_THAT(refused("  - {name: one, op: matmul, n: 8}\n  - {name: c, op: kv_cache, heads: 2, length: 9}\n"
                       "  - {name: out, op: attention, in: [one, c, c], heads: 2}\n",
                       "[1, 4, 4]"),
               Contains("kv_cache 'c': has no gradient here (a cache is for serving"));
    CHECK_THAT(
        refused("  - {name: one, op: matmul, n: 4}\n  - {name: map, op: reshape, shape: [1, 2, 4, 4]}\n"
                "  - {name: out, op: pool, kind: average, window: 2}\n"),
        Contains("pool 'out': has no gradient here (of pools only averages of whole maps are trained)"));
    CHECK_THAT(
        refused(
            "  - {name: one, op: matmul, n: 8}\n  - {name: out, op: attention, in: [one, one, one], heads: "
            "2}\n",
            "[1, 4, 4]"),
        Contains("(keys and values are one tensor)"));
}

TEST_CASE("a loss is made of one output of floating-point numbers that is learnt") {
    const std::string two =
        "training: {optimizer: sgd}\ntrace: t\ninputs: {x: {shape: [8, 4], dtype: bf16}}\nlayers:\n"
        "  - {name: a, op: matmul, n: 4}\n  - {name: b, op: matmul, n: 4}\noutputs: [a, b]\n";
    CHECK(mistakes_of(two) == "t:1:11: error: training: a loss is made of one output, but the network has 2");
    CHECK_THAT(refused(kOut, "[8, 4]", "int8"),
               Contains("a loss is made of floating-point numbers, but 'out' is int8"));
    CHECK_THAT(refused("  - {name: out, op: softmax}\n"), Contains("'out' is not made of stored weights"));
    CHECK_THAT(
        refused("  - {name: one, op: matmul, n: 4}\n  - {name: out, op: top_k, k: 1, result: indices}\n"),
        Contains("'out' is int32"));
    CHECK_THAT(
        mistakes_of(
            "training: {optimizer: sgd}\ntrace: t\ninputs: {x: {shape: [8, 4], dtype: bf16}}\nlayers:\n"
            "  - {name: a, op: matmul, n: 4}\noutputs: [x]\n"),
        Contains("'x' is an input"));
}

TEST_CASE("a replica that nobody reads is no output of a network that is trained") {
    CHECK_THAT(refused("  - {name: one, op: matmul, n: 4}\n  - {name: out, op: collective, kind: replicate, "
                       "chips: 2}\n"),
               Contains("'out' is a replica"));
    // One of another, under another shape, is passed on its way.
    CHECK(refused(
              "  - {name: one, op: matmul, n: 4}\n  - {name: a, op: collective, kind: replicate, chips: 2}\n"
              "  - {name: b, op: reshape, shape: [4, 8]}\n  - {name: c, op: collective, kind: replicate, "
              "chips: 4}\n"
              "  - {name: two, op: softmax}\n  - {name: out, op: elementwise, kind: add, in: [two, b]}\n")
              .empty());
}

TEST_CASE("only repeated blocks are computed again") {
    CHECK_THAT(refused(kOut, "[8, 4]", "bf16", "optimizer: sgd, recompute: blocks"),
               Contains("needs a repeated block"));
    CHECK_THAT(refused(kOut, "[8, 4]", "bf16", "optimizer: sgd, recompute: all"), Contains("'recompute'"));
}

TEST_CASE("chips must divide every gradient") {
    CHECK_THAT(
        refused("  - {name: out, op: matmul, n: 3, bias: true}\n", "[8, 4]", "bf16",
                "optimizer: sgd, data_parallel: 2"),
        Contains("collective 'out.bias_gradient.sum': 2 chips do not divide the 3 elements of the tensor"));
}

TEST_CASE("sizes that no graph may have are refused") {
    // 2^56 weights are stored, but not three numbers for each of them.
    CHECK_THAT(refused("  - {name: out, op: matmul, n: 268435456}\n", "[1, 268435456]"),
               Contains("has more than 2^56 elements") || Contains("2^63"));
    // A state is a row for each number that is kept.
    CHECK_THAT(refused("  - {name: out, op: matmul, n: 65536}\n", "[1, 65536]"),
               Contains("optimizer 'out.weights.update': [3, 4294967296] has a dimension above 2147483647"));
    // The layers themselves fit, those of the step do not.
    CHECK_THAT(
        refused("  - name: b\n    repeat: 260000\n    layers:\n      - {name: m, op: matmul, n: 4}\n" + kOut),
        Contains("more than 1,000,000 layers, with those of training"));
}

TEST_CASE("names that are taken are numbered") {
    Graph network = graph_of(trace_of("[8, 4]", "  - {name: one, op: matmul, n: 4}\n" + kOut, "bf16"));
    network.layers[0].name = "out.input_gradient";
    network.tensors[network.layers[0].output].name = "out.input_gradient";
    const Graph step = training_step(network, {});
    CHECK(layer(step, "out.input_gradient_2").weights == network.layers[1].weights);
    std::vector<std::string> names;
    for (const Tensor& each : step.tensors) names.push_back(each.name);
    std::sort(names.begin(), names.end());
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("layers that share stored numbers are refused") {
    Graph network = graph_of(
        trace_of("[8, 4]", "  - {name: one, op: matmul, n: 4}\n  - {name: out, op: matmul, n: 4}\n", "bf16"));
    network.layers[1].weights = network.layers[0].weights;
    CHECK_THROWS_WITH(training_step(network, {}), Contains("share stored numbers"));
}
