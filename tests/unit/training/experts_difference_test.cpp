// SPDX-License-Identifier: Apache-2.0
// Gradients of experts, of latents and of what moves numbers for them, held to finite differences. Which
// tokens an expert gets is held: a small change of a weight changes no choice.
#include <random>

#include "differences.h"
#include "tests/unit/workload/graphs.h"

using namespace systole;
using namespace systole::test;

namespace {

std::string trace(const std::string& shape, const std::string& layers) {
    return trace_of(shape, layers, "fp32");
}

std::string number(std::int64_t value) {
    return std::to_string(value);
}

/// A router and experts as importers write them; reads "x" or what `in` says, of `tokens` rows of `hidden`.
struct Experts {
    std::int64_t tokens, hidden, experts, chosen, met, rows_each;
    bool bias, sigmoid, shared;

    std::string layers(const std::string& in) const {
        const std::string scores = sigmoid ? "router" : "scores";
        std::string text = "  - {name: router, op: matmul, in: " + in + ", n: " + number(experts) +
                           (sigmoid ? ", activation: sigmoid}\n" : "}\n  - {name: scores, op: softmax}\n") +
                           "  - {name: best, op: top_k, in: " + scores + ", k: " + number(chosen) + "}\n" +
                           (shared ? ""
                                   : "  - {name: experts, op: top_k, in: " + scores +
                                         ", k: " + number(chosen) + ", result: indices}\n") +
                           "  - {name: by_expert, op: transpose, in: " + scores + ", permutation: [1, 0]}\n" +
                           "  - {name: first, op: slice, axis: 0, size: " + number(met) + "}\n" +
                           "  - {name: tokens_met, op: top_k, k: " + number(rows_each) +
                           ", result: indices}\n" + "  - {name: rows, op: gather, in: [" + in +
                           ", tokens_met]}\n";
        if (shared)  // chosen behind their use: the way back then finds them all the same
            text += "  - {name: experts, op: top_k, in: " + scores + ", k: " + number(chosen) +
                    ", result: indices}\n";
        const std::string each = ", experts: " + number(experts) + (bias ? ", bias: true" : "");
        text += "  - {name: gate, op: matmul, in: rows, n: 3, activation: silu" + each + "}\n" +
                "  - {name: up, op: matmul, in: rows, n: 3" + each + "}\n" +
                "  - {name: gated, op: elementwise, kind: mul, in: [gate, up]}\n" +
                "  - {name: down, op: matmul, n: " + number(hidden) + each + "}\n" +
                "  - {name: flat, op: reshape, shape: [" + number(met * rows_each) + ", " + number(hidden) +
                "]}\n  - {name: made, op: gather, in: [flat, experts]}\n" +
                "  - {name: weights, op: reshape, in: best, shape: [" + number(tokens) + ", " +
                number(chosen) + ", 1]}\n" +
                "  - {name: weighed, op: elementwise, kind: mul, in: [made, weights]}\n" +
                "  - {name: map, op: reshape, shape: [" + number(tokens) + ", " + number(chosen) + ", 1, " +
                number(hidden) + "]}\n  - {name: summed, op: pool, kind: average, global: true}\n" +
                "  - {name: sum, op: reshape, shape: [" + number(tokens) + ", " + number(hidden) + "]}\n";
        return text;
    }
    std::size_t updates() const { return 1 + (bias ? 6 : 3); }
};

/// Latents as importers write them for training, of [2, 3, 6].
std::string latents(std::int64_t heads, std::int64_t rank) {
    const std::string h = number(heads);
    std::string copies = "key_turned";
    for (std::int64_t i = 1; i < heads; ++i) copies += ", key_turned";
    return "  - {name: query, op: matmul, in: start, n: " + h + " * 5}\n" +
           "  - {name: query_heads, op: reshape, shape: [2, 3, " + h + ", 5]}\n" +
           "  - {name: query_plain, op: slice, in: query_heads, size: 3}\n" +
           "  - {name: query_rest, op: slice, in: query_heads, begin: 3, size: 2}\n" +
           "  - {name: query_turned, op: rotary, axis: 1}\n" +
           "  - {name: all, op: matmul, in: start, n: " + number(rank + 2) + "}\n" +
           "  - {name: part, op: slice, in: all, size: " + number(rank) + "}\n" +
           "  - {name: latents, op: norm, kind: rms}\n" +
           "  - {name: key_part, op: slice, in: all, begin: " + number(rank) + ", size: 2}\n" +
           "  - {name: key_heads, op: reshape, shape: [2, 3, 1, 2]}\n" +
           "  - {name: key_turned, op: rotary, axis: 1}\n" +
           "  - {name: expanded, op: matmul, in: latents, n: " + h + " * 7}\n" +
           "  - {name: heads, op: reshape, shape: [2, 3, " + h + ", 7]}\n" +
           "  - {name: key_plain, op: slice, in: heads, size: 3}\n" +
           "  - {name: values, op: slice, in: heads, begin: 3, size: 4}\n" +
           (heads > 1 ? "  - {name: copies, op: concat, in: [" + copies + "], axis: 2}\n" : "") +
           "  - {name: key, op: concat, in: [key_plain, " + (heads > 1 ? "copies" : "key_turned") + "]}\n" +
           "  - {name: query_all, op: concat, in: [query_plain, query_turned]}\n" +
           "  - {name: context, op: attention, in: [query_all, key, values], heads: " + h +
           ", value_dim: 4, causal: true}\n" + "  - {name: rows, op: reshape, shape: [2, 3, " + h +
           " * 4]}\n";
}

}  // namespace

TEST_CASE("gradients of random experts are those of the loss") {
    const unsigned seed = GENERATE(range(1U, 41U));
    CAPTURE(seed);
    std::mt19937 dice(seed);
    const auto pick = [&](std::int64_t least, std::int64_t most) {
        return least + static_cast<std::int64_t>(dice() % static_cast<unsigned>(most - least + 1));
    };
    Experts e{};
    e.tokens = pick(2, 6), e.hidden = pick(2, 4), e.experts = pick(2, 5);
    e.chosen = pick(1, e.experts), e.met = pick(1, e.experts);
    e.rows_each = pick((e.experts + e.met - 1) / e.met, std::max<std::int64_t>(e.tokens, e.experts));
    e.tokens = std::max(e.tokens, e.rows_each);
    e.bias = dice() % 2 == 0, e.sigmoid = dice() % 2 == 0, e.shared = dice() % 2 == 0;
    expect_gradients(
        trace("[" + number(e.tokens) + ", 3]",
              "  - {name: start, op: matmul, n: " + number(e.hidden) + "}\n" + e.layers("start") +
                  "  - {name: stream, op: elementwise, kind: add, in: [sum, start]}\n"
                  "  - {name: out, op: matmul, n: 4}\n"),
        2 + e.updates());
}

TEST_CASE("gradients of the greatest are those of the loss where no layer tells where they stood") {
    expect_gradients(trace("[5, 4]",
                           "  - {name: one, op: matmul, n: 7}\n  - {name: best, op: top_k, k: 3}\n"
                           "  - {name: out, op: matmul, n: 4}\n"),
                     2);
}

TEST_CASE("gradients of latents are those of the loss") {
    const std::int64_t heads = GENERATE(1, 2, 3), rank = GENERATE(1, 4);
    expect_gradients(trace("[2, 3, 6]", "  - {name: start, op: matmul, n: 5}\n" + latents(heads, rank) +
                                            "  - {name: out, op: matmul, n: 4}\n"),
                     6);
}

TEST_CASE("gradients of slices are those of the loss, however they lie") {
    // All of it, with a gap, one over the other, one of them twice, and with somebody who reads all.
    const std::string slices = GENERATE(as<std::string>{}, "0 2, 2 4", "2 4, 0 2", "0 2, 2 1, 3 3",
                                        "0 2, 3 3", "1 2, 4 1", "0 4, 2 4", "0 3, 0 3, 3 3", "0 6", "2 3");
    const bool whole = GENERATE(false, true);
    const std::string axis = GENERATE(as<std::string>{}, "0", "1", "2");
    std::string text = "  - {name: one, op: matmul, n: 6}\n  - {name: cube, op: transpose, permutation: " +
                       std::string(axis == "0"   ? "[2, 0, 1]"
                                   : axis == "1" ? "[0, 2, 1]"
                                                 : "[0, 1, 2]") +
                       "}\n";
    std::string names;
    std::size_t at = 0, count = 0;
    while (at < slices.size()) {
        const std::string name = "part" + std::to_string(count++);
        text += "  - {name: " + name + ", op: slice, in: cube, axis: " + axis + ", begin: " + slices[at] +
                ", size: " + slices[at + 2] + "}\n";
        text += "  - {name: " + name + "_f, op: activation, function: tanh}\n";
        names += (names.empty() ? "" : ", ") + name + "_f";
        at += 5;
    }
    if (whole) names += ", cube";
    if (whole || count > 1) text += "  - {name: all, op: concat, in: [" + names + "], axis: " + axis + "}\n";
    expect_gradients(trace("[2, 3, 4]", text + "  - {name: out, op: matmul, n: 3}\n"), 2);
}

TEST_CASE("gradients of operands that lack dimensions in the middle are those of the loss") {
    const std::string kind = GENERATE(as<std::string>{}, "add", "sub", "mul");
    const std::string shape = GENERATE(as<std::string>{}, "[2, 1, 4]", "[2, 3, 1]", "[2, 1, 1]");
    const std::string width = shape == "[2, 1, 4]" ? "4" : shape == "[2, 3, 1]" ? "3" : "1";
    expect_gradients(
        trace("[2, 3, 4]",
              "  - {name: one, op: matmul, in: x, n: 4}\n  - {name: two, op: matmul, in: y, n: " + width +
                  "}\n  - {name: small, op: reshape, shape: " + shape +
                  "}\n  - {name: both, op: elementwise, kind: " + kind +
                  ", in: [one, small]}\n  - {name: out, op: matmul, n: 3}\n")
            .replace(std::string("trace: t\ninputs: {").size(), 0, "y: {shape: [2, 3], dtype: fp32}, "),
        3);
}

TEST_CASE("gradients of copies and averages are those of the loss") {
    const std::string axis = GENERATE(as<std::string>{}, "0", "1", "2");
    expect_gradients(trace("[2, 3, 4]",
                           "  - {name: one, op: matmul, n: 5}\n"
                           "  - {name: copies, op: concat, in: [one, one, one], axis: " +
                               axis +
                               "}\n  - {name: two, op: matmul, n: 6}\n"
                               "  - {name: f, op: activation, function: tanh}\n"
                               "  - {name: map, op: reshape, shape: [" +
                               (axis == "0"   ? "6, 3, 1, 6"
                                : axis == "1" ? "2, 3, 3, 6"
                                              : "2, 3, 1, 6") +
                               "]}\n  - {name: mean, op: pool, kind: average, global: true}\n"
                               "  - {name: out, op: matmul, n: 3}\n"),
                     3);
}

TEST_CASE("gradients of experts whose turns are computed again are those of the loss") {
    const std::string recompute = GENERATE(as<std::string>{}, "none", "blocks");
    const Experts e{4, 3, 3, 2, 3, 3, false, false, false};
    std::string block;
    for (std::string text = e.layers("block_in"); !text.empty();) {
        const std::size_t end = text.find('\n') + 1;
        block += "    " + text.substr(0, end);
        text = text.substr(end);
    }
    expect_gradients(
        trace("[4, 3]", "  - {name: start, op: matmul, n: 3}\n  - name: block\n    repeat: 2\n    layers:\n" +
                            block +
                            "      - {name: stream, op: elementwise, kind: add, in: [sum, block_in]}\n"
                            "  - {name: out, op: matmul, n: 4}\n"),
        2 + 2 * e.updates(), ", recompute: " + recompute);
}
